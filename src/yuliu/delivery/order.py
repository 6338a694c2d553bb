"""Orders: the voice, the encoding and the manner in which a protocol wants a text delivered."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from yuliu.errors import UnknownVoice
from yuliu.presets import resolve
from yuliu.scheduler.policy.events import Terms
from yuliu.stream import StreamLimits, StreamOptions, options_of
from yuliu.types import SpeakOptions
from yuliu.wire.synthesis_options import SynthesisOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from yuliu.audio.formats import Encoding
    from yuliu.presets import Preset
    from yuliu.text.lexicon import Entry


@dataclass(frozen=True, slots=True)
class VoiceQuery:
    """The voice that a client asks for."""

    name: str | None = None
    """None asks for the default voice."""
    stand_ins: frozenset[str] = frozenset()
    """Names of another service's voices; each of them means the default voice."""
    alternative: str | None = None
    """A second name, used if ``name`` is no loaded voice: some clients can only set another field."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakingQuery:
    """Options of the speech that a client asks for."""

    speed: float = 1.0
    manner: SynthesisOptions = field(default_factory=SynthesisOptions)
    lexicon: tuple[str, ...] = ()
    """Names of lexicons, the strongest last."""
    lexicon_entries: tuple[Entry, ...] = field(default=(), repr=False)
    limits: StreamLimits = field(default_factory=StreamLimits)
    is_complete: bool = False
    """True if all text is there at the start: then no sentence is cut because its end comes late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One text that is to be delivered as audio."""

    encoding: Callable[[int], Encoding]
    """Returns what the audio is encoded as, from the voice's sample rate, Hz.

    Raises ``InvalidRequest`` with the protocol's name of the field at fault.
    """
    voice: VoiceQuery = VoiceQuery()
    speaking: SpeakingQuery = field(default_factory=SpeakingQuery)
    max_characters: int | None = None
    """Maximum length of the text, code points."""
    is_whole: bool = False
    """Send all audio at once at the end, so that its head holds the true sizes."""
    must_sound: bool = True
    """Fail with ``nothing_to_speak`` if the text holds nothing to say; otherwise finish without audio."""
    text_field: str | None = None
    """Field to blame for a text that holds nothing to say."""
    progress: bool = False
    """Send segments, marks and underruns to the sink."""


def resolve_voice(query: VoiceQuery, voices: Sequence[str], default: str) -> str:
    """Return the name of the voice that speaks.

    Args:
        query: What the client asks for.
        voices: Names of the loaded voices.
        default: Name of the default voice.

    Raises:
        UnknownVoice: ``query.name`` is neither a loaded voice nor a stand-in.
    """
    if query.name is not None and query.name in voices:
        return query.name
    if query.name is not None and query.name not in query.stand_ins:
        raise UnknownVoice(f"no such voice is loaded; there are {', '.join(voices)}", param="voice")
    return query.alternative if query.alternative is not None and query.alternative in voices else default


def stream_options(speaking: SpeakingQuery, presets: Mapping[str, Preset]) -> StreamOptions:
    """Return the options of a stream that speaks as asked.

    Raises:
        InvalidRequest: The preset is unknown, or a value that replaces one of its fields is wrong; ``param`` names it.
    """
    manner = speaking.manner
    base = StreamOptions(
        speak=SpeakOptions(speed=speaking.speed, seed=manner.seed),
        terms=Terms(weight=manner.weight),
        lead_in_ms=manner.lead_in_ms,
        lang=manner.language,
        effects=manner.effects,
        limits=speaking.limits,
        lexicon=speaking.lexicon,
        lexicon_entries=speaking.lexicon_entries,
    )
    options = options_of(resolve(manner.preset, manner.overrides, known=presets), base)
    return replace(options, stall_s=math.inf) if speaking.is_complete else options
