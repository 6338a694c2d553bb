"""Interface for observers of the scheduler; :class:`yuliu.metrics.metrics.Metrics` implements it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from yuliu.types import StreamClass


class Observer(Protocol):
    """Receives facts as they happen, on any thread, some under the scheduler's lock: it must be quick."""

    def admission(
        self, stream_class: StreamClass, decision: Literal["admitted", "queued", "rejected"], *, reason: str = ""
    ) -> None:
        """A stream was admitted, queued (it is admitted or rejected later), or rejected."""
        ...

    def planned(self, engine: str, took_s: float, *, front_end_s: float = 0.0) -> None:
        """A segment was planned; reading its text was a part of that."""
        ...

    def step(self, engine: str, took_s: float, *, audio_s: float, batch: int = 1) -> None:
        """A step gave audio, for one or more utterances at once."""
        ...

    def retried(self, engine: str) -> None:
        """A failed plan or step is repeated."""
        ...

    def worker_replaced(self, reason: Literal["crashed", "hung"]) -> None:
        """A worker was lost."""
        ...

    def cancelled(self, took_s: float) -> None:
        """A stream was cancelled, and workers were busy with it for this long afterwards."""
        ...

    def cache_lookup(self, cache: str, *, hit: bool) -> None:
        """A segment was looked up in the cache."""
        ...


class Unobserved:
    """An observer that ignores everything."""

    def admission(
        self, stream_class: StreamClass, decision: Literal["admitted", "queued", "rejected"], *, reason: str = ""
    ) -> None:
        """Do nothing."""

    def planned(self, engine: str, took_s: float, *, front_end_s: float = 0.0) -> None:
        """Do nothing."""

    def step(self, engine: str, took_s: float, *, audio_s: float, batch: int = 1) -> None:
        """Do nothing."""

    def retried(self, engine: str) -> None:
        """Do nothing."""

    def worker_replaced(self, reason: Literal["crashed", "hung"]) -> None:
        """Do nothing."""

    def cancelled(self, took_s: float) -> None:
        """Do nothing."""

    def cache_lookup(self, cache: str, *, hit: bool) -> None:
        """Do nothing."""
