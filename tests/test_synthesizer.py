"""Tests of the synthesizer."""

from __future__ import annotations

import asyncio
import math
import wave
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx
import numpy as np
import pytest
from serving import serving

import yuliu
from yuliu.audio.pcm import to_s16le
from yuliu.errors import NothingToSpeak, UnknownVoice, VoiceNotReady
from yuliu.scheduler.policy.events import Terms
from yuliu.scheduler.policy.tuning import Tuning
from yuliu.stream import StreamOptions
from yuliu.synthesizer import Audio, Synthesizer
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from yuliu.stream import Stream

MIXED = "我们的 Python 服务在 2024年5月1日 上线，it went well. 大家辛苦了！See you."


def test_speak_returns_samples_timings_and_coverage(tone_synthesizer: Synthesizer) -> None:
    """The result holds all information about the spoken text."""
    audio = tone_synthesizer.speak("One two.")
    assert [timing.text for timing in audio.timings] == ["One", "two"]
    assert audio.coverage.spoken == ((0, 8),)
    assert audio.duration_s == len(audio.samples) / audio.sample_rate


def test_audio_is_saved_as_a_wav_file(tone_synthesizer: Synthesizer, tmp_path: Path) -> None:
    """The header states its length."""
    audio = tone_synthesizer.speak("One two.")
    audio.save(tmp_path / "sound.wav")
    with wave.open(str(tmp_path / "sound.wav")) as file:
        assert file.getnframes() == len(audio.samples)
        assert file.readframes(file.getnframes()) == to_s16le(audio.samples)


@pytest.mark.parametrize("text", ["", " \n", "。。。"])
def test_text_without_words_raises_an_error(tone_synthesizer: Synthesizer, text: str) -> None:
    """The result is not empty audio."""
    with pytest.raises(NothingToSpeak):
        tone_synthesizer.speak(text)


def test_an_unknown_voice_is_rejected_with_the_list_of_voices(tone_synthesizer: Synthesizer) -> None:
    """The error is raised before a stream is opened."""
    with pytest.raises(UnknownVoice, match="there are: tone"):
        tone_synthesizer.speak("Hello.", voice="nobody")
    assert tone_synthesizer.num_streams == 0


async def test_speak_works_inside_a_running_loop(tone_synthesizer: Synthesizer) -> None:
    """As in a notebook, the caller blocks and gets the same audio."""
    inside = tone_synthesizer.speak("One two.").samples
    outside = await asyncio.to_thread(lambda: tone_synthesizer.speak("One two.").samples)
    assert np.array_equal(inside, outside)


def test_opening_missing_voices_raises_an_error(tmp_path: Path) -> None:
    """The error names the remedy for unknown and absent voices."""
    with pytest.raises(UnknownVoice, match="baker"):
        yuliu.open("nobody", home=tmp_path)
    with pytest.raises(VoiceNotReady, match="yuliu voices pull"):
        yuliu.open(home=tmp_path)


@pytest.fixture(scope="module")
def real() -> Iterator[Synthesizer]:
    with yuliu.open() as synthesizer:
        yield synthesizer


@pytest.mark.voices
def test_both_languages_are_spoken_completely(real: Synthesizer) -> None:
    """A mixed text is spoken completely, and each word has its place, in order."""
    audio = real.speak(MIXED)
    assert audio.coverage.spoken == ((0, len(MIXED)),)
    assert "Python" in {timing.text for timing in audio.timings}
    starts = [timing.start_s for timing in audio.timings]
    assert starts == sorted(starts)
    assert audio.timings[-1].end_s <= audio.duration_s
    assert 0.05 < np.abs(audio.samples).max() <= 1.0


TEXTS = (
    MIXED,
    "你好，请问有什么可以帮您？",
    "Hello there, what can I do for you today?",
    "会议改到下周三下午三点，地点在二楼的会议室，请大家准时参加。",
    "The train leaves at 7:45 from platform 3, and it takes about two hours.",
    "打开 Bluetooth，然后点击“配对”；it should work within 10 seconds.",
    "一共是 128.50 元。",
    "Well, yes.",
)


async def _spoken(synthesizer: Synthesizer, number: int, *, voice: str, is_cancelled: bool = False) -> bytes:
    """Return the samples of a stream whose text is cut into pieces; a cancelled one returns those before the cancel."""
    text, stream_class = TEXTS[number % len(TEXTS)], list(StreamClass)[number % 3]
    options = StreamOptions(terms=Terms(stream_class, weight=1 + number % 2), stall_s=math.inf)
    size, sound = 1 + number % 5, []

    async def push(stream: Stream) -> None:
        for at in range(0, len(text), size):
            await stream.push(text[at : at + size])
            await asyncio.sleep(0)
        await stream.end()

    async with synthesizer.stream(voice=voice, options=options) as stream:
        pushing = asyncio.ensure_future(push(stream))
        async for chunk in stream:
            sound.append(chunk.samples.tobytes())
            if is_cancelled:
                break
        await asyncio.wait([pushing]) if not is_cancelled else pushing.cancel()
    return b"".join(sound)


@pytest.mark.voices
@pytest.mark.timeout(300)
def test_64_mixed_streams_sound_as_each_alone() -> None:
    """This holds bit for bit for all classes, voices and cuts of the text, while other streams are cancelled."""
    voices = ("yuliu", "baker", "heart")
    everybody = {each: replace(rules, max_waiting=1000, max_wait_s=1e9) for each, rules in Tuning().classes.items()}
    tuning = Tuning(max_load=1e9, classes=everybody)
    with yuliu.open() as synthesizer:
        synthesizer._scheduler.tune(tuning)

        async def together() -> list[bytes]:
            cancelled = (_spoken(synthesizer, n, voice=voices[n % 3], is_cancelled=True) for n in range(16))
            whole = (_spoken(synthesizer, n, voice=voices[n // 8 % 3]) for n in range(64))
            return (await asyncio.gather(*cancelled, *whole))[16:]

        sounds = asyncio.run(together())
        alone: dict[tuple[int, str], bytes] = {}
        for number, sound in enumerate(sounds):
            key = number % len(TEXTS), voices[number // 8 % 3]
            if key not in alone:
                alone[key] = asyncio.run(_spoken(synthesizer, key[0], voice=key[1]))
            assert alone[key] == sound, key
        assert len(alone) == 24
        assert sum(map(bool, alone.values())) > 16  # not every voice speaks both languages
        assert synthesizer.num_streams == synthesizer._scheduler.num_jobs == 0


@pytest.mark.voices
def test_streams_among_others_and_over_http_sound_as_alone(real: Synthesizer) -> None:
    """Eight concurrent streams and the response of a server have the same samples."""
    alone = real.speak(MIXED).samples

    async def one() -> Audio:
        async with real.stream() as stream:
            for char in MIXED:
                await stream.push(char)
            await stream.end()
            return Audio(np.concatenate([chunk.samples async for chunk in stream]), stream.sample_rate)

    async def together() -> list[Audio]:
        return await asyncio.gather(*(one() for _ in range(8)))

    assert all(np.array_equal(audio.samples, alone) for audio in asyncio.run(together()))
    with yuliu.open() as other, serving(lambda: other) as port:
        url = f"http://127.0.0.1:{port}"
        while httpx.get(f"{url}/ready").status_code != 200:
            pass
        answer = httpx.post(f"{url}/v1/audio/speech", json={"input": MIXED, "response_format": "pcm"}, timeout=60)
    assert answer.content == to_s16le(alone)
