"""Phrases that are spoken ahead and kept."""

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


def test_a_pinned_phrase_is_spoken_without_the_engine() -> None:
    """The same samples, timings and coverage as without; other texts and other options are made."""
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


def test_unpinned_phrases_are_made_again() -> None:
    """One, those of a voice, or all; what is not pinned is no error."""
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


def test_pinned_again_it_is_pinned_once() -> None:
    """Also with other options beside."""
    engine = ToneEngine()
    with synthesizer(engine) as toy:
        for speed in (1.0, 1.0, 2.0):
            toy.pin(["one"], options=StreamOptions(SpeakOptions(speed=speed)))
        assert toy.pinned == {"tone": ("one",)}
        assert toy._scheduler.cache_counts().num_pinned == 2
        toy.unpin(["one"])
        assert toy._scheduler.cache_counts().num_pinned == 0


def test_what_cannot_be_pinned_leaves_nothing() -> None:
    """The error says why; those before it stay."""
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


def test_pinning_from_many_threads() -> None:
    """Each phrase is there once."""
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
