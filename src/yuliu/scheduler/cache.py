"""Cached audio of segments: the latest ones, bounded in bytes, and phrases that stay. Pure.

A segment equals an earlier one if everything that its audio depends on is equal: text, hints, language,
boundary, style but for its volume and pitch, which are applied later, and the lexicons' entries; engine, version of the
voice, and options. Its place in the source is not: cached positions count from the segment's start and are moved
to the place of the request.

No locks here: :class:`yuliu.scheduler.scheduler.Scheduler` guards it by its own.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from yuliu.engines.api import Utterance
from yuliu.text.lexicon import Words
from yuliu.types import Skipped, Span, Timing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.engines.api import PlanOptions
    from yuliu.types import Boundary, Hint, Lang, Samples, Segment, Style

MAX_ENTRY_BYTES = 480_000
"""Maximum audio of a cached segment that is no phrase, bytes (5 s at 24 kHz): until it is done it is held twice."""
MAX_PHRASE_BYTES = 4_000_000
"""The same for a segment of a phrase."""
PIECE_S = 1.0
"""Length of the pieces in which cached audio is given out, seconds."""


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Everything that the audio of a segment depends on."""

    engine: str
    version: str
    text: str
    origin: tuple[int, ...]
    """Source offsets of the characters, from the segment's start; the last one is the source's length."""
    boundary: Boundary
    lang: Lang | None
    hints: tuple[Hint, ...]
    style: Style
    words: tuple[str, ...]
    """Digests of the lexicons that may respell it."""
    options: PlanOptions


def key_of(segment: Segment, options: PlanOptions, *, engine: str, version: str) -> CacheKey | None:
    """Return the segment's key; None if the content of a respelling is unknown."""
    words: tuple[str, ...] = ()
    if isinstance(segment.respelling, Words):
        words = segment.respelling.digests
    elif segment.respelling is not None:
        return None
    start = segment.source.start
    return CacheKey(
        engine,
        version,
        segment.text,
        (*(offset - start for offset in segment.origin), segment.source.end - start),
        segment.boundary,
        segment.lang,
        segment.hints,
        replace(segment.style, volume_db=0.0, pitch_semitones=0.0),
        words,
        options,
    )


