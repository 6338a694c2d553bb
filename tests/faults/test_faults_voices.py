"""Faults that others had with real speech: cut words, clicks, mixed listeners, memory that grows.

The fault and where it was reported stands with each test; docs/design/others-faults.md lists all of them.
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
"""No sample of the first and last milliseconds is above this: 40 dB below full scale."""
NUM_SENTENCES = 1_000
NUM_UNTIL_SETTLED = 400
VOICES_IN_TURN = [*(("heart", "Yes, {}."),) * 6, ("baker", "第{}号。")]
FORMATS_IN_TURN = ["pcm", "opus", "wav", "pcm", "mp3"]
MAX_GROWTH_BYTES = 8 << 20
"""Less than a twentieth of the sound of the sentences after the first ones."""


@pytest.fixture(scope="module")
def synthesizer() -> Iterator[Synthesizer]:
    """The real voices, in this process."""
    with yuliu.open() as synthesizer:
        yield synthesizer


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server with real voices, ready to speak."""
    with serving(yuliu.open) as port:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE_S) as client:
            while client.get("/ready").status_code != 200:
                time.sleep(0.02)
        yield port


def level_db(samples: Samples) -> float:
    return float(10 * np.log10(np.mean(np.square(samples, dtype=np.float64)) + 1e-12))


@pytest.mark.parametrize(("voice", "text"), WORDS)
def test_one_word_is_spoken_whole(synthesizer: Synthesizer, voice: str, text: str) -> None:
    """It sounds, begins and ends softly, and takes the time of a word.

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
def test_the_first_word_is_heard_from_its_beginning(synthesizer: Synthesizer, voice: str, text: str) -> None:
    """It is about as loud as the rest, and what comes before it is quiet.

    sherpa-onnx#1777: the first word is lost, #2757: the first phoneme. Here silence is cut at the start of a stream,
    which must not cut the word.
    """
    audio = synthesizer.speak(text, voice=voice)
    first = audio.timings[0]
    word = audio.samples[round(first.start_s * RATE) : round(first.end_s * RATE)]
    onset_s = np.flatnonzero(np.abs(audio.samples) > AUDIBLE)[0] / RATE
    assert level_db(word) > level_db(audio.samples) - 6
    assert 0.005 < onset_s < 0.06
    assert onset_s < first.end_s


@pytest.mark.parametrize(("voice", "text"), BEGINNINGS)
def test_what_is_cut_before_the_first_word_is_silent(voice: str, text: str) -> None:
    """All that the model makes before it is asked for, too, and looked at."""
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
    """All of its sound."""
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
    """What a player makes of the answer has all of the sound, and as much of it at the end.

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
    assert len(heard) - len(made) - delay < 0.1 * RATE  # and no sound of a container's bytes behind it
    assert np.abs(heard[delay + len(made) :]).max(initial=0) < 3 * STILL


def _delay(heard: Samples, made: Samples) -> int:
    size = 1 << 17
    spectrum = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(made, size))
    return int(np.argmax(np.fft.irfft(spectrum)[: len(heard)]))


def test_listeners_at_a_time_hear_their_own_text(port: int, synthesizer: Synthesizer) -> None:
    """Two voices, both doors, all at once: every sample is that of the text alone.

    RealtimeTTS#230 and #310, alltalk_tts#290: sound of one client reaches another. unmute: a new client receives
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
        asked = [(voice, pool.submit(door, voice)) for voice in texts for door in (over_http, over_websocket) * 2]
        assert [voice for voice, answer in asked if answer.result() != wanted[voice]] == []


@pytest.mark.parametrize("voice", ["heart", "baker"])
async def test_chunks_belong_to_their_reader(synthesizer: Synthesizer, voice: str) -> None:
    """Kept, they stay what they were; changed, they change nothing that comes later, nor the next stream.

    sherpa-onnx#1357: the samples of a callback are silence later, since their memory was the engine's.
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
    """Each word and each character has its time, in which something sounds.

    Kokoro-FastAPI#236, #237, #327, #205: a Mandarin voice leaves English out. CosyVoice#1825: mixed sentences are
    garbled or shortened. sherpa-onnx#2248: a voice reads "Chinese letter, Chinese letter".
    """
    audio = synthesizer.speak(text)
    assert audio.coverage.spoken == (Span(0, len(text)),)
    said = {char for timing in audio.timings for char in text[timing.source.start : timing.source.end]}
    assert said == set(text) - set(" ,。?")
    for timing in audio.timings:
        sound = audio.samples[round(timing.start_s * RATE) : round(timing.end_s * RATE)]
        assert level_db(sound) > level_db(audio.samples) - 20, timing


def test_timings_name_what_the_writer_wrote(synthesizer: Synthesizer) -> None:
    """Whatever words a price or a range becomes, their place is that of the price or the range.

    Kokoro-FastAPI#368 and #264: timings name normalised words ("thirtyPM"), which captions cannot be made of.
    """
    text = "It costs $100 after 9:30PM at 40-60°C."
    audio = synthesizer.speak(text)
    places = dict.fromkeys(text[timing.source.start : timing.source.end] for timing in audio.timings)
    assert list(places) == ["It", "costs", "$100", "after", "9:30PM", "at", "40-60°C"]
    ends = [timing.end_s for timing in audio.timings]
    assert ends == sorted(ends)


@pytest.mark.slow
def test_memory_stays_flat_over_a_thousand_sentences(port: int) -> None:
    """All different and short, in turn in both languages and some formats.

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


def test_a_long_text_is_there_before_a_client_loses_patience(port: int, synthesizer: Synthesizer) -> None:
    """1,500 characters, for a client that waits ten seconds for anything to come: all of it comes.

    Home Assistant (addons#3360, #3379, core#148602): time is up, the connection is reset, the file is empty, since
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


def test_trailing_bytes_of_one_answer_are_no_sound_of_the_next(port: int, synthesizer: Synthesizer) -> None:
    """Answers sentence by sentence, put together as listeners do, are the sentences and nothing between them.

    Kokoro-FastAPI#463: clicks where the container's last bytes were taken for samples.
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
