"""A registry as Prometheus reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import Metric
from prometheus_client.exposition import choose_encoder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client import CollectorRegistry


def exposition(registry: CollectorRegistry, accept: str = "") -> tuple[bytes, str]:
    """All metrics as bytes, and their media type: what the ``Accept`` header prefers of Prometheus' forms."""
    encode, media_type = choose_encoder(accept)
    return encode(_WithoutCreated(registry)), media_type


class _WithoutCreated:
    """A registry without the times at which series were created: a fifth of all lines, which nobody asks for.

    The client library can leave them out only for the whole process, which may have metrics that are not ours.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        """The families of the registry."""
        for family in self._registry.collect():
            kept = Metric(family.name, family.documentation, family.type, family.unit)
            kept.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield kept
