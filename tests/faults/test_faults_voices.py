"""Faults of other projects with real speech: cut words, clicks, mixed listeners, growing memory.

Each test names the fault and where it was reported; docs/design/others-faults.md lists all of them.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx
import numpy as np
import psutil
import pytest
from decoded import decoded
from native import talking
from serving import PATIENCE_S, serving

import yuliu
from yuliu.audio.formats import FORMATS, FormatName, choose_encoding
from yuliu.audio.join import LEAD_S
from yuliu.audio.pcm import to_s16, to_s16le
from yuliu.engines.api import PlanOptions, StepRequest
from yuliu.engines.registry import DERIVATIONS
from yuliu.synthesizer import load_voice
from yuliu.types import Boundary, Segment, Span, SpeakOptions
from yuliu.voices import VoiceStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.engines.api import Engine, Utterance
    from yuliu.synthesizer import Synthesizer
    from yuliu.types import Lang, Samples

pytestmark = pytest.mark.voices

RATE = 24_000
ONE_WORD = {
    "heart": ["Pause.", "Yes", "Hi", "No.", "OK", "Stop!", "Pan Am"],
    "baker": ["好", "嗯。", "停。", "一", "你好"],
}
WORDS = [(voice, text) for voice, texts in ONE_WORD.items() for text in texts]
BEGINNINGS = [
    ("heart", "Hi I'm here."),
    ("heart", "At the event, it rained."),
    ("heart", "The end"),
    ("baker", "他来了。"),
    ("baker", "是的，我知道。"),
]
AUDIBLE = 10 ** (-46 / 20)
STILL = 0.01
"""Maximum level of the first and last milliseconds, 40 dB below full scale."""
NUM_SENTENCES = 1_000
NUM_UNTIL_SETTLED = 400
VOICES_IN_TURN = [*(("heart", "Yes, {}."),) * 6, ("baker", "第{}号。")]
FORMATS_IN_TURN = ["pcm", "opus", "wav", "pcm", "mp3"]
MAX_GROWTH_BYTES = 8 << 20
"""Maximum growth: less than a twentieth of the audio of the sentences after the first ones."""


@pytest.fixture(scope="module")
def synthesizer() -> Iterator[Synthesizer]:
    """The real voices in this process."""
    with yuliu.open() as synthesizer:
        yield synthesizer


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Port of a ready server with the real voices."""
    with serving(yuliu.open) as port:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client:
            while client.get("/ready").status_code != 200:
                time.sleep(0.02)
        yield port


def level_db(samples: Samples) -> float:
    return float(10 * np.log10(np.mean(np.square(samples, dtype=np.float64)) + 1e-12))


@pytest.mark.parametrize(("voice", "text"), WORDS)
def test_one_word_is_spoken_completely(synthesizer: Synthesizer, voice: str, text: str) -> None:
    """It is audible, begins and ends softly, and has the duration of a word.

    Kokoro-FastAPI#239, pocket-tts#313, sherpa-onnx#1695, VibeVoice's own advice: texts of one to three words are
    spelled out, invented, or empty. pocket-tts#171: a click at each start. dsm#109: loud noise at the end.
    """
    audio = synthesizer.speak(text, voice=voice)
    samples, edge = audio.samples, RATE // 200
    assert 0.2 < audio.duration_s < 1.2
    assert audio.coverage.spoken == (Span(0, len(text)),)
    assert level_db(samples) > -30
    assert np.abs(samples[:edge]).max() < STILL
    assert np.abs(samples[-edge:]).max() < STILL
    assert 0 < audio.timings[0].start_s < audio.timings[-1].end_s < audio.duration_s + 0.001


@pytest.mark.parametrize(("voice", "text"), BEGINNINGS)
def test_the_first_word_is_not_cut(synthesizer: Synthesizer, voice: str, text: str) -> None:
    """It is about as loud as the rest, with silence before it.

    sherpa-onnx#1777: the first word is lost, #2757: the first phoneme. Here silence is cut at the start of a stream,
    and the word must not be cut with it.
    """
    audio = synthesizer.speak(text, voice=voice)
    first = audio.timings[0]
    word = audio.samples[round(first.start_s * RATE) : round(first.end_s * RATE)]
    onset_s = np.flatnonzero(np.abs(audio.samples) > AUDIBLE)[0] / RATE
    assert level_db(word) > level_db(audio.samples) - 6
    assert 0.005 < onset_s < 0.06
    assert onset_s < first.end_s


