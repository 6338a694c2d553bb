"""Path of the text: deltas -> markup -> segmenter -> lexicons -> parts in one language. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from yuliu.audio.chain import MAX_VOLUME_DB, MIN_VOLUME_DB
from yuliu.audio.join import silences
from yuliu.audio.stretch import MAX_SEMITONES
from yuliu.engines.api import PlanOptions
from yuliu.segmenter import Segmenter, split_segment
from yuliu.stream.joiner import SegmentPart
from yuliu.stream.options import check_effects, check_lang, check_speed
from yuliu.text.markup import MarkupReader
from yuliu.types import MAX_SPEED, MIN_SPEED, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from yuliu.audio.chain import Effects
    from yuliu.segmenter import Chunking
    from yuliu.stream.coverage import Ledger
    from yuliu.stream.options import StreamOptions
    from yuliu.stream.routes import VoiceRoute
    from yuliu.text.lexicon import Words
    from yuliu.text.markup import MarkupEvent
    from yuliu.types import Lang, Segment, Style

NO_VOICE = "a voice that is not loaded was asked for; the stream's own voice spoke instead"


@dataclass(frozen=True, slots=True)
class SpokenPart:
    """Part for an engine."""

    part: SegmentPart
    engine: str
    plan: PlanOptions


@dataclass(frozen=True, slots=True)
class SilentSegment:
    """Segment without audio."""

    segment: Segment
    skipped: tuple[Skipped, ...] = ()
    """Text in it that a rule skips."""


class TextPipeline:
    """Pipeline that turns the text of one stream into parts.

    Args:
        options: Options of the stream.
        routes: Routes of the voices that the text may switch to; the empty name is the voice of the stream.
        words: Lexicon entries.
        ledger: Ledger that records received and left-out text.

    Raises:
        InvalidRequest: The voice does not speak the requested language.
    """

    def __init__(self, options: StreamOptions, routes: Mapping[str, VoiceRoute], words: Words, ledger: Ledger) -> None:
        self._options = options
        self._routes = routes
        self._words = words
        self._ledger = ledger
        self._languages: tuple[Lang, ...] = tuple(routes[""].engines)
        self._lang = check_lang(options.lang, self._languages)
        self._reader = MarkupReader(options.reader, languages=self._languages, lang=self._lang)
        self._segmenter = Segmenter(options.rules())
        self._throughput = False
        self._warnings: dict[str, None] = {}

    @property
    def warnings(self) -> tuple[str, ...]:
        """Markup that could not be followed."""
        return (*self._reader.warnings, *self._warnings)

    def admitted(self, *, first_weight_scale: float, throughput: bool) -> None:
        """Apply the decision at admission, before any text."""
        self._throughput = throughput
        self._segmenter.configure(self._options.rules(first_weight_scale=first_weight_scale, throughput=throughput))

    def configure(
        self,
        chunking: Chunking | None,
        speed: float | None,
        *,
        lang: str | None,
        effects: Effects | None,
    ) -> None:
        """Change options for text that has not been cut yet; None keeps an option.

        Raises:
            InvalidRequest: The speed is out of range, the voice does not speak the language, or an effect is not
                available.
        """
        if speed is not None:
            check_speed(speed)
        wanted = check_lang(None if lang == "auto" else lang, self._languages)
        if effects is not None:
            check_effects(effects)
            self._options = replace(self._options, effects=effects)
        if speed is not None:
            self._options = replace(self._options, speak=replace(self._options.speak, speed=speed))
        if lang is not None:
            self._lang = wanted
            self._reader.read_as(wanted)
        if chunking is not None:
            self._options = replace(self._options, chunking=chunking, segmenter=None)
            self._segmenter.configure(self._options.rules(throughput=self._throughput))

    def push(self, delta: str) -> list[SpokenPart | SilentSegment]:
        """Push more text and return the parts that are now certain."""
        self._ledger.received(len(delta))
        return self._read(self._reader.push(delta))

    def flush(self) -> list[SpokenPart | SilentSegment]:
        """Return the pending text as it is."""
        parts = self._read(self._reader.flush())
        return [*parts, *self._split(self._segmenter.flush())]

    def _read(self, events: Iterable[MarkupEvent]) -> list[SpokenPart | SilentSegment]:
        parts: list[SpokenPart | SilentSegment] = []
        for event in events:
            if isinstance(event, Skipped):
                self._ledger.left_out(event)
            parts += self._split(self._segmenter.take(event))
        return parts

    def _split(self, segments: Iterable[Segment]) -> Iterator[SpokenPart | SilentSegment]:
        for segment in segments:
            if not segment.text or (segment.text.isspace() and segment.pause_s is not None):
                yield SilentSegment(segment)
                continue
            route = self._route_of(segment)
            if segment.style.lang is None and self._lang is not None:
                segment = replace(segment, style=replace(segment.style, lang=self._lang))
            languages = tuple(route.engines)
            for part in split_segment(self._words.apply(segment, languages), languages):
                if part.lang is None:
                    yield SilentSegment(part, (Skipped(part.source, "language_not_spoken"),))
                else:
                    yield self._to_speak(part, route, route.engines[part.lang])

    def _route_of(self, segment: Segment) -> VoiceRoute:
        style = segment.style
        if style.voice and style.voice not in self._routes:
            self._warnings[NO_VOICE] = None
            return self._routes[""]
        return self._routes[style.voice or ""]

    def _to_speak(self, segment: Segment, route: VoiceRoute, engine: str) -> SpokenPart:
        speed = _within(self._options.speak.speed * segment.style.rate, MIN_SPEED, MAX_SPEED)
        wanted = silences(segment.boundary, speed)
        tail_s = wanted.tail_s if segment.pause_s is None else min(wanted.tail_s, segment.pause_s)
        own_speed = _within(speed, *route.paces.get(engine, (speed, speed)))
        pace = speed / own_speed  # applied to the engine's audio; silences are requested in its time
        speak = replace(self._options.speak, speed=own_speed)
        plan = PlanOptions(speak, lead_s=wanted.lead_s * pace, tail_s=tail_s * pace)
        effects = _styled(self._options.effects, segment.style)
        part = SegmentPart(segment, wanted.pause_s, segment.pause_s, effects, pace, route.rate_of(engine))
        return SpokenPart(part, engine, plan)


def _styled(effects: Effects, style: Style) -> Effects:
    """Return the effects of the stream with those of the markup added."""
    if not (style.volume_db or style.pitch_semitones):
        return effects
    return replace(
        effects,
        volume_db=_within(effects.volume_db + style.volume_db, MIN_VOLUME_DB, MAX_VOLUME_DB),
        pitch_semitones=_within(effects.pitch_semitones + style.pitch_semitones, -MAX_SEMITONES, MAX_SEMITONES),
    )


def _within(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)
