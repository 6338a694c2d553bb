"""What a stream is told: how it is cut and spoken, how urgent it is, how long it may take."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING

from yuliu.audio.chain import NO_EFFECTS
from yuliu.audio.denoise import require_denoise
from yuliu.audio.formats import MAX_RATE, MIN_RATE
from yuliu.errors import InvalidRequest
from yuliu.presets import Preset, resolve
from yuliu.scheduler.policy.events import Terms
from yuliu.segmenter import Chunking, SegmenterOptions
from yuliu.text.languages import parse_language
from yuliu.text.markup import MarkupOptions
from yuliu.types import MAX_SPEED, MIN_SPEED, SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Collection

    from yuliu.audio.chain import Effects
    from yuliu.text.lexicon import Entry
    from yuliu.types import Lang

MAX_PENDING_PARTS = 16
"""Parts of text that may wait to be spoken before ``push`` waits, where nothing else is asked for."""
MEMORY_PARTS = 256
"""As many parts wait where only memory bounds them: at most 100,000 characters."""
MAX_LEAD_IN_MS = 1000


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """How long a stream waits before it ends with :class:`yuliu.errors.TimedOut`, seconds; None waits for ever."""

    idle_text_s: float | None = None
    """For text, when nothing is left to be spoken or taken."""
    stalled_reader_s: float | None = None
    """For its reader, when sound is there to be taken."""
    total_s: float | None = None
    """For its end, from its opening on."""

    def __post_init__(self) -> None:
        """Refuse what is no time.

        Raises:
            InvalidRequest: A limit is not above 0.
        """
        for each in fields(self):
            limit_s = getattr(self, each.name)
            if limit_s is not None and not 0 < limit_s < math.inf:
                raise InvalidRequest(f"{each.name} must be above 0, or None", param=each.name)


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """How a stream is cut and spoken."""

    speak: SpeakOptions = field(default_factory=SpeakOptions)
    chunking: Chunking = field(default_factory=Chunking)
    """Where the text is cut."""
    segmenter: SegmenterOptions | None = None
    """The rules of cutting one by one; None takes those of ``chunking``."""
    reader: MarkupOptions = field(default_factory=MarkupOptions)
    lang: str | None = None
    """BCP 47 tag of the language that all of the text is read as, but for what its markup says; None decides by script.
    """
    stall_s: float = 0.5
    """Text that might go on is spoken as it is when nothing came for so long, seconds."""
    terms: Terms = field(default_factory=Terms)
    """How urgent it is, and how far ahead of its listener it is made."""
    effects: Effects = NO_EFFECTS
    """What is done to the sound: volume, pitch and the like."""
    max_pending: int = MAX_PENDING_PARTS
    """Parts of text that may wait to be spoken before ``push`` waits; those in work are counted."""
    lead_in_ms: float = 0.0
    """Silence that is sent as soon as the stream is admitted, before there is any text, milliseconds, at most 1000."""
    limits: StreamLimits = field(default_factory=StreamLimits)
    """How long it waits for its writer, its reader and its end."""
    sample_rate: int | None = None
    """Sample rate of the stream, in Hz, 8000 to 48000; None takes the voice's. Sound that engines make at another rate
    is resampled to it once."""
    lexicon: tuple[str, ...] = ()
    """Names of lexicons, the strongest last; they are stronger than ``default``, which always holds."""
    lexicon_entries: tuple[Entry, ...] = ()
    """Entries that hold for this stream only, stronger than all lexicons."""

    def __post_init__(self) -> None:
        """Reject what no engine can do, before anything is opened.

        Raises:
            InvalidRequest: ``speed``, ``max_pending`` or ``lead_in_ms`` is out of its range, or noise is to be taken
                away and what does it is not installed.
        """
        check_speed(self.speak.speed)
        check_effects(self.effects)
        if self.max_pending < 1:
            raise InvalidRequest("max_pending must be at least 1", param="max_pending")
        if not 0 <= self.lead_in_ms <= MAX_LEAD_IN_MS:
            raise InvalidRequest(f"lead_in_ms must be from 0 to {MAX_LEAD_IN_MS}", param="lead_in_ms")
        if self.sample_rate is not None and not MIN_RATE <= self.sample_rate <= MAX_RATE:
            raise InvalidRequest(f"sample_rate must be from {MIN_RATE} to {MAX_RATE} Hz", param="sample_rate")

    def rules(self, *, first_weight_scale: float = 1.0, throughput: bool = False) -> SegmenterOptions:
        """The rules that the text is cut by.

        Args:
            first_weight_scale: Factor on the length of the first segment.
            throughput: Whether much is waiting: then what may be cut anywhere is cut into whole sentences.
        """
        if throughput and self.chunking.strategy in ("adaptive", "punctuation"):
            return Chunking("sentence").options()
        if self.segmenter is not None:
            return self.segmenter
        return self.chunking.options(first_weight_scale=first_weight_scale)


def check_speed(speed: float) -> None:
    """Refuse a speed that no engine has.

    Raises:
        InvalidRequest: It is not from 0.25 to 4.
    """
    if not MIN_SPEED <= speed <= MAX_SPEED:
        raise InvalidRequest(f"speed must be from {MIN_SPEED} to {MAX_SPEED}, not {speed}", param="speed")


def check_effects(effects: Effects) -> None:
    """Refuse what cannot be done on this machine.

    Raises:
        InvalidRequest: Noise is to be taken away, and the extra ``denoise`` is not installed.
    """
    if effects.denoise:
        require_denoise()


def check_lang(tag: str | None, spoken: Collection[Lang]) -> Lang | None:
    """Return the language that a BCP 47 tag means, if the voice speaks it; None for no tag.

    Args:
        tag: As the client gave it.
        spoken: Languages of the voice.

    Raises:
        InvalidRequest: There is no such language, or the voice does not speak it; ``param`` is ``language``.
    """
    lang = None if tag is None else parse_language(tag)
    if lang is not None and lang not in spoken:
        reason = f"'language': this voice does not speak {tag!r}; it speaks {', '.join(map(repr, spoken))}"
        raise InvalidRequest(reason, param="language")
    return lang


def options_of(
    preset: Preset | str, base: StreamOptions | None = None, *, num_workers: int | None = None
) -> StreamOptions:
    """What a preset comes to.

    Args:
        preset: The preset, or the name of one that comes with Yuliu.
        base: Gives what a preset does not say: speed, markup, lexicons, limits, the weight within the class.
        num_workers: Threads that speak; None takes one a core.

    Raises:
        InvalidRequest: There is no preset of that name.
    """
    preset = resolve(preset, {}) if isinstance(preset, str) else preset
    base = base or StreamOptions()
    workers = max(2, num_workers or os.cpu_count() or 1)  # one is rendered, one planned meanwhile: no gap between them
    max_planned = preset.workers.clamp(preset.workers.most or workers, available=workers)
    terms = replace(
        base.terms,
        stream_class=preset.stream_class,
        max_lead_s=preset.max_lead_s,
        max_planned=max_planned,
        first_packet_s=preset.first_packet_s,
    )
    max_pending = max_planned + preset.queue.clamp(preset.queue.most or MEMORY_PARTS, available=MEMORY_PARTS)
    return replace(base, chunking=preset.chunking, segmenter=None, terms=terms, max_pending=max_pending)
