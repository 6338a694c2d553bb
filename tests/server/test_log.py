"""Contents of the log, and what it never contains."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import httpx
import pytest
from serving import running_server, serving

from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine
from yuliu.logger import Fixed, LogEvent
from yuliu.server.log import JsonFormatter, LineFormatter
from yuliu.stream import Stream
from yuliu.synthesizer import Synthesizer

if TYPE_CHECKING:
    from yuliu.logger import Field

SECRET = "xylophone "


class BrokenSynthesizer(Synthesizer):
    """A synthesizer with a bug whose error quotes the text."""

    def stream(self, **_: object) -> NoReturn:
        """Fail as a bug would."""
        raise KeyError(SECRET)


class StumblingStream(Stream):
    """A stream with a bug in its text side."""

    async def push(self, delta: str) -> NoReturn:
        """Fail as a bug would."""
        raise KeyError(delta)


class StumblingSynthesizer(Synthesizer):
    """A synthesizer of such streams."""

    def stream(self, **asked: Any) -> Stream:
        """Such a stream."""
        stream = super().stream(**asked)
        stream.__class__ = StumblingStream
        return stream


def lines_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    formatter = LineFormatter()
    return [formatter.format(record) for record in caplog.records]


def test_each_request_is_one_line_without_its_text(caplog: pytest.LogCaptureFixture) -> None:
    """The line has voice, amounts, times and ending."""
    caplog.set_level(logging.INFO)
    with running_server() as running:
        headers = {"X-Request-Id": "turn-7"}
        running.client.post("/v1/audio/speech", json={"input": SECRET * 3, "voice": "alloy"}, headers=headers)
        running.speech(input="hi", voice=SECRET)
        running.speech(input=SECRET, model=SECRET, response_format=SECRET)
    lines = [line for line in lines_of(caplog) if "speech id=" in line]
    assert len(lines) == 3
    assert "id=turn-7 voice=tone format=mp3 characters=30 " in lines[0]
    assert "audio_s=0.320 ttfp_ms=" in lines[0]
    assert lines[0].endswith("status=200 ending=finished")
    assert lines[1].endswith("status=400 ending=unknown_voice")
    assert SECRET.strip() not in "".join(lines_of(caplog))


def test_a_failed_engine_is_logged_with_its_place(caplog: pytest.LogCaptureFixture) -> None:
    """The log has the class and place of the error, not its message."""
    with running_server(fail_steps=frozenset({0, 1}), error=ValueError) as running:
        running.speech(input=SECRET)
    (line,) = [line for line in lines_of(caplog) if "synthesis_failed id=" in line]
    assert "cause=ValueError at=tone.py:" in line
    assert "told to fail" not in line


@pytest.mark.parametrize("synthesizer_class", [BrokenSynthesizer, StumblingSynthesizer])
def test_a_bug_is_a_500_and_its_words_stay_out_of_the_log(
    caplog: pytest.LogCaptureFixture, synthesizer_class: type[Synthesizer]
) -> None:
    """An unexpected error is a 500, and is logged by its place only."""
    broken = synthesizer_class([local_spec("tone", ToneEngine)], {"tone": {"en": "tone"}}, default="tone")
    with serving(lambda: broken) as port, httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
        while client.get("/ready").status_code != 200:
            pass
        answer = client.post("/v1/audio/speech", json={"input": SECRET})
        assert broken.num_streams == 0
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal_error")
    lines = "".join(lines_of(caplog))
    assert "KeyError at " in lines
    assert SECRET.strip() not in lines + answer.text


def record_of(error: BaseException) -> logging.LogRecord:
    information = (type(error), error, error.__traceback__)
    return logging.LogRecord("a", logging.ERROR, __file__, 1, "it failed", None, information)


def fail() -> NoReturn:
    raise KeyError(SECRET)


def test_chained_errors_are_all_named() -> None:
    """The formatter follows causes and groups, each with its frames, and shows no message."""
    with pytest.raises(ExceptionGroup) as caught:
        try:
            fail()
        except KeyError as error:
            raise ExceptionGroup(SECRET, [ValueError(SECRET)]) from error
    text = LineFormatter().format(record_of(caught.value))
    first, *others = text.splitlines()
    assert first.endswith("ERROR a it failed")
    assert [line.split()[0] for line in others] == ["ExceptionGroup", "ValueError", "KeyError"]
    assert " fail" in others[-1]
    assert SECRET.strip() not in text


def test_a_cached_traceback_is_not_shown() -> None:
    """A traceback cached by another formatter is not shown."""
    record = record_of(KeyError(SECRET))
    record.exc_text = SECRET
    assert SECRET not in LineFormatter().format(record)
    assert record.exc_text == SECRET


LOSES_ERRORS = f"""
import asyncio, gc
from yuliu.server.log import configure_log