@dataclass(frozen=True, slots=True)
class CachedSound:
    """Audio of a segment with its timings; places count from the segment's start."""

    samples: Samples
    phonemes: tuple[str, ...]
    timings: tuple[Timing, ...]
    skipped: tuple[Skipped, ...]
    num_frames: int
    lead_s: float
    tail_s: float

    @classmethod
    def of(cls, utterance: Utterance, samples: Samples, hop_samples: int) -> CachedSound:
        """Return the cached form of an utterance that is done."""
        by = -utterance.segment.source.start
        samples.flags.writeable = False
        return cls(
            samples,
            utterance.phonemes,
            tuple(replace(timing, source=_moved(timing.source, by)) for timing in utterance.timings),
            tuple(replace(skip, source=_moved(skip.source, by)) for skip in utterance.skipped),
            -(-len(samples) // hop_samples),
            utterance.lead_s,
            utterance.tail_s,
        )

    def at(self, segment: Segment) -> Utterance:
        """The plan of the same segment elsewhere."""
        by = segment.source.start
        return Utterance(
            segment=segment,
            phonemes=self.phonemes,
            timings=tuple(replace(timing, source=_moved(timing.source, by)) for timing in self.timings),
            skipped=tuple(replace(skip, source=_moved(skip.source, by)) for skip in self.skipped),
            num_frames=self.num_frames,
            lead_s=self.lead_s,
            tail_s=self.tail_s,
            next_frame=0,
            done=False,
        )

    def pieces(self, planned: Utterance, sample_rate: int) -> Iterator[tuple[Samples, Utterance]]:
        """Yield the audio in steps: copies, since the receiver may change them."""
        size = round(PIECE_S * sample_rate)
        for start in range(0, len(self.samples), size):
            stop = min(start + size, len(self.samples))
            done = stop == len(self.samples)
            frame = self.num_frames if done else self.num_frames * stop // len(self.samples)
            yield self.samples[start:stop].copy(), replace(planned, next_frame=frame, done=done)


def _moved(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)


@dataclass(slots=True)
class CacheEntry:
    """A segment's place in the cache, while it is being spoken."""

    key: CacheKey
    found: CachedSound | None
    """Audio cached before, if any."""
    group: int | None
    """The group of phrases that it is a part of."""
    pieces: list[Samples] | None
    """Its sound so far; None if it is at hand already, or too long to be kept."""

    def add(self, samples: Samples) -> None:
        """Add audio: a copy, since the receiver may change it before all of it is made."""
        if self.pieces is not None and len(samples):
            self.pieces.append(samples.copy())
            most = MAX_ENTRY_BYTES if self.group is None else MAX_PHRASE_BYTES
            if sum(piece.nbytes for piece in self.pieces) > most:
                self.pieces = None


@dataclass(frozen=True, slots=True)
class CacheCounts:
    """Fill of the cache."""

    num_entries: int
    num_bytes: int
    """Part of it that may be evicted."""
    num_pinned: int
    pinned_bytes: int


class SoundCache:
    """Cache of audio.

    Args:
        max_bytes: Limit of recent audio; 0 keeps none.
        max_pinned_bytes: Limit of the audio of phrases.
    """

    def __init__(self, max_bytes: int, max_pinned_bytes: int) -> None:
        self._max_bytes, self._max_pinned_bytes = max_bytes, max_pinned_bytes
        self._recent: OrderedDict[CacheKey, CachedSound] = OrderedDict()
        self._pinned: dict[CacheKey, tuple[CachedSound, set[int]]] = {}  # with the groups that hold it
        self._num_bytes = self._pinned_bytes = 0
        self._broken_off: set[int] = set()  # groups that are not held whole

    @property
    def counts(self) -> CacheCounts:
        """Fill of the cache."""
        return CacheCounts(len(self._recent), self._num_bytes, len(self._pinned), self._pinned_bytes)

    def is_used(self, group: int | None) -> bool:
        """Return whether a look-up makes sense: audio is cached, or will be."""
        return bool(self._max_bytes or self._pinned) or group is not None

    def look_up(self, key: CacheKey, group: int | None) -> CacheEntry:
        """Look a segment up; audio that is found and belongs to a group is pinned for it."""
        found = self._pinned[key][0] if key in self._pinned else self._recent.get(key)
        if found is None:
            return CacheEntry(key, None, group, [] if self._max_bytes or group is not None else None)
        if key in self._recent:
            self._recent.move_to_end(key)
        if group is not None:
            self._pin(key, found, group)
        return CacheEntry(key, found, group, None)

    def keep(self, keeping: CacheEntry, utterance: Utterance, hop_samples: int) -> None:
        """Cache a segment that was spoken to its end."""
        if not keeping.pieces:
            if keeping.pieces is None and keeping.found is None and keeping.group is not None:
                self._broken_off.add(keeping.group)  # longer than may be kept
            return
        kept = CachedSound.of(utterance, np.concatenate(keeping.pieces), hop_samples)
        keeping.pieces = None
        if keeping.group is not None:
            self._pin(keeping.key, kept, keeping.group)
        elif keeping.key not in self._pinned:
            self._remember(keeping.key, kept)

    def keys_of(self, group: int) -> tuple[CacheKey, ...]:
        """The segments that a group holds."""
        return tuple(key for key, (_, groups) in self._pinned.items() if group in groups)

    def is_whole(self, group: int) -> bool:
        """Return whether there was room for all audio of a group."""
        return group not in self._broken_off

    def unpin(self, group: int) -> None:
        """Release a group of phrases; its audio stays as long as that of other segments would."""
        self._broken_off.discard(group)
        for key in self.keys_of(group):
            kept, groups = self._pinned[key]
            groups.discard(group)
            if not groups:
                del self._pinned[key]
                self._pinned_bytes -= kept.samples.nbytes
                self._remember(key, kept)

    def _pin(self, key: CacheKey, kept: CachedSound, group: int) -> None:
        if key in self._pinned:
            self._pinned[key][1].add(group)
        elif self._pinned_bytes + kept.samples.nbytes <= self._max_pinned_bytes:
            self._pinned[key] = (kept, {group})
            self._pinned_bytes += kept.samples.nbytes
            self._forget(key)
        else:
            self._broken_off.add(group)

    def _remember(self, key: CacheKey, kept: CachedSound) -> None:
        self._forget(key)
        if kept.samples.nbytes <= min(MAX_ENTRY_BYTES, self._max_bytes):
            self._recent[key] = kept
            self._num_bytes += kept.samples.nbytes
        while self._num_bytes > self._max_bytes:
            self._forget(next(iter(self._recent)))

    def _forget(self, key: CacheKey) -> None:
        if (kept := self._recent.pop(key, None)) is not None:
            self._num_bytes -= kept.samples.nbytes
