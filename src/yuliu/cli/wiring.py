"""Dependencies of the commands, which tests and embedding programs replace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from yuliu.synthesizer import Synthesizer
    from yuliu.voices import VoiceStore


def _open_synthesizer(voices: Sequence[str], **options: Any) -> Synthesizer:  # noqa: ANN401 - options of yuliu.open
    import yuliu

    return yuliu.open(*voices, **options)


def _open_store() -> VoiceStore:
    from yuliu.engines.registry import DERIVATIONS
    from yuliu.voices import VoiceStore

    return VoiceStore(derivations=DERIVATIONS)


@dataclass(frozen=True, slots=True)
class Wiring:
    """Dependencies, passed as ``obj`` to :func:`yuliu.cli.main`."""

    open_synthesizer: Callable[..., Synthesizer] = _open_synthesizer
    """Loads the voices named in a sequence, or the default ones if it is empty; the caller closes the result. The
    server passes further options of :func:`yuliu.open` by name."""
    open_store: Callable[[], VoiceStore] = _open_store
    """Opens the store of the voices on this machine."""
