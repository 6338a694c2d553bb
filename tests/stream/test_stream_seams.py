"""Listening tests of joints with effects: none is audible with real voices and random steps; planted faults are."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import manual_stream
import numpy as np
import pytest
from manual_stream import ManualScheduler, open_manual_stream
from seams import Seams, seams

from yuliu.audio.chain import Effects
from yuliu.audio.compressor import Compression
from yuliu.engines.api import StepRequest
from yuliu.engines.registry import DERIVATIONS
from yuliu.scheduler.outputs import Rendered
from yuliu.stream import StreamOptions
from yuliu.synthesizer import load_voice
from yuliu.types import Finished, SpeakOptions
from yuliu.voices import VoiceStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from yuliu.engines.api import Engine
    from yuliu.types import Samples

    Spoil = Callable[[Samples, int], Samples]

pytestmark = pytest.mark.voices

RATE = 24_000
TEXTS = {
    "heart": "The quick brown fox jumps over the lazy dog. It will rain at half past three this afternoon, they say.",
    "baker": "今天天气很好，我们一起去公园散步吧。明天上午九点，会议在三楼举行，请大家准时参加。",
}
EFFECTS = {
    "nothing": Effects(),
    "louder": Effects(volume_db=12.0),
    "higher": Effects(pitch_semitones=2.0),
    "lower": Effects(pitch_semitones=-3.0),
    "levelled": Effects(level=True),
    "all": Effects(6.0, 1.5, level=True, compression=Compression(), highpass=True),
}


@pytest.fixture(scope="module", params=sorted(TEXTS))
def voice(request: pytest.FixtureRequest) -> Iterator[tuple[Engine, str]]:
    engine, *_ = load_voice(VoiceStore(derivations=DERIVATIONS), request.param).values()
    yield engine, TEXTS[request.param]
    engine.close()


def as_it_is(samples: Samples, number: int) -> Samples:
    return samples


def without_40_samples(samples: Samples, number: int) -> Samples:
    return samples[40:]


def softer(samples: Samples, number: int) -> Samples:
    return samples * np.float32(0.5) if number % 2 else samples


async def spoken(
    voice: tuple[Engine, str], options: StreamOptions, seed: int, *, paces: bool, spoil: Spoil = as_it_is
) -> tuple[list[Samples], list[int]]:
    """Return the chunks of a stream with steps of random length, optionally spoilt, and the places of the steps."""
    random, scheduler, joints, number = np.random.default_rng(seed), ManualScheduler(), [], 0
    scheduler.engine, text = voice
    pace = 1.0 if paces else options.speak.speed
    stream = open_manual_stream(scheduler, options, paces=paces)
    await scheduler.admit()
    await stream.push(text)
    await stream.end()
    for place in range(len(scheduler.segments)):
        utterance, num_in, own = await scheduler.plan(place), 0, []
        while not utterance.done:
            (result,) = scheduler.engine.step([StepRequest(utterance, int(random.integers(2, 17)))])
            utterance, samples = result.utterance, spoil(result.samples, number)
            await scheduler.say(Rendered(0, samples, utterance))
            own.append(num_in)
            num_in += len(samples)
            number += 1
        begin = sum(len(ready.chunk.samples) for ready in stream._ready) - round(num_in / pace)
        joints += [begin + round(each / pace) for each in own[1:]]
    chunks = [chunk.samples async for chunk in stream]
    assert isinstance(stream.ending, Finished)
    return chunks, joints


def judge(chunks: list[Samples], joints: list[int] | None = None) -> Seams:
    """Judge the joints between chunks, or other places."""
    borders = np.cumsum([len(chunk) for chunk in chunks])[:-1]
    return seams(np.concatenate(chunks), RATE, borders if joints is None else joints)


@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.parametrize("paces", [True, False])
def test_joints_are_inaudible_with_effects(voice: tuple[Engine, str], name: str, paces: bool) -> None:
    """This holds for any effects and steps, and for a voice with its own paces and a stretched one."""
    options = StreamOptions(SpeakOptions(speed=1.2), effects=EFFECTS[name])
    for seed in range(2):
        chunks, steps = manual_stream.run(spoken(voice, options, seed, paces=paces))
        for found in (judge(chunks), judge(chunks, steps)):
            assert found.num_judged > 30
            assert not found.heard, found


@pytest.mark.parametrize("name", EFFECTS)
def test_a_loss_behind_the_chain_is_audible(voice: tuple[Engine, str], name: str) -> None:
    """A loss of 40 samples at every joint of the output is detected."""
    chunks, _ = manual_stream.run(spoken(voice, StreamOptions(effects=EFFECTS[name]), 1, paces=True))
    assert judge([chunk[40:] for chunk in chunks]).jump_sigmas > 4


@pytest.mark.parametrize("name", EFFECTS)
def test_a_step_of_the_gain_behind_the_chain_is_audible(voice: tuple[Engine, str], name: str) -> None:
    """A change of 6 dB, alternately up and down, is detected."""
    chunks, _ = manual_stream.run(spoken(voice, StreamOptions(effects=EFFECTS[name]), 1, paces=True))
    assert judge([softer(chunk, number) for number, chunk in enumerate(chunks)]).break_sigmas > 4


@pytest.mark.parametrize("name", ["nothing", "louder", "levelled"])
@pytest.mark.parametrize("spoil", [without_40_samples, softer])
def test_a_fault_of_the_engine_is_audible_through_the_chain(voice: tuple[Engine, str], name: str, spoil: Spoil) -> None:
    """Effects do not hide it, except for those that reassemble the audio."""
    chunks, steps = manual_stream.run(spoken(voice, StreamOptions(effects=EFFECTS[name]), 1, paces=True, spoil=spoil))
    assert judge(chunks, steps).heard


@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.parametrize("paces", [True, False])
def test_any_steps_give_the_same_samples(voice: tuple[Engine, str], name: str, paces: bool) -> None:
    """The samples of real voices agree bit for bit."""
    options = StreamOptions(SpeakOptions(speed=1.2), effects=EFFECTS[name])
    found = [manual_stream.run(spoken(voice, options, seed, paces=paces))[0] for seed in (1, 2, 3)]
    for one, other in pairwise(found):
        assert np.array_equal(np.concatenate(one), np.concatenate(other))
