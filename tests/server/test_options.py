"""Options of a request, and their use through OpenAI's client."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import openai
import pytest
from serving import receive_all, running_server, unchunked

from yuliu.delivery import SpeakingQuery, stream_options
from yuliu.engines.tone import ToneEngine
from yuliu.errors import InvalidRequest
from yuliu.presets import presets
from yuliu.types import StreamClass
from yuliu.wire.openai import SpeechLimits
from yuliu.wire.synthesis_options import parse_synthesis_options

if TYPE_CHECKING:
    from yuliu.engines.api import PlanOptions, Utterance
    from yuliu.stream import StreamOptions
    from yuliu.types import Segment


class Listener(ToneEngine):
    """Engine that records its plans."""

    def __init__(self) -> None:
        super().__init__()
        self.planned: list[tuple[Segment, PlanOptions]] = []

    def plan(self, segment: Segment, options: PlanOptions) -> Utterance:
        self.planned.append((segment, options))
        return super().plan(segment, options)


def options_of(**fields: Any) -> StreamOptions:
    return stream_options(SpeakingQuery(manner=parse_synthesis_options(fields, {}), is_complete=True), presets())


def test_defaults_give_an_ordinary_stream() -> None:
    """Without options a stream has the standard class and weight."""
    terms = options_of().terms
    assert (terms.stream_class, terms.weight, terms.max_lead_s) == (StreamClass.STANDARD, 1.0, None)


def test_a_preset_is_followed_and_overridden() -> None:
    """Fields of the request override its preset."""
    preset = presets()["dialogue"]
    terms = options_of(preset="dialogue").terms
    assert (terms.stream_class, terms.max_lead_s) == (preset.stream_class, preset.max_lead_s)
    terms = options_of(**{"preset": "dialogue", "class": "bulk", "max_lead_s": 9, "weight": 2}).terms
    assert (terms.stream_class, terms.max_lead_s, terms.weight) == (StreamClass.BULK, 9.0, 2.0)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"preset": "nothing"}, "preset"),
        ({"class": "vip"}, "class"),
        ({"class": 1}, "class"),
        ({"max_lead_s": 0}, "max_lead_s"),
        ({"max_lead_s": "3"}, "max_lead_s"),
        ({"chunking": "words"}, "chunking.strategy"),
        ({"chunking": 12}, "chunking"),
        ({"chunking": {"strategy": "fixed", "max_weight": 1}}, "chunking.max_weight"),
        ({"chunking": {"strategy": "fixed", "size": 1}}, "chunking"),
    ],
)
def test_a_wrong_value_names_its_field(fields: dict[str, Any], param: str) -> None:
    """The error names the field."""
    with pytest.raises(InvalidRequest) as caught:
        options_of(**fields)
    assert caught.value.param == param


def test_openais_client_can_ask_for_all_of_it(caplog: pytest.LogCaptureFixture) -> None:
    """Options can be given in ``extra_body`` and ``extra_headers``."""
    caplog.set_level(logging.INFO)
    listener = Listener()
    with (
        running_server(engine=listener) as running,
        openai.OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0) as client,
    ):
        client.audio.speech.create(
            model="tts-1",
            voice="alloy",
            input="one two three four five six seven eight nine ten " * 3,
            response_format="pcm",
            extra_body={"seed": 7, "chunking": {"strategy": "fixed", "min_weight": 8, "max_weight": 10}},
            extra_headers={"X-Yuliu-Class": "interactive", "X-Yuliu-Weight": "2"},
        )
        with pytest.raises(openai.BadRequestError, match=r"no such preset; there are .*dialogue") as caught:
            client.audio.speech.create(
                model="tts-1", voice="alloy", input="hi", response_format="pcm", extra_body={"preset": "no"}
            )
        assert caught.value.param == "preset"
    assert {options.speak.seed for _, options in listener.planned} == {7}
    assert len(listener.planned) > 2
    (line,) = [record.getMessage() for record in caplog.records if " class=interactive" in record.getMessage()]
    assert "ending=finished" in line


def test_presets_are_listed() -> None:
    """Built-in and custom presets are listed and can be named."""
    own = {"ours": presets()["dialogue"]}
    with running_server() as running:
        listed = running.client.get("/v1/presets").json()["presets"]
    assert [each["name"] for each in listed] == list(presets())
    assert {"class", "chunking", "max_lead_s", "first_packet_ms"} <= set(listed[0])
    with running_server(app={"presets": {**presets(), **own}}) as running:
        assert running.speech(input="hi", preset="ours").status_code == 200
        assert running.speech(input="hi", preset="theirs").status_code == 400


def test_a_lead_in_comes_before_all_sound() -> None:
    """The lead-in is sent before synthesis, then the usual audio."""
    with running_server() as running:
        plain = running.speech(input="hello", response_format="pcm").content
        running.gate.close()
        raw = running.connect()
        running.send_speech(raw, input="hello", response_format="pcm", lead_in_ms=250)
        received = b""
        while len(received.partition(b"\r\n\r\n")[2]) < 12_000:
            received += raw.recv(65_536)
        assert b"x-yuliu-lead-in-ms: 250\r\n" in received
        running.gate.open()
        while not received.endswith(b"\r\n0\r\n\r\n"):
            received += raw.recv(65_536)
        sound = unchunked(received)
        assert not any(sound[:12_000])
        assert sound[12_000:] == plain


def test_a_lead_in_to_nothing_is_cut_off() -> None:
    """A response of silence alone is cut off."""
    with running_server() as running:
        raw = running.connect()
        running.send_speech(raw, input="……", lead_in_ms=100)
        received = receive_all(raw)
        assert received.startswith(b"HTTP/1.1 200")
        assert not received.endswith(b"0\r\n\r\n")
        assert running.speech(input="……").status_code == 400


def test_the_mode_is_reported() -> None:
    """Under backlog the header reports the throughput mode."""
    with running_server() as running:
        text = "one two three four five six seven eight nine ten, " * 2
        usual = running.speech(input=text)
        assert usual.headers["x-yuliu-mode"] == "normal"
        assert usual.headers["x-yuliu-stream"] == usual.headers["x-request-id"]
        num_plans = running.engine.num_plans
        running.synthesizer._scheduler.tune(replace(running.synthesizer._scheduler.tuning, throughput=True))
        assert running.speech(input=text).headers["x-yuliu-mode"] == "throughput"
        assert running.engine.num_plans - num_plans < num_plans


def test_the_longest_text_is_accepted() -> None:
    """The maximum holds for any script; a longer text is refused."""
    limit = SpeechLimits().max_characters
    with running_server() as running:
        for text in ("\U0001f600" * limit, "……" * (limit // 2)):
            assert running.speech(input=text).json()["error"]["code"] == "nothing_to_speak"
        refused = running.speech(input="a" * (limit + 1))
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, "input")
