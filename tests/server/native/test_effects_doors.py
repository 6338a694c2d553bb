"""Effects on every endpoint: the same fields give the same audio, and wrong ones are named."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pytest
from native import SoundFrame, talking
from serving import serving, tone_synthesizer

from yuliu.audio.chain import Effects
from yuliu.audio.compressor import Compression
from yuliu.audio.pcm import to_s16le
from yuliu.client import Client
from yuliu.engines.tone import ToneEngine
from yuliu.stream import StreamOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT = "One two three, four five six. 你好，世界。"
JSON = {"content-type": "application/json"}
PLAIN = {"content-type": "text/plain"}
SAID: dict[str, Any] = {"volume_db": 9, "pitch_semitones": 2, "effects": {"level": True, "compress": True}}
EFFECTS = Effects(volume_db=9.0, pitch_semitones=2.0, level=True, compression=Compression())


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving(lambda: tone_synthesizer(ToneEngine())) as port:
        while httpx.get(f"http://127.0.0.1:{port}/ready").status_code != 200:
            pass
        yield port


def test_all_endpoints_and_the_library_give_the_same_audio(port: int) -> None:
    """Speech API, WebSocket, query, lines in a body, client and library agree."""
    url = f"http://127.0.0.1:{port}"
    with tone_synthesizer(ToneEngine()) as synthesizer:
        wanted = to_s16le(synthesizer.speak(TEXT, options=StreamOptions(effects=EFFECTS)).samples)
        plain = to_s16le(synthesizer.speak(TEXT).samples)
    assert wanted != plain
    asked = {"input": TEXT, "response_format": "pcm", **SAID}
    assert httpx.post(f"{url}/v1/audio/speech", content=json.dumps(asked), headers=JSON).content == wanted
    query = "volume_db=9&pitch_semitones=2&effects=level,compress"
    assert httpx.post(f"{url}/v1/stream?{query}", content=TEXT, headers=PLAIN).content == wanted
    lines = "\n".join(json.dumps(each) for each in ({"type": "start", **SAID}, {"type": "text", "text": TEXT}))
    in_lines = {"content-type": "application/x-ndjson"}
    assert httpx.post(f"{url}/v1/stream", content=lines, headers=in_lines).content == wanted
    with talking(port) as talk:
        talk.speak(TEXT, **SAID)
        talk.until("done")
        assert b"".join(each.data for each in talk.received if isinstance(each, SoundFrame)) == wanted
    with Client(url) as client:
        assert to_s16le(client.speak(TEXT, **SAID).samples) == wanted


def test_config_changes_named_effects_from_then_on(port: int) -> None:
    """The volume changes from the second sentence on; other effects stay."""
    sounds = []
    for changes in ({}, {"volume_db": -14.0}, {"volume_db": -14.0, "effects": {"limit": False}}):
        with talking(port) as talk:
            talk.say("start", chunking="punctuation", volume_db=6)
            talk.say("text", text="One two three.\n\n")
            if changes:
                talk.say("config", **changes)
            talk.say("text", text="One two three.\n\n")
            talk.say("end")
            talk.until("done")
            data = b"".join(each.data for each in talk.received if isinstance(each, SoundFrame))
        sounds.append(np.frombuffer(data, "<i2").astype(float))
    usual, softer, unlimited = sounds
    half = len(usual) // 2
    assert np.array_equal(usual[: half - 2400], softer[: half - 2400])
    assert np.abs(softer[half + 2400 :]).max() / np.abs(usual[half + 2400 :]).max() == pytest.approx(0.1, rel=0.02)
    assert np.abs(softer - unlimited).max() <= 1


@pytest.mark.parametrize(
    ("said", "param"),
    [
        ({"volume_db": 30}, "volume_db"),
        ({"pitch_semitones": "high"}, "pitch_semitones"),
        ({"effects": {"echo": True}}, "effects"),
        ({"effects": {"compress": {"ratio": 99}}}, "effects.compress.ratio"),
    ],
)
def test_a_wrong_effect_is_named_everywhere(port: int, said: dict[str, Any], param: str) -> None:
    """A wrong effect is a bad request, a failed context, or an error that changes nothing."""
    asked = {"input": TEXT, **said}
    answer = httpx.post(f"http://127.0.0.1:{port}/v1/audio/speech", content=json.dumps(asked), headers=JSON)
    assert answer.status_code == 400
    assert (answer.json()["error"]["code"], answer.json()["error"]["param"]) == ("invalid_request", param)
    with talking(port) as talk:
        talk.say("start", "b", **said)
        error = talk.next()
        assert isinstance(error, dict)
        assert (error["code"], error["param"]) == ("invalid_request", param)
        talk.say("start")
        talk.say("config", **said)
        while not (errors := talk.told("error")):
            talk.next()
        assert (errors[0]["param"], errors[0]["ends"]) == (param, "nothing")
        talk.say("text", text="Hello.")
        talk.say("end")
        assert talk.until("done")["spoken"] == [[0, 6]]
