"""Tests of a server whose voices have different sample rates: each is resampled once, to the rate of the output."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import httpx
import numpy as np
import pytest
from serving import PATIENCE_S, started

from yuliu.audio.encode import whole
from yuliu.audio.formats import choose_encoding
from yuliu.audio.pcm import to_s16le
from yuliu.audio.wav import HEADER_NUM_BYTES
from yuliu.engines.registry import DERIVATIONS, local_spec
from yuliu.engines.tone import ToneEngine
from yuliu.stream import StreamOptions
from yuliu.synthesizer import Synthesizer, load_voice
from yuliu.voices import VoiceStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.types import Lang

VOICES: dict[str, dict[Lang, str]] = {
    "both": {"zh": "zh24", "en": "en22"},
    "zh24": {"zh": "zh24"},
    "en22": {"en": "en22"},
}
TEXT = "你好，hello there. 今天天气很好，是 a good day."


def mixed_synthesizer() -> Synthesizer:
    engines = [
        local_spec("zh24", partial(ToneEngine, languages=("zh",))),
        local_spec("en22", partial(ToneEngine, languages=("en",), sample_rate=22_050)),
    ]
    return Synthesizer(engines, VOICES, default="both")


@contextmanager
def served(synthesizer: Synthesizer) -> Iterator[httpx.Client]:
    with (
        started(lambda: synthesizer) as server,
        httpx.Client(base_url=f"http://127.0.0.1:{server.port}", timeout=PATIENCE_S) as client,
    ):
        while client.get("/ready").status_code != 200:
            pass
        yield client


@pytest.fixture(scope="module")
def mixed() -> Iterator[tuple[Synthesizer, httpx.Client]]:
    synthesizer = mixed_synthesizer()
    with served(synthesizer) as client:
        yield synthesizer, client


def speech(client: httpx.Client, **fields: object) -> httpx.Response:
    answer = client.post("/v1/audio/speech", json={"input": TEXT, "response_format": "pcm", **fields})
    assert answer.status_code == 200, answer.text
    return answer


@pytest.mark.parametrize(("voice", "rate"), [("both", 24_000), ("zh24", 24_000), ("en22", 22_050)])
def test_the_default_rate_of_the_output_is_that_of_the_voice(
    mixed: tuple[Synthesizer, httpx.Client], voice: str, rate: int
) -> None:
    """The audio is the library's, without resampling by the encoder."""
    synthesizer, client = mixed
    answer = speech(client, voice=voice, response_format="wav")
    assert answer.headers["x-sample-rate"] == str(rate)
    assert answer.content[HEADER_NUM_BYTES:] == to_s16le(synthesizer.speak(TEXT, voice=voice).samples)


@pytest.mark.parametrize("rate", [8_000, 16_000, 48_000])
def test_audio_is_resampled_straight_to_the_rate_of_the_output(
    mixed: tuple[Synthesizer, httpx.Client], rate: int
) -> None:
    """The stream has the rate of the output, so the encoder resamples nothing."""
    synthesizer, client = mixed
    answer = speech(client, voice="both", sample_rate=rate)
    audio = synthesizer.speak(TEXT, options=StreamOptions(sample_rate=rate))
    assert (answer.headers["x-sample-rate"], audio.sample_rate) == (str(rate), rate)
    assert answer.content == to_s16le(audio.samples)


def test_a_server_whose_voices_share_a_rate_resamples_in_the_encoder() -> None:
    """The stream has the rate of the voice."""
    engine = local_spec("tone", ToneEngine)
    with served(Synthesizer([engine], {"tone": {"zh": "tone", "en": "tone"}}, default="tone")) as client:
        answer = speech(client, sample_rate=16_000)
    with Synthesizer([engine], {"tone": {"zh": "tone", "en": "tone"}}, default="tone") as alone:
        audio = alone.speak(TEXT)
    assert answer.content == whole(audio.samples, choose_encoding("pcm", 24_000, sample_rate=16_000), 24_000)


@pytest.mark.voices
def test_a_real_voice_shares_a_stream_with_an_engine_of_another_rate() -> None:
    """Its parts are those of the voice alone; over HTTP and in the library the audio is the same."""
    baker = load_voice(VoiceStore(derivations=DERIVATIONS), "baker")["zh"]
    engines = [
        local_spec("baker", lambda: baker),
        local_spec("en22", partial(ToneEngine, languages=("en",), sample_rate=22_050)),
    ]
    voices: dict[str, dict[Lang, str]] = {"both": {"zh": "baker", "en": "en22"}, "baker": {"zh": "baker"}}
    synthesizer = Synthesizer(engines, voices, default="both", num_workers=1)
    with served(synthesizer) as client:
        answer = speech(client, voice="both")
        audio, alone = synthesizer.speak(TEXT), synthesizer.speak("你好，", voice="baker")
        low = speech(client, voice="both", response_format="mulaw")
    assert answer.content == to_s16le(audio.samples)
    assert np.array_equal(audio.samples[: len(alone.samples)], alone.samples)
    assert [timing.text for timing in audio.timings][:4] == ["你", "好", "hello", "there"]
    assert not audio.coverage.failed
    assert len(low.content) / 8_000 == pytest.approx(audio.duration_s, abs=0.01)
