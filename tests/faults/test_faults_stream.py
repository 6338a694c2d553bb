"""Faults of other projects with text that arrives while it is spoken, and with its timings.

Each test names the fault and where it was reported; docs/design/others-faults.md lists all of them.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from manual_stream import ManualScheduler, advance, open_manual_stream, run
from native import pcm_of, talking
from serving import running_server

from yuliu.playback.jitter_buffer import JitterBuffer
from yuliu.segmenter import Segmenter
from yuliu.stream import StreamLimits, StreamOptions
from yuliu.text.en import English
from yuliu.text.zh import Mandarin
from yuliu.types import Finished, Segment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from native import Told
    from serving import Running

PARAGRAPHS = "\n\n".join(
    " ".join(f"Sentence {number} of paragraph {name} is here." for number in ("one", "two", "three"))
    for name in ("A", "B", "C")
)
CLAUSES = ", ".join(f"it was the {noun} of {noun}s" for noun in ("best", "worst", "age", "spring", "winter", "epoch"))
TIMED = [
    "好的，OK。",
    "point.\nSecond",
    "**Arg #1** is the `first`, and _this_ the second.",
    "Well—yes (a small group)—and then we left… 好。",
    CLAUSES,
    PARAGRAPHS,
]


SLOW = "It is a slow model, and every word of it comes late. But it comes."


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """An ordinary server, shared by the tests of this file."""
    with running_server() as server:
        yield server


def timings_of(running: Running, text: str, *, size: int = 1_000, **start: Any) -> tuple[list[list[Any]], Told]:
    """Return the timings and the end of a text that arrives in deltas of a size."""
    with talking(running.port) as talk:
        talk.say("start", **start)
        for at in range(0, len(text), size):
            talk.say("text", text=text[at : at + size])
        talk.say("end")
        done = talk.until("done")
        return [timing for message in talk.told("timing") for timing in message["timings"]], done


def words_in(text: str) -> list[str]:
    """Return the words of a text without punctuation: Chinese characters and English words."""
    return re.findall(r"[一-鿿]|[A-Za-z0-9]+", text)


@pytest.mark.parametrize("speed", [0.7, 1.0, 1.1, 1.2, 1.3, 2.0])
@pytest.mark.parametrize("text", [PARAGRAPHS, CLAUSES])
def test_no_sentence_is_skipped_at_any_pace(running: Running, text: str, speed: float) -> None:
    """Each word has a time, in order, and nothing failed.

    Kokoro-FastAPI#343: of several paragraphs, sentences are missing at speeds of 1.0 to 1.2. pocket-tts#38: so are
    clauses of a long sentence that has commas only.
    """
    timings, done = timings_of(running, text, speed=speed)
    assert [timing[0] for timing in timings] == words_in(text)
    assert done["failed"] == []
    assert sum(end - start for start, end in done["spoken"]) == len(text) - sum(
        end - start for start, end, _ in done["skipped"]
    )


@pytest.mark.parametrize("size", [1, 7, 1_000])
@pytest.mark.parametrize("text", TIMED)
def test_timings_are_enough_for_captions(running: Running, text: str, size: int) -> None:
    """Each word occurs once with its place in the source; the text between two places is the original.

    livekit/agents-js#2066: words come without the characters between them. livekit/agents#6312: Chinese marks and
    line ends are lost. livekit/agents#889: captions drift by the length of the markup.
    Kokoro-FastAPI#331: captions are null, or come twice.
    """
    timings, done = timings_of(running, text, size=size)
    places = [(start, end) for _, _, _, start, end in timings]
    assert [word for timing in timings for word in words_in(timing[0])] == words_in(text)
    assert all(before == after or before[1] <= after[0] for before, after in pairwise(places))
    ends = [end for _, _, end, _, _ in timings]
    assert ends == sorted(ends)
    assert ends[-1] <= done["audio_ms"]


def test_a_stream_waits_for_a_slow_writer() -> None:
    """With a word every two seconds, all is spoken, and the stream ends when the writer ends it.

    linux-voice-assistant#29: playback ends when words arrive more slowly than they are spoken.
    """

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler, StreamOptions(limits=StreamLimits(idle_text_s=60.0)))
        await scheduler.admit()
        num_made = 0
        words = SLOW.split()
        for word in words:
            await stream.push(f"{word} ")
            await advance(2.0)
            for number in range(num_made, len(scheduler.segments)):
                await scheduler.make(number)
            num_made = len(scheduler.segments)
            assert stream.ending is None
        await stream.end()
        for number in range(num_made, len(scheduler.segments)):
            await scheduler.make(number)
        num_samples = sum([len(chunk.samples) async for chunk in stream])
        assert isinstance(stream.ending, Finished)
        assert stream.ending.coverage.failed == ()
        assert num_samples > 2_400 * len(words)
        said = "".join(segment.text for segment, _ in scheduler.segments)
        assert said.split() == words

    run(check())


def test_a_player_waits_for_a_slow_writer() -> None:
    """Repeated gaps of two seconds are silence and not the end; then the rest is played.

    linux-voice-assistant#29; here with the buffer of our own player.
    """
    buffer, now, heard = JitterBuffer(1_000), 0.0, []
    for word in range(1, 6):
        buffer.put(np.full(400, word, np.float32), now)
        for _ in range(100):
            assert not buffer.is_over
            heard += buffer.take(20, now).tolist()
            now += 0.02
    buffer.end()
    assert buffer.is_over
    assert [sample for sample in heard if sample] == [word for word in range(1, 6) for _ in range(400)]


def texts_of(deltas: list[str]) -> list[Segment]:
    """Return the segments of a text in deltas."""
    segmenter = Segmenter()
    return [*(each for delta in deltas for each in segmenter.push(delta)), *segmenter.flush()]


@pytest.mark.parametrize(
    ("deltas", "whole"),
    [
        (["It costs $3", ".", "5 for small", " ones. Then more."], "$3.5 for small ones."),
        (["It is 98.", "6", "°F", " and that is normal."], "98.6°F"),
        (["See www.exam", "ple.", "com", " for it."], "www.example.com"),
        (["They write example.", "ai", " on every wall."], "example.ai"),
        (["It was v1.", "2.", "3 of it in all."], "v1.2.3"),
        (["at exactly 12", "pm on Nov", "ember 29", "th, 20", "24! Yes."], "November 29th, 2024!"),
    ],
)
def test_numbers_split_into_tokens_stay_whole(deltas: list[str], whole: str) -> None:
    """Prices, degrees, URLs, versions and dates that arrive in tokens are in one segment.

    stream2sentence#2: "$3" "." "5 for small" is read as two prices. pocket-tts#162: "98.6°F". RealtimeTTS#223: words
    cut in the middle. LiveKit's splitter: "example. ai", "v1.2. 3".
    """
    texts = [segment.text for segment in texts_of(deltas)]
    assert any(whole in text for text in texts), texts


@pytest.mark.parametrize("text", ["approx. 5 dollars vs. 6 dollars", "It was released on Jan. 5 this year."])
def test_abbreviations_do_not_end_a_sentence(text: str) -> None:
    """LiveKit's splitter: "approx. 5 dollars vs." and "6 dollars" are two sentences."""
    assert len(texts_of([text])) == 1