@pytest.mark.parametrize(("voice", "text"), BEGINNINGS)
def test_only_silence_is_cut_before_the_first_word(voice: str, text: str) -> None:
    """The audio before the cut is rendered as well, and checked."""
    engine, *_ = load_voice(VoiceStore(derivations=DERIVATIONS), voice).values()
    lang: Lang = "zh" if voice == "baker" else "en"
    segment = Segment(text, Span(0, len(text)), tuple(range(len(text))), Boundary.SENTENCE, lang)
    try:
        asked = [PlanOptions(SpeakOptions(), lead_s, tail_s=0.0) for lead_s in (2.0, LEAD_S)]
        whole, cut = (rendered(engine, engine.plan(segment, each)) for each in asked)
    finally:
        engine.close()
    before = whole[: len(whole) - len(cut)]
    assert len(before) > 0.02 * RATE
    assert np.abs(before).max() < AUDIBLE


def rendered(engine: Engine, utterance: Utterance) -> Samples:
    """Return all audio of a segment."""
    pieces = []
    while not utterance.done:
        (result,) = engine.step([StepRequest(utterance, 100)])
        utterance = result.utterance
        pieces.append(result.samples)
    return np.concatenate(pieces)


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(("voice", "text"), [("heart", "Goodbye"), ("baker", "再见")])
def test_the_last_syllable_of_one_word_is_in_every_format(
    port: int, synthesizer: Synthesizer, name: FormatName, voice: str, text: str
) -> None:
    """The decoded response has all of the audio, with the same level at the end.

    Kokoro-FastAPI 0.3: the last page of Ogg was lost, and with it the last syllable of one word as opus; #467: the end
    of FLAC and WAV. livekit/agents#1850: decoders complain about the last packet of MP3.
    """
    made = synthesizer.speak(text, voice=voice).samples
    body = {"input": text, "voice": voice, "response_format": name}
    answer = httpx.post(f"http://127.0.0.1:{port}/v1/audio/speech", json=body, timeout=PATIENCE_S)
    encoding = choose_encoding(name, RATE)
    (heard,) = decoded(answer.content, encoding, RATE)
    assert len(heard) >= len(made) - RATE // 1000
    delay = _delay(heard, made)
    assert 0 <= delay < 0.06 * RATE
    end = slice(-RATE // 10, None)
    assert level_db(heard[delay:][: len(made)][end]) == pytest.approx(level_db(made[end]), abs=1.5)
    assert len(heard) - len(made) - delay < 0.1 * RATE  # and the container's last bytes are not audio
    assert np.abs(heard[delay + len(made) :]).max(initial=0) < 3 * STILL


def _delay(heard: Samples, made: Samples) -> int:
    size = 1 << 17
    spectrum = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(made, size))
    return int(np.argmax(np.fft.irfft(spectrum)[: len(heard)]))


def test_concurrent_listeners_hear_their_own_text(port: int, synthesizer: Synthesizer) -> None:
    """With two voices at both endpoints at once, every sample equals that of the text alone.

    RealtimeTTS#230 and #310, alltalk_tts#290: audio of one client reaches another. unmute: a new client receives
    packets of the one before.
    """
    texts = {
        "heart": "This is for the first listener, and for nobody else. She hears twelve words.",
        "baker": "这一段是给第二位听众的，别人都听不到。他听见的是这句话。",
    }
    wanted = {voice: to_s16le(synthesizer.speak(text, voice=voice).samples) for voice, text in texts.items()}

    def over_http(voice: str) -> bytes:
        body = {"input": texts[voice], "voice": voice, "response_format": "pcm"}
        return httpx.post(f"http://127.0.0.1:{port}/v1/audio/speech", json=body, timeout=PATIENCE_S).content

    def over_websocket(voice: str) -> bytes:
        with talking(port) as talk:
            talk.speak(texts[voice], voice=voice)
            talk.until("done")
            return talk.sound(1)

    with ThreadPoolExecutor(8) as pool:
        asked = [
            (voice, pool.submit(endpoint, voice)) for voice in texts for endpoint in (over_http, over_websocket) * 2
        ]
        assert [voice for voice, answer in asked if answer.result() != wanted[voice]] == []


@pytest.mark.parametrize("voice", ["heart", "baker"])
async def test_chunks_are_not_shared(synthesizer: Synthesizer, voice: str) -> None:
    """A kept chunk does not change; changing it affects neither later chunks nor the next stream.

    sherpa-onnx#1357: the samples of a callback become silence, since their memory belongs to the engine.
    """
    text = {"heart": "One part. Another one, which is longer.", "baker": "第一句。第二句更长一些，还有。"}[voice]
    for spoil in (False, True):
        kept, copies = [], []
        async with synthesizer.stream(voice=voice) as stream:
            await stream.push(text)
            await stream.end()
            async for chunk in stream:
                copies.append(chunk.samples.copy())
                kept.append(chunk.samples)
                if spoil and chunk.samples.flags.writeable:
                    chunk.samples[:] = 9.0
        assert len(kept) > 2
        alone = _spoken(synthesizer, text, voice)
        assert np.array_equal(np.concatenate(copies), await alone)
        assert spoil or np.array_equal(np.concatenate(kept), np.concatenate(copies))


