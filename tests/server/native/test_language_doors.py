"""``language`` on every endpoint, with languages that the voice speaks and does not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from native import SoundFrame, talking
from serving import serving, tone_synthesizer

import yuliu
from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine
from yuliu.synthesizer import Synthesizer

if TYPE_CHECKING:
    from collections.abc import Iterator

WORDS = {"zh": "两千零二十四", "en": "twenty twenty four"}
HEADERS = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def real() -> Iterator[int]:
    """A server with the bilingual voice."""

    def load() -> Synthesizer:
        return yuliu.open("yuliu", workers=1)

    with serving(load) as port:
        wait_ready(port)
        yield port


def wait_ready(port: int) -> None:
    while httpx.get(f"http://127.0.0.1:{port}/ready").status_code != 200:
        pass


def spoken(port: int, text: str, **start: Any) -> tuple[str, bytes]:
    """Return the words and the audio of a context."""
    with talking(port) as talk:
        talk.speak(text, **start)
        assert talk.until("done")["failed"] == []
        sound = b"".join(each.data for each in talk.received if isinstance(each, SoundFrame))
        return " ".join(each["spoken"] for each in talk.told("segment")), sound


@pytest.mark.voices
@pytest.mark.timeout(120)
def test_a_year_in_either_language(real: int) -> None:
    """Digits are read in the language, the same on all three endpoints."""
    url = f"http://127.0.0.1:{real}"
    sounds = {}
    for language, words in WORDS.items():
        found, sound = spoken(real, "2024", language=language)
        assert found.lower() == words
        body = httpx.post(
            f"{url}/v1/stream?language={language}", content="2024", headers={"content-type": "text/plain"}
        )
        asked = {"input": "2024", "language": language, "response_format": "pcm"}
        speech = httpx.post(f"{url}/v1/audio/speech", content=json.dumps(asked), headers=HEADERS)
        assert body.content == speech.content == sound
        sounds[language] = sound
    assert sounds["zh"] != sounds["en"]
    assert spoken(real, "2024", language=None) == spoken(real, "2024", language="auto")


@pytest.mark.voices
@pytest.mark.timeout(120)
def test_config_changes_the_language_from_then_on(real: int) -> None:
    """Segments that were cut before keep their language."""
    with talking(real) as talk:
        talk.say("start", chunking="punctuation", language="zh")
        talk.say("text", text="2024\n\n")
        talk.say("config", language="en")
        talk.say("text", text="2024\n\n")
        talk.say("end")
        assert talk.until("done")["failed"] == []
        assert [each["spoken"].lower() for each in talk.told("segment")] == list(WORDS.values())


def test_an_unspoken_language_is_refused_everywhere() -> None:
    """The error names the field; a running stream goes on unchanged."""

    def load() -> Synthesizer:
        return Synthesizer(
            [local_spec("zh", lambda: ToneEngine(languages=("zh",)))], {"zh": {"zh": "zh"}}, default="zh", num_workers=1
        )

    with serving(load) as port:
        wait_ready(port)
        url = f"http://127.0.0.1:{port}"
        plain = {"content-type": "text/plain"}
        answers = [
            httpx.post(f"{url}/v1/audio/speech", content='{"input":"你好","language":"en"}', headers=HEADERS),
            httpx.post(f"{url}/v1/stream?language=en", content="你好", headers=plain),
            httpx.post(f"{url}/v1/stream?language=fr", content="你好", headers=plain),
        ]
        for answer in answers:
            assert answer.status_code == 400
            error = answer.json()["error"]
            assert (error["code"], error["param"]) == ("invalid_request", "language")
        with talking(port) as talk:
            talk.say("start", "b", language="en")
            error = talk.next()
            assert isinstance(error, dict)
            assert (error["code"], error["param"], error["ends"]) == ("invalid_request", "language", "context")
            talk.say("start")
            talk.say("config", language="en")
            while not (errors := talk.told("error")):
                talk.next()
            assert (errors[0]["param"], errors[0]["ends"]) == ("language", "nothing")
            talk.say("text", text="你好。")
            talk.say("end")
            assert talk.until("done")["spoken"] == [[0, 3]]


def test_text_of_another_script_is_accounted_for() -> None:
    """Every character is accounted for, whatever the language."""
    with serving(lambda: tone_synthesizer(ToneEngine())) as port:
        wait_ready(port)
        with talking(port) as talk:
            talk.speak("Hello 你好。", language="en")
            done = talk.until("done")
            assert sum(end - start for start, end, *_ in [*done["spoken"], *done["skipped"]]) == done["num_characters"]