def test_words_that_resemble_splitter_marks_survive() -> None:
    """LiveKit's splitter: a text with ``<stop>`` or ``<prd>`` is changed."""
    text = "Write <prd> and <stop> here. Then go on."
    assert "".join(segment.text for segment in texts_of(list(text))) == text


def test_one_chinese_character_does_not_change_english_segmentation() -> None:
    """Kokoro-FastAPI: one hanzi, and the whole text is cut by Chinese marks alone: one oversize sentence."""
    text = "The first sentence is this one. The second has 好 in it. The third one follows it here. And a fourth one."
    with_hanzi = [segment.text.strip() for segment in texts_of([text])]
    without = [segment.text.strip() for segment in texts_of([text.replace("好", "ok")])]
    assert [each.replace("好", "ok") for each in with_hanzi] == without
    assert len(without) > 1


@pytest.mark.parametrize("text", ["！！！", "😀", "……", "。"])
def test_symbols_alone_are_not_spoken(text: str) -> None:
    """CosyVoice's front end returns nothing for them, and the server 200 without a byte."""
    for front_end in (Mandarin(), English()):
        reading = front_end.read(text)
        assert not reading.units
        assert ("symbol" in {each.rule for each in reading.skipped}) is (text == "😀")


def test_a_proverb_is_read_correctly() -> None:
    """CosyVoice#1079: the first two characters are read xing2."""
    pinyin = [unit.pinyin for unit in Mandarin().read("三百六十行，行行出状元。").units if unit.pinyin]
    assert pinyin[-5:] == ["hang2", "hang2", "chu1", "zhuang4", "yuan2"]


def test_pauses_do_not_depend_on_how_text_arrives(running: Running) -> None:
    """wyoming-piper#41: the silence between sentences is gone once text is streamed."""
    text = "This is the first one. This is the second one.\n\nAnd a paragraph."
    with talking(running.port) as talk:
        talk.say("start")
        for char in text:
            talk.say("text", text=char)
        talk.say("end")
        talk.until("done")
        assert talk.sound(1) == pcm_of(running, text)
    samples = np.frombuffer(pcm_of(running, text), "<i2")
    silent = np.flatnonzero(np.abs(samples) > 0)
    gaps_s = np.diff(silent)[np.diff(silent) > 2_400] / 24_000
    assert len(gaps_s) == 2
    assert 0.2 < gaps_s[0] < gaps_s[1]
