"""Overload: refusals, advice to retry, and OpenAI's client."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import openai
import openai._base_client
import pytest
from prometheus_client.parser import text_string_to_metric_families
from serving import PATIENCE_S, read_answer, receive_all, running_server, speech_bytes

from yuliu.server.limits import Limits

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

    from serving import Running

LONG = "one two three four five six seven eight nine ten. " * 100
"""A hundred seconds."""


def speak_by_openai(running: Running, max_retries: int) -> bytes:
    with openai.OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=max_retries) as client:
        sound = client.audio.speech.create(model="tts-1", voice="alloy", input="hello", response_format="pcm")
        return sound.content


def rejected(running: Running, stream_class: str, reason: str) -> float:
    """Return the number of rejections from the metrics."""
    labels = {"class": stream_class, "decision": "rejected", "reason": reason}
    families = text_string_to_metric_families(running.client.get("/metrics").text)
    samples = (sample for family in families for sample in family.samples)
    return sum(each.value for each in samples if (each.name, each.labels) == ("yuliu_admissions_total", labels))


def patch_sleep(monkeypatch: pytest.MonkeyPatch, sleep: Callable[[float], None]) -> None:
    """Patch the sleep of OpenAI's client only."""
    monkeypatch.setattr(openai._base_client, "time", SimpleNamespace(**{**vars(time), "sleep": sleep}))


def test_openais_client_raises_rate_limit_error() -> None:
    """The client raises its own class with the code and Retry-After."""
    with running_server(Limits(max_streams=1)) as running:
        running.gate.close()
        running.send_speech(running.connect(), input="hello")
        running.wait_until(lambda: running.synthesizer.num_streams == 1)
        with pytest.raises(openai.RateLimitError) as caught:
            speak_by_openai(running, 0)
        assert caught.value.code == "overloaded"
        assert caught.value.response.headers["retry-after"] == "1"
        assert rejected(running, "standard", "max_streams") == 1


def test_openais_client_retries_as_advised(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client waits as long as ``Retry-After`` says, then succeeds."""
    with running_server(Limits(max_streams=1)) as running:
        running.gate.close()
        first = running.connect()
        running.send_speech(first, input="hello")
        running.wait_until(lambda: running.synthesizer.num_streams == 1)
        waits_s: list[float] = []

        def sleep(wait_s: float) -> None:
            waits_s.append(wait_s)
            if len(waits_s) == 2:
                running.gate.open()
                read_answer(first)
                running.wait_until(lambda: running.synthesizer.num_streams == 0)

        patch_sleep(monkeypatch, sleep)
        assert speak_by_openai(running, 2) == running.speech(input="hello", response_format="pcm").content
        assert waits_s == [1.0, 1.0]


def test_openais_client_gives_up_after_its_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client gives up after its retries."""
    with running_server(Limits(max_streams=1)) as running:
        running.gate.close()
        running.send_speech(running.connect(), input="hello")
        running.wait_until(lambda: running.synthesizer.num_streams == 1)
        waits_s: list[float] = []
        patch_sleep(monkeypatch, waits_s.append)
        with pytest.raises(openai.RateLimitError):
            speak_by_openai(running, 2)
        assert waits_s == [1.0, 1.0]


def test_memory_for_texts_is_limited() -> None:
    """Memory of all requests is limited; a request that ends frees its part."""
    text = "x" * 3_000
    with running_server(Limits(max_body_bytes_held=4_000)) as running:
        running.gate.close()
        first = running.connect()
        running.send_speech(first, input=text)
        running.wait_until(lambda: running.synthesizer.num_streams == 1)
        refused = running.speech(input=text)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
        assert rejected(running, "standard", "max_text") == 1
        assert refused.json()["error"]["code"] == "overloaded"
        running.gate.open()
        read_answer(first)
        assert running.speech(input=text).status_code == 200


def test_half_received_texts_count_and_are_given_back() -> None:
    """Half-received texts are counted until their clients leave."""
    with running_server(Limits(max_body_bytes_held=4_000)) as running:
        before = running.server.num_tasks
        slow = running.connect()
        slow.sendall(speech_bytes(input="x" * 3_000)[:-1_000])
        running.wait_until(lambda: running.server.num_tasks > before)
        running.wait_until(lambda: True)
        assert running.speech(input="x" * 3_000).status_code == 429
        slow.close()
        running.wait_until(lambda: running.speech(input="x" * 3_000).status_code == 200)


def test_a_cut_body_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """A failure amid the audio is logged once."""
    with running_server(fail_steps=frozenset({1, 2})) as running:
        raw = running.connect()
        running.send_speech(raw, input="one two three four five six seven eight nine ten. " * 8)
        received = receive_all(raw)
        assert received.startswith(b"HTTP/1.1 200")
        assert not received.endswith(b"0\r\n\r\n")
        running.wait_until(lambda: running.server.num_tasks <= 4)
    assert [record.name for record in caplog.records if record.levelname == "ERROR"] == ["yuliu.delivery.access_log"]


def full(running: Running, **rules: Any) -> socket.socket:
    """Fill the server with one stream, so that the next one waits."""
    scheduler = running.synthesizer._scheduler
    tuning = scheduler.tuning
    classes = {each: replace(found, **rules) for each, found in tuning.classes.items()}
    scheduler.tune(replace(tuning, max_load=0.0, classes=classes))
    running.gate.close()
    first = running.connect()
    running.send_speech(first, input=LONG)
    running.wait_until(lambda: running.engine.num_steps == 1)
    return first


def num_waiting(running: Running) -> int:
    return sum(running.synthesizer._scheduler.snapshot().queue_depth.values())


def test_a_client_that_leaves_while_it_waits_frees_its_place() -> None:
    """Its stream is never admitted, and nothing is left."""
    with running_server() as running:
        first = full(running, max_wait_s=PATIENCE_S)
        before = running.server.num_tasks
        waiting = running.connect()
        running.send_speech(waiting, input="hello")
        running.wait_until(lambda: num_waiting(running) == 1)
        waiting.close()
        running.wait_until(lambda: (num_waiting(running), running.synthesizer.num_streams) == (0, 1))
        running.wait_until(lambda: running.server.num_tasks == before)
        num_plans = running.engine.num_plans
        first.close()
        running.wait_until(lambda: running.synthesizer.num_streams == 0)
        running.gate.open()
        assert running.engine.num_plans == num_plans


def test_a_waiting_stream_is_served_when_there_is_room() -> None:
    """A stream that waits briefly is served."""
    with running_server() as running:
        first = full(running, max_wait_s=PATIENCE_S)
        waiting = running.connect()
        running.send_speech(waiting, input="hello", response_format="pcm")
        running.wait_until(lambda: num_waiting(running) == 1)
        first.close()
        running.gate.open()
        assert read_answer(waiting).startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize("rules", [{"max_waiting": 0}, {"max_wait_s": 0.02}])
def test_overload_is_refused_before_the_start(rules: dict[str, Any]) -> None:
    """The refusal is 429 with the scheduler's estimate, counted by class and reason."""
    with running_server() as running:
        full(running, **rules)
        refused = running.speech(input="hello", **{"class": "interactive"})
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, "overloaded")
        assert 1 <= int(refused.headers["retry-after"]) <= 60
        reason = "queue_full" if "max_waiting" in rules else "waited_too_long"
        assert rejected(running, "interactive", reason) == 1