async def _spoken(synthesizer: Synthesizer, text: str, voice: str) -> Samples:
    async with synthesizer.stream(voice=voice) as stream:
        await stream.push(text)
        await stream.end()
        return np.concatenate([chunk.samples async for chunk in stream])


@pytest.mark.parametrize("text", ["Kokoro 是一个 TTS 模型。", "是 family, friends, 还是 people?"])
def test_no_language_of_a_mixed_sentence_is_lost(synthesizer: Synthesizer, text: str) -> None:
    """Each word and each character has a time, in which there is audio.

    Kokoro-FastAPI#236, #237, #327, #205: a Mandarin voice omits English. CosyVoice#1825: mixed sentences are
    garbled or shortened. sherpa-onnx#2248: a voice reads "Chinese letter, Chinese letter".
    """
    audio = synthesizer.speak(text)
    assert audio.coverage.spoken == (Span(0, len(text)),)
    said = {char for timing in audio.timings for char in text[timing.source.start : timing.source.end]}
    assert said == set(text) - set(" ,。?")
    for timing in audio.timings:
        sound = audio.samples[round(timing.start_s * RATE) : round(timing.end_s * RATE)]
        assert level_db(sound) > level_db(audio.samples) - 20, timing


def test_timings_refer_to_the_source_text(synthesizer: Synthesizer) -> None:
    """The words of a price or a range refer to its place in the source.

    Kokoro-FastAPI#368 and #264: timings name normalised words ("thirtyPM"), which are useless for captions.
    """
    text = "It costs $100 after 9:30PM at 40-60°C."
    audio = synthesizer.speak(text)
    places = dict.fromkeys(text[timing.source.start : timing.source.end] for timing in audio.timings)
    assert list(places) == ["It", "costs", "$100", "after", "9:30PM", "at", "40-60°C"]
    ends = [timing.end_s for timing in audio.timings]
    assert ends == sorted(ends)


@pytest.mark.slow
def test_memory_is_flat_over_a_thousand_sentences(port: int) -> None:
    """The sentences are short and different, in both languages and some formats.

    Kokoro-FastAPI#262 and #453: memory grows with each sentence, tensors of each request are kept. CosyVoice#491,
    #1453: memory grows with each request.
    """
    process = psutil.Process()
    settled_bytes = 0
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client:
        for done in range(NUM_SENTENCES):
            if done == NUM_UNTIL_SETTLED:
                settled_bytes = process.memory_info().rss
            voice, sentence = VOICES_IN_TURN[done % len(VOICES_IN_TURN)]
            name = FORMATS_IN_TURN[done % len(FORMATS_IN_TURN)]
            body = {"input": sentence.format(done), "voice": voice, "response_format": name, "speed": 2}
            assert client.post("/v1/audio/speech", json=body).status_code == 200
    assert process.memory_info().rss - settled_bytes < MAX_GROWTH_BYTES


def test_a_long_text_starts_within_a_client_timeout(port: int, synthesizer: Synthesizer) -> None:
    """A client with a timeout of ten seconds receives all audio of 1,500 characters.

    Home Assistant (addons#3360, #3379, core#148602): the request times out and the file is empty, since
    nothing is sent before the last sentence is made.
    """
    text = ("This sentence is one of many, and each of them has sixty letters. " * 30)[:1_500]
    made = synthesizer.speak(text, voice="heart")
    body = {"input": text, "voice": "heart", "response_format": "pcm"}
    received = bytearray()
    with httpx.stream("POST", f"http://127.0.0.1:{port}/v1/audio/speech", json=body, timeout=10) as answer:
        pieces = answer.iter_raw()
        received += next(pieces)
        assert len(received) < RATE  # half a second, of a minute and more
        for piece in pieces:
            received += piece
    assert bytes(received) == to_s16le(made.samples)


def test_trailing_bytes_are_not_audio(port: int, synthesizer: Synthesizer) -> None:
    """Responses for single sentences, concatenated, are the sentences with nothing between them.

    Kokoro-FastAPI#463: clicks where the container's last bytes were decoded as samples.
    """
    sentences = ["The first one.", "And the second one."]
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client:
        for name in ("wav", "flac"):
            heard = []
            for text in sentences:
                body = {"input": text, "voice": "heart", "response_format": name}
                answer = client.post("/v1/audio/speech", json=body)
                heard.append(decoded(answer.content, choose_encoding(name, RATE))[0])
            made = np.concatenate([synthesizer.speak(text, voice="heart").samples for text in sentences])
            assert np.array_equal(np.rint(np.concatenate(heard) * 0x8000), to_s16(made))
