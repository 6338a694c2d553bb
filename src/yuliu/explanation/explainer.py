"""Explanation of texts by the parts of a stream (:mod:`yuliu.stream`), without engines or a clock."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from yuliu.errors import VoiceNotReady
from yuliu.explanation.segments import explain_segment
from yuliu.explanation.values import Clean, Emission, Explanation, SkippedSpan
from yuliu.lexicon_store import LexiconStore
from yuliu.segmenter import Segmenter
from yuliu.stream import StreamOptions
from yuliu.text.languages import load_registry, parse_language
from yuliu.text.markup import CleanText, MarkupReader
from yuliu.types import Skipped
from yuliu.voices import VoiceStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from typing import Literal

    from yuliu.explanation.segments import FrontEnds
    from yuliu.explanation.values import ExplainedSegment
    from yuliu.text.lexicon import Words
    from yuliu.text.markup import MarkupEvent
    from yuliu.types import Lang, Segment, Span

OOV_VOICE, OOV_FILE = "heart", "oov.onnx"
"""Voice whose model reads English words outside the dictionaries, if it is installed."""
_DEFAULT = StreamOptions()
_PAUSE = re.compile(r"@@PAUSE (\d{1,9})@@")


@dataclass(frozen=True, slots=True)
class TimedDelta:
    """Piece of a text and its arrival time."""

    text: str
    at_s: float
    """Seconds on any clock; not decreasing."""


def pause_ms_of(delta: str) -> int | None:
    """Return the length of a pause delta such as ``@@PAUSE 900@@``, milliseconds; None for text."""
    pause = _PAUSE.fullmatch(delta)
    return int(pause[1]) if pause else None


class Explainer:
    """Explainer of texts as the voices ``baker`` and ``heart`` speak them.

    Construction makes the front ends of all languages: about a second. Safe to share between threads.

    Args:
        home: Folder of lexicons and voices; None takes $YULIU_HOME or the platform's folder for application data.
    """

    def __init__(self, home: Path | None = None) -> None:
        unknown_words = {"en": _oov(home)}
        self._front_ends: FrontEnds = {
            language.lang: language.front_end(unknown_words.get(language.lang)) for language in load_registry()
        }
        self._lexicons = LexiconStore(home)

    def explain(self, text: str, *, lang: str | None = None, options: StreamOptions = _DEFAULT) -> Explanation:
        """Explain a complete text.

        Args:
            text: Any text.
            lang: BCP 47 tag of the language of the whole text; None decides by script.
            options: Options of a stream: cutting, markup and lexicons.

        Raises:
            UnknownLexicon: ``options`` names a lexicon that does not exist.
            InvalidRequest: ``lang`` is not a known language.
        """
        return self.follow([TimedDelta(text, 0.0)], lang=lang, options=replace(options, stall_s=0.0), timed=False)

    def follow(
        self,
        arrivals: Iterable[TimedDelta],
        *,
        lang: str | None = None,
        options: StreamOptions = _DEFAULT,
        timed: bool = True,
    ) -> Explanation:
        """Explain a text that arrives in pieces, on a clock that need not be real.

        A pause of ``options.stall_s`` or more between two pieces flushes pending text, as in a stream.

        Args:
            arrivals: Pieces in order.
            lang: BCP 47 tag of the language of the whole text; None decides by script.
            options: Options of a stream.
            timed: Include the time at which each segment could first be spoken.

        Raises:
            UnknownLexicon: ``options`` names a lexicon that does not exist.
            InvalidRequest: ``lang`` is not a known language.
        """
        words = self._lexicons.words(options.lexicon, options.lexicon_entries)
        settled = None if lang is None else parse_language(lang, param="lang")
        run = _ExplanationRun(self._front_ends, words, lang=settled, options=options)
        for arrival in arrivals:
            run.take(arrival)
        run.end()
        segments = run.segments if timed else [replace(segment, emitted=None) for segment in run.segments]
        clean = Clean("".join(run.clean), tuple(run.skipped), run.warnings)
        return Explanation("".join(run.text), clean, tuple(segments))


class _ExplanationRun:
    """Run over one text."""

    def __init__(self, front_ends: FrontEnds, words: Words, *, lang: Lang | None, options: StreamOptions) -> None:
        self.text: list[str] = []
        self.clean: list[str] = []
        self.skipped: list[SkippedSpan] = []
        self.segments: list[ExplainedSegment] = []
        self._between: list[SkippedSpan] = []  # left out behind the last segment
        self._languages: tuple[Lang, ...] = tuple(front_ends) if lang is None else (lang,)
        self._reader = MarkupReader(options.reader, languages=self._languages)
        self._segmenter = Segmenter(options.rules())
        self._front_ends = front_ends
        self._words = words
        self._lang = lang
        self._stall_s = options.stall_s
        self._first_s: float | None = None
        self._last_s = 0.0
        self._num_chars = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """Parts of the markup that could not be followed."""
        return self._reader.warnings

    def take(self, arrival: TimedDelta) -> None:
        """Take the next piece, after the pause before it, if that is long."""
        if self._first_s is None:
            self._first_s = arrival.at_s
        elif arrival.at_s - self._last_s >= self._stall_s:
            self._flush("stall", self._last_s + self._stall_s)
        self._last_s = arrival.at_s
        self.text.append(arrival.text)
        self._num_chars += len(arrival.text)
        self._take(self._reader.push(arrival.text), "text", arrival.at_s)

    def end(self) -> None:
        """Flush the rest of the text."""
        self._flush("end", self._last_s)

    def _flush(self, by: Literal["stall", "end"], at_s: float) -> None:
        self._take(self._reader.flush(), by, at_s)
        self._emit(self._segmenter.flush(), by, at_s)

    def _take(self, events: Iterable[MarkupEvent], by: Literal["text", "stall", "end"], at_s: float) -> None:
        for event in events:
            if isinstance(event, Skipped):
                self.skipped.append(SkippedSpan(event.source, event.rule))
                self._between.append(self.skipped[-1])
            elif isinstance(event, CleanText):
                self.clean.append(event.text)
            self._emit(self._segmenter.take(event), by, at_s)

    def _emit(self, segments: Iterable[Segment], by: Literal["text", "stall", "end"], at_s: float) -> None:
        at_ms = 1000 * (at_s - (self._first_s or 0.0))
        emission = Emission(len(self.text) - 1, self._num_chars, round(at_ms, 3), by)
        for segment in segments:
            if segment.text and not segment.text.isspace():
                explained = self._explained(segment)
                skipped = sorted([*self._skipped_in(segment.source), *explained.skipped], key=lambda skip: skip.source)
                self.segments.append(replace(explained, skipped=tuple(skipped), emitted=emission))

    def _skipped_in(self, source: Span) -> list[SkippedSpan]:
        """Return the text that the reader skipped inside a segment."""
        passed = [skip for skip in self._between if skip.source.end <= source.end]
        self._between = self._between[len(passed) :]
        return [skip for skip in passed if skip.source.start >= source.start]

    def _explained(self, segment: Segment) -> ExplainedSegment:
        if self._lang is not None:
            segment = replace(segment, style=replace(segment.style, lang=self._lang))
        return explain_segment(segment, self._front_ends, languages=self._languages, words=self._words)


def _oov(home: Path | None) -> Callable[[str], str | None] | None:
    try:
        path = VoiceStore(home).files(OOV_VOICE)[OOV_FILE]
    except VoiceNotReady:
        return None
    from yuliu.engines.hibari.engine import load_oov

    return load_oov(path)


@cache
def _shared() -> Explainer:
    return Explainer()


def explain(text: str, *, lang: str | None = None, options: StreamOptions = _DEFAULT) -> Explanation:
    """Explain a text, with front ends that are made at the first call; see :meth:`Explainer.explain`."""
    return _shared().explain(text, lang=lang, options=options)