def fail():
    raise KeyError({SECRET!r})

async def lose_errors():
    loop = asyncio.get_running_loop()
    loop.create_future().set_exception(KeyError({SECRET!r}))
    gc.collect()
    loop.call_soon(fail)
    await asyncio.sleep(0)

configure_log()
asyncio.run(lose_errors())
"""


def test_asyncio_errors_are_one_line_and_places() -> None:
    """Errors reported by asyncio are logged without values."""
    finished = subprocess.run([sys.executable, "-c", LOSES_ERRORS], capture_output=True, text=True, check=True)
    first, first_place, second, second_place = finished.stderr.splitlines()
    assert " ERROR asyncio Future exception was never retrieved" in first
    assert " ERROR asyncio Exception in callback fail()" in second
    assert first_place.startswith("  KeyError at ")
    assert second_place.startswith("  KeyError at ")
    assert SECRET.strip() not in finished.stderr


def json_of(message: object, *arguments: object, **extra: Any) -> dict[str, Any]:
    record = logging.LogRecord("yuliu.x", logging.INFO, __file__, 1, message, arguments, extra.get("exc_info"))
    record.created, record.msecs = 1_769_860_800.25, 250.0
    values: dict[str, Any] = json.loads(JsonFormatter().format(record))
    assert values.pop("time") == "2026-01-31T12:00:00.250Z"
    assert (values.pop("level"), values.pop("logger")) == ("INFO", "yuliu.x")
    return values


def test_json_has_the_fields_of_the_event() -> None:
    """Fields keep their types and decimals, and a missing value is null."""
    fields: dict[str, Field] = {
        "id": "7",
        "characters": 30,
        "audio_s": Fixed(1.38549, 3),
        "ttfp_ms": 12.5,
        "spare": None,
        "ending": "a b=c",
    }
    assert json_of(LogEvent("speech", fields)) == {
        "event": "speech",
        "id": "7",
        "characters": 30,
        "audio_s": 1.385,
        "ttfp_ms": 12.5,
        "spare": None,
        "ending": "a b=c",
    }
    assert json_of(LogEvent("loading_failed", {})) == {"event": "loading_failed"}
    assert json_of(LogEvent("a", {"b": "one\ntwo"})) == {"event": "a", "b": "one"}


@pytest.mark.parametrize(
    ("template", "arguments", "message"),
    [
        ("Started server process [%d]", (7,), "Started server process [7]"),
        ("no_event id=%s %s", ("a", "at=x"), "no_event id=a at=x"),
        ("it has 100%% of a=%s\nand more", ("b",), "it has 100% of a=b"),
        ("%(a)s", ({"a": 1},), "1"),
    ],
)
def test_json_of_other_messages_is_their_first_line(template: str, arguments: tuple[Any, ...], message: str) -> None:
    """Other libraries log templates, which have no fields."""
    assert json_of(template, *arguments) == {"message": message}


def test_json_keeps_its_own_fields() -> None:
    """An event cannot pretend to be of another level or name."""
    event = LogEvent("x", {"level": "DEBUG", "event": "y"})
    record = logging.LogRecord("a", logging.INFO, __file__, 1, event, (), None)
    values = json.loads(JsonFormatter().format(record))
    assert (values["level"], values["event"]) == ("INFO", "x")


def test_json_shows_places_of_errors_and_not_their_words() -> None:
    """As lines do."""
    with pytest.raises(KeyError) as caught:
        fail()
    values = json_of(LogEvent("it_failed", {}), exc_info=(KeyError, caught.value, caught.value.__traceback__))
    (place,) = values["error"]
    assert place.startswith("KeyError at ")
    assert place.endswith(" fail")
    assert SECRET.strip() not in json.dumps(values)


def test_a_request_in_json(caplog: pytest.LogCaptureFixture) -> None:
    """The line of a request has its figures as numbers."""
    caplog.set_level(logging.INFO)
    with running_server() as running:
        running.speech(input=SECRET)
    (values,) = [
        values
        for values in (json.loads(JsonFormatter().format(record)) for record in caplog.records)
        if values.get("event") == "speech"
    ]
    assert (values["characters"], values["status"], values["ending"]) == (10, 200, "finished")
    assert isinstance(values["ttfp_ms"], float)
