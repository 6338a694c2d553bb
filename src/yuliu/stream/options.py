"""Options of a stream: cutting, speech, urgency and time limits."""

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
"""Default maximum of pending parts of text before ``push`` waits."""
MEMORY_PARTS = 256
"""Maximum of pending parts where only memory limits them: at most 100,000 characters."""
MAX_LEAD_IN_MS = 1000


@dataclass(frozen=True, slots=True)
class StreamLimits:
    """Times after which a stream ends with :class:`yuliu.errors.TimedOut`, in seconds; None waits forever."""

    idle_text_s: float | None = None
    """Maximum wait for text while nothing is left to be spoken or taken."""
    stalled_reader_s: float | None = None
    """Maximum wait for the reader while a chunk is ready."""
    total_s: float | None = None
    """Maximum duration of the stream."""

    def __post_init__(self) -> None:
        """Reject invalid times.

        Raises:
            InvalidRequest: A limit is not above 0.
        """
        for each in fields(self):
            limit_s = getattr(self, each.name)
            if limit_s is not None and not 0 < limit_s < math.inf:
                raise InvalidRequest(f"{each.name} must be above 0, or None", param=each.name)


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """Options of a stream."""

    speak: SpeakOptions = field(default_factory=SpeakOptions)
    chunking: Chunking = field(default_factory=Chunking)
    """Strategy of cutting the text."""
    segmenter: SegmenterOptions | None = None
    """Individual rules of cutting; None takes those of ``chunking``."""
    reader: MarkupOptions = field(default_factory=MarkupOptions)
    lang: str | None = None
    """BCP 47 tag of the language of all of the text, except where its markup names another; None decides by script."""
    stall_s: float = 0.5
    """Time without new text after which pending text is spoken as it is, in seconds."""
    terms: Terms = field(default_factory=Terms)
    """Urgency of the stream, and its lead over the listener."""
    effects: Effects = NO_EFFECTS
    """Effects on the audio, such as volume and pitch."""
    max_pending: int = MAX_PENDING_PARTS
    """Maximum of pending parts of text before ``push`` waits, parts in progress included."""
    lead_in_ms: float = 0.0
    """Silence sent as soon as the stream is admitted, before any text, in milliseconds, at most 1000."""
    limits: StreamLimits = field(default_factory=StreamLimits)
    """Time limits for the writer, the reader and the whole stream."""
    sample_rate: int | None = None
    """Sample rate of the stream, in Hz, 8000 to 48000; None takes that of the voice. Audio that engines make at
    another rate is resampled to it once."""
    lexicon: tuple[str, ...] = ()
    """Names of lexicons, the strongest last; all are stronger than ``default``, which always applies."""
    lexicon_entries: tuple[Entry, ...] = ()
    """Entries for this stream only, stronger than all lexicons."""

    def __post_init__(self) -> None:
        """Reject invalid options before a stream is opened.

        Raises:
            InvalidRequest: ``speed``, ``max_pending``, ``lead_in_ms`` or ``sample_rate`` is out of its range, or noise
                suppression is requested but not installed.
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
        """Return the rules of cutting.

        Args:
            first_weight_scale: Factor on the length of the first segment.
            throughput: Whether the backlog is large; adaptive cutting then makes whole sentences.
        """
        if throughput and self.chunking.strategy in ("adaptive", "punctuation"):
            return Chunking("sentence").options()
        if self.segmenter is not None:
            return self.segmenter
        return self.chunking.options(first_weight_scale=first_weight_scale)


def check_speed(speed: float) -> None:
    """Reject a speed out of range.

    Raises:
        InvalidRequest: The speed is not from 0.25 to 4.
    """
    if not MIN_SPEED <= speed <= MAX_SPEED:
        raise InvalidRequest(f"speed must be from {MIN_SPEED} to {MAX_SPEED}, not {speed}", param="speed")


def check_effects(effects: Effects) -> None:
    """Reject effects that are not available on this machine.

    Raises:
        InvalidRequest: Noise suppression is requested, but the extra ``denoise`` is not installed.
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
    """Return the options of a preset.

    Args:
        preset: The preset, or the name of a built-in one.
        base: Source of options that a preset does not define: speed, markup, lexicons, limits, weight.
        num_workers: Number of worker threads; None takes one per core.

    Raises:
        InvalidRequest: There is no preset of that name.
    """
    preset = resolve(preset, {}) if isinstance(preset, str) else preset
    base = base or StreamOptions()
    workers = max(
        2, num_workers or os.cpu_count() or 1
    )  # one part is rendered while the next is planned, so that there is no gap
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
