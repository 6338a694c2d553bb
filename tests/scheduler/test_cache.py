"""Cached audio: identical to new audio at any position, and bounded in size."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scheduler_streams import OPTIONS, Inbox, one_worker, segment, sound, speak

from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine, ToneScript
from yuliu.scheduler.cache import MAX_ENTRY_BYTES, CachedSound, CacheKey, SoundCache, key_of
from yuliu.scheduler.observer import Unobserved
from yuliu.scheduler.policy.events import Terms
from yuliu.scheduler.scheduler import Scheduler
from yuliu.text.lexicon import Entry, Lexicon, Words
from yuliu.types import Boundary, Hint, Span, SpeakOptions, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.engines.api import Utterance
    from yuliu.types import Segment

BASE = segment("hello there")
CHANGES: list[dict[str, Any]] = [
    {"text": "hello where"},
    {"origin": (0, *range(2, 12)), "source": Span(0, 12)},
    {"source": Span(0, 12)},
    {"boundary": Boundary.CLAUSE},
    {"lang": "zh"},
    {"hints": (Hint(Span(0, 5), "spoken", "bye"),)},
    {"style": Style(rate=1.1)},
    {"respelling": Words((Lexicon.of("a", [Entry("hello", "bye", stage="after")]),))},
]


def key(of: Segment, options: Any = OPTIONS, version: str = "1") -> CacheKey:
    found = key_of(of, options, engine="tone", version=version)
    assert found is not None
    return found


@pytest.mark.parametrize("change", CHANGES)
def test_the_key_depends_on_everything_that_changes_the_audio(change: dict[str, Any]) -> None:
    """Text, hints, words, language, boundary, style, and the positions in the source count."""
    assert key(replace(BASE, **change)) != key(BASE)


def test_options_and_version_are_in_the_key() -> None:
    """Speed, seed, silences and the version of the voice count."""
    for options in (
        replace(OPTIONS, lead_s=0.0),
        replace(OPTIONS, tail_s=0.0),
        replace(OPTIONS, speak=SpeakOptions(speed=1.5)),
        replace(OPTIONS, speak=SpeakOptions(seed=1)),
    ):
        assert key(BASE, options) != key(BASE)
    assert key(BASE, version="2") != key(BASE)


def test_later_processing_is_not_in_the_key() -> None:
    """Position, volume, marks and pauses do not change the output of an engine."""
    for same in (segment(BASE.text, 77), replace(BASE, style=Style(volume_db=6.0)), replace(BASE, pause_s=1.0)):
        assert key(same) == key(BASE)


def test_equal_lexicons_give_equal_keys_and_unknown_ones_none() -> None:
    """Lexicons are compared by their content."""
    twice = [Words((Lexicon.of(name, [Entry("a", "b", stage="after")]),)) for name in "xy"]
    assert len({key(replace(BASE, respelling=words)) for words in twice}) == 1

    class Other:
        """A respelling of unknown content."""

        def respell(self, spoken: str, lang: str) -> Sequence[tuple[Span, str]]:
            return []

    assert key_of(replace(BASE, respelling=Other()), OPTIONS, engine="tone", version="") is None


@dataclass
class LookupCounter(Unobserved):
    """Counts cache hits and misses."""

    hits: int = 0
    misses: int = 0

    def cache_lookup(self, cache: str, *, hit: bool) -> None:
        assert cache == "sound"
        self.hits += hit
        self.misses += not hit


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["one", "two words", "你好", "a b c d e f g h i j k l"]), st.integers(0, 500)),
        max_size=9,
    ),
    st.sampled_from(["frames", "autoregressive"]),
)
def test_cached_audio_equals_new_audio(texts: list[tuple[str, int]], manner: Any) -> None:
    """For segments repeated at other positions, samples, timings and ends are those of an engine."""
    lookups, inbox, plain = LookupCounter(), Inbox(), Inbox()
    caching = Scheduler(
        [local_spec("tone", lambda: ToneEngine(manner=manner))], one_worker(cache_bytes=10**7), observer=lookups
    )
    anew = Scheduler([local_spec("tone", lambda: ToneEngine(manner=manner))], one_worker())
    segments, at = [], 0
    for text, gap in texts:
        segments.append(segment(text, at + gap))
        at += gap + len(text)
    for scheduler, box in ((caching, inbox), (anew, plain)):
        stream_id = scheduler.open(box)
        for number, each in enumerate(segments):
            scheduler.submit(stream_id, "tone", each, OPTIONS)
            box.wait_done(number + 1)
            scheduler.taken(stream_id, 10.0)
        scheduler.close()
    assert np.array_equal(inbox.samples(), plain.samples())
    assert [known(output.utterance) for output in inbox.planned] == [
        known(output.utterance) for output in plain.planned
    ]
    assert lookups.misses == len({text for text, _ in texts})
    assert lookups.hits == len(texts) - lookups.misses
    assert sum(output.cached and output.utterance.done for output in inbox.rendered) == lookups.hits


def known(plan: Utterance) -> tuple[object, ...]:
    return plan.segment.source, plan.phonemes, plan.timings, plan.skipped, plan.lead_s, plan.tail_s


def test_long_cached_audio_comes_in_pieces_that_may_be_changed() -> None:
    """Each piece is a copy of at most a second, and the last one is marked as the last."""
    scheduler = Scheduler([local_spec("tone", ToneEngine)], one_worker(cache_bytes=10**7))
    text = "word " * 31
    for _ in range(2):
        inbox = speak(scheduler, [text])
        inbox.wait_done()
        for output in inbox.rendered:
            assert output.samples.flags.writeable
    assert np.array_equal(inbox.samples(), sound(segment(text)))
    assert [len(output.samples) for output in inbox.rendered[:-1]] == [24_000] * 3
    assert [output.utterance.done for output in inbox.rendered] == [False] * 3 + [True]
    frames = [output.utterance.next_frame for output in inbox.rendered]
    assert frames == sorted(frames)
    assert all(frames)
    scheduler.close()


def test_failed_and_cancelled_segments_are_not_cached() -> None:
    """Only complete audio is cached."""
    script = ToneScript(fail_steps=frozenset({1, 2}))
    engine = ToneEngine(script)
    scheduler = Scheduler([local_spec("tone", lambda: engine)], one_worker(cache_bytes=10**7))
    inbox = speak(scheduler, ["word " * 20])
    inbox.wait_until(lambda i: bool(i.broken))
    assert scheduler.cache_counts().num_entries == 0
    again = speak(scheduler, ["word " * 20])
    again.wait_done()
    assert not any(output.cached for output in again.rendered)
    assert np.array_equal(again.samples(), sound(segment("word " * 20)))
    scheduler.close()


def test_silence_and_long_audio_are_not_cached() -> None:
    """Silence costs nothing to make, and long audio would take twice its memory while it is made."""
    scheduler = Scheduler([local_spec("tone", ToneEngine)], one_worker(cache_bytes=10**7))
    for text in ("...", "word " * 60):
        inbox = Inbox()
        stream_id = scheduler.open(inbox)
        scheduler.submit(stream_id, "tone", segment(text), OPTIONS)
        inbox.wait_until(lambda i: bool(i.planned))
        while not inbox.planned[0].utterance.done and not inbox.done:
            scheduler.taken(stream_id, 1.0)
            num_outputs = len(inbox.outputs)
            inbox.wait_until(lambda i, n=num_outputs: i.done or len(i.outputs) > n)  # type: ignore[misc]
    assert scheduler.cache_counts().num_entries == 0
    scheduler.close()


def test_phrases_stay_until_their_group_is_released() -> None:
    """Audio of a group is pinned, also if it was cached before; after the release it can be evicted."""
    scheduler = Scheduler([local_spec("tone", ToneEngine)], one_worker(cache_bytes=100_000))
    speak(scheduler, ["welcome"]).wait_done()
    for group in (1, 2):
        speak(scheduler, ["welcome", "goodbye"], terms=Terms(phrases=group)).wait_done(2)
    for number in range(20):
        speak(scheduler, [f"something else {number}"]).wait_done()
    counts = scheduler.cache_counts()
    assert (counts.num_pinned, counts.pinned_bytes) == (2, 2 * 12 * 240 * 4)
    assert 0 < counts.num_bytes <= 100_000
    scheduler.unpin(1)
    served = speak(scheduler, ["welcome"])
    served.wait_done()
    assert served.rendered[0].cached
    scheduler.unpin(2)
    assert scheduler.cache_counts().num_pinned == 0
    scheduler.close()


def test_without_a_cache_only_phrases_are_kept() -> None:
    """Other segments are not kept."""
    scheduler = Scheduler([local_spec("tone", ToneEngine)], one_worker())
    speak(scheduler, ["hello"], terms=Terms(phrases=1)).wait_done()
    for text, is_kept in [("hello", True), ("else", False), ("else", False)]:
        inbox = speak(scheduler, [text])
        inbox.wait_done()
        assert [output.cached for output in inbox.rendered] == [is_kept]
    counts = scheduler.cache_counts()
    assert (counts.num_entries, counts.num_bytes, counts.num_pinned) == (0, 0, 1)
    scheduler.close()


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(1, 60_000), st.sampled_from([None, None, 1, 2])), max_size=40)
)
def test_the_cache_stays_within_its_limits(asked: list[tuple[int, int, int | None]]) -> None:
    """Bytes are counted correctly within both limits, and audio that is found belongs to its key."""
    cache = SoundCache(300_000, 200_000)
    for number, num_samples, group in asked:
        each = segment(f"text {number}")
        keeping = cache.look_up(key(each), group)
        if keeping.found is not None:
            assert keeping.found.samples[0] == number
            continue
        keeping.add(np.full(num_samples, number, np.float32))
        cache.keep(keeping, ToneEngine().plan(each, OPTIONS), ToneEngine.HOP)
    for group in (1, 2):
        counts = cache.counts
        assert counts.num_bytes <= 300_000
        assert counts.pinned_bytes <= 200_000
        assert counts.num_bytes == sum(kept.samples.nbytes for kept in cache._recent.values())
        assert counts.pinned_bytes == sum(kept.samples.nbytes for kept, _ in cache._pinned.values())
        assert all(kept.samples.nbytes <= MAX_ENTRY_BYTES for kept in cache._recent.values())
        assert not cache._recent.keys() & cache._pinned.keys()
        cache.unpin(group)
    assert cache.counts.num_pinned == 0


def test_the_least_recently_used_audio_is_evicted_first() -> None:
    """A lookup counts as use."""
    cache = SoundCache(2 * 4_000, 0)
    keys = [key(segment(text)) for text in "abc"]

    def put(number: int) -> None:
        keeping = cache.look_up(keys[number], None)
        keeping.add(np.zeros(1_000, np.float32))
        cache.keep(keeping, ToneEngine().plan(segment("abc"[number]), OPTIONS), ToneEngine.HOP)

    put(0)
    put(1)
    assert cache.look_up(keys[0], None).found
    put(2)
    assert [cache.look_up(each, None).found is not None for each in keys] == [True, False, True]


def test_cached_audio_cannot_be_changed() -> None:
    """Its samples are read-only."""
    kept = CachedSound.of(ToneEngine().plan(BASE, OPTIONS), np.zeros(480, np.float32), 240)
    with pytest.raises(ValueError, match="read-only"):
        kept.samples[0] = 1.0
    assert all(isinstance(samples, np.ndarray) for samples, _ in kept.pieces(kept.at(BASE), 24_000))
