"""Where the commands get what they work with. Tests and embedders put in their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from yuliu.synthesizer import Synthesizer
    from yuliu.voices import VoiceStore


def _open_synthesizer(voices: Sequence[str], **options: Any) -> Synthesizer:  # noqa: ANN401 - those of yuliu.open
    import yuliu

    return yuliu.open(*voices, **options)


def _open_store() -> VoiceStore:
    from yuliu.engines.registry import DERIVATIONS
    from yuliu.voices import VoiceStore

    return VoiceStore(derivations=DERIVATIONS)


@dataclass(frozen=True, slots=True)
class Wiring:
    """Passed as ``obj`` to :func:`yuliu.cli.main`."""

    open_synthesizer: Callable[..., Synthesizer] = _open_synthesizer
    """Loads the voices of these names (a sequence), or the default ones if there are none; the caller closes the
    synthesizer. A server gives further options of :func:`yuliu.open` by name."""
    open_store: Callable[[], VoiceStore] = _open_store
    """The voices of this machine."""
