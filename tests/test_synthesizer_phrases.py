"""Tests of pinned phrases."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine
from yuliu.errors import InvalidRequest, NothingToSpeak, UnknownVoice
from yuliu.scheduler.settings import Settings
from yuliu.stream import StreamOptions
from yuliu.synthesizer import Synthesizer
from yuliu.types import SpeakOptions

VOICES = {"tone": {"zh": "tone", "en": "tone"}, "other": {"en": "tone"}}
GREETING = "Good morning, how can I help you? 您好，请问有什么可以帮您？"


def synthesizer(engine: ToneEngine, settings: Settings | None = None) -> Synthesizer:
    return Synthesizer([local_spec("tone", lambda: engine)], VOICES, default="tone", num_workers=1, settings=settings)


def test_a_pinned_phrase_needs_no_engine() -> None:
    """Samples, timings and coverage are the same; other texts and options are rendered."""
    engine = ToneEngine()
    with synthesizer(ToneEngine()) as plain, synthesizer(engine) as toy:
        toy.pin([GREETING, "Goodbye."])
        before = engine.num_plans, engine.num_steps
        spoken, expected = toy.speak(GREETING), plain.speak(GREETING)
        assert (engine.num_plans, engine.num_steps) == before
        assert np.array_equal(spoken.samples, expected.samples)
        assert spoken.timings == expected.timings
        assert spoken.coverage == expected.coverage
        assert toy.pinned == {"tone": (GREETING, "Goodbye.")}
        fast = StreamOptions(SpeakOptions(speed=2.0))
        assert len(toy.speak("Goodbye.", options=fast).samples) < len(plain.speak("Goodbye.").samples)
        assert engine.num_plans > before[0]


def test_unpinned_phrases_are_rendered_again() -> None:
    """One phrase, those of a voice, or all are released; an unknown phrase is no error."""
    engine = ToneEngine()
    with synthesizer(engine) as toy:
        toy.pin(["one", "two"])
        toy.pin(["one"], voice="other")
        toy.unpin(["two", "three"])
        assert toy.pinned == {"tone": ("one",), "other": ("one",)}
        toy.unpin(voice="other")
        assert toy.pinned == {"tone": ("one",)}
        num_plans = engine.num_plans
        toy.speak("one")
        assert engine.num_plans == num_plans  # the other voice's pin is gone, this one's is not
        toy.unpin()
        assert not toy.pinned
        toy.speak("one")
        assert engine.num_plans == num_plans + 1
        assert toy._scheduler.cache_counts().num_pinned == 0


def test_pinning_again_replaces_the_phrase() -> None:
    """The same phrase with other options is a second one."""
    engine = ToneEngine()
    with synthesizer(engine) as toy:
        for speed in (1.0, 1.0, 2.0):
            toy.pin(["one"], options=StreamOptions(SpeakOptions(speed=speed)))
        assert toy.pinned == {"tone": ("one",)}
        assert toy._scheduler.cache_counts().num_pinned == 2
        toy.unpin(["one"])
        assert toy._scheduler.cache_counts().num_pinned == 0


def test_a_failed_pin_leaves_nothing() -> None:
    """Phrases before the failed one stay pinned."""
    with synthesizer(ToneEngine(), Settings(phrase_bytes=100_000)) as toy:
        with pytest.raises(NothingToSpeak):
            toy.pin(["one", "...", "two"])
        with pytest.raises(UnknownVoice):
            toy.pin(["three"], voice="nobody")
        with pytest.raises(InvalidRequest, match="no room"):
            toy.pin(["this one is rather long for so little room, is it not, as it goes on and on"])
        assert toy.pinned == {"tone": ("one",)}
        counts = toy._scheduler.cache_counts()
        assert counts.num_pinned == 1
        assert counts.pinned_bytes <= 100_000
        toy.pin(["two"])


def test_many_threads_can_pin() -> None:
    """Each phrase is pinned once."""
    with synthesizer(ToneEngine()) as toy:
        threads = [threading.Thread(target=toy.pin, args=([f"one {n}", "all"],)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(toy.pinned["tone"]) == {"all", *(f"one {n}" for n in range(6))}
        assert toy._scheduler.cache_counts().num_pinned == 7
        toy.unpin()
        assert toy._scheduler.cache_counts().num_pinned == 0
