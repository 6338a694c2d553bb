"""Capacity limits hold over all endpoints, and reported errors are counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from native import talking
from prometheus_client.parser import text_string_to_metric_families
from serving import running_server

from yuliu.server.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

PLAIN = {"Content-Type": "text/plain"}


@pytest.fixture
def running() -> Iterator[Running]:
    """A server with room for one stream and little text."""
    with running_server(Limits(max_streams=1, max_body_bytes_held=4_000)) as server:
        yield server


def counted(running: Running, name: str, **labels: str) -> float:
    """Return the sum of the series with these labels."""
    families = text_string_to_metric_families(running.client.get("/metrics").text)
    samples = [sample for family in families for sample in family.samples if sample.name == name]
    return sum(each.value for each in samples if labels.items() <= each.labels.items())


def refused(running: Running, reason: str) -> float:
    return counted(running, "yuliu_admissions_total", decision="rejected", reason=reason)


def test_streams_count_over_all_endpoints(running: Running) -> None:
    """A stream of one endpoint takes the place of another's until it ends."""
    with talking(running.port) as talk:
        talk.say("start", **{"class": "interactive"})
        talk.until("started")
        assert running.speech(input="hello").status_code == 429
        assert running.client.post("/v1/stream", content="hello", headers=PLAIN).status_code == 429
        assert refused(running, "max_streams") == 2
        talk.say("end")
        talk.until("done")
        running.wait_until(lambda: running.synthesizer.num_streams == 0)
        running.gate.close()
        running.send_speech(running.connect(), input="hello")
        running.wait_until(lambda: running.synthesizer.num_streams == 1)
        talk.say("start", "b", **{"class": "bulk"})
        error = talk.next()
        assert isinstance(error, dict)
        assert (error["code"], error["ends"]) == ("overloaded", "context")
        assert refused(running, "max_streams") == 3
        labels = {"class": "bulk", "decision": "rejected", "reason": "max_streams"}
        assert counted(running, "yuliu_admissions_total", **labels) == 1


def test_text_counts_over_all_endpoints() -> None:
    """A context that exceeds the memory fails, and its text is no longer counted."""
    text = "x" * 3_000
    with running_server(Limits(max_body_bytes_held=4_000)) as running, talking(running.port) as talk:
        talk.say("start", chunking="sentence")
        talk.say("text", text=text)
        talk.until("started")
        running.wait_until(lambda: running.speech(input="y" * 2_000).status_code == 429)
        num_refused = refused(running, "max_text")
        assert num_refused >= 1
        talk.say("text", text=text)
        while not (errors := talk.told("error")):
            talk.next()
        assert (errors[0]["code"], errors[0]["retry_after_s"]) == ("overloaded", 1.0)
        assert refused(running, "max_text") == num_refused + 1
        running.wait_until(lambda: running.speech(input="y" * 2_000).status_code == 200)


def test_reported_errors_are_counted_by_endpoint(running: Running) -> None:
    """Errors before and during streams are counted by endpoint."""
    running.speech(input="")
    running.speech(input="hello", speed=9)
    running.client.post("/v1/stream?speed=9", content="hello", headers=PLAIN)
    assert counted(running, "yuliu_errors_total", door="speech", code="nothing_to_speak") == 1
    assert counted(running, "yuliu_errors_total", door="speech", code="invalid_request") == 1
    assert counted(running, "yuliu_errors_total", door="stream", code="invalid_request") == 1
    with talking(running.port) as talk:
        talk.say("start", voice="nobody")
        talk.say("text", "z", text="hello")
        talk.say("start", "b", lexicon=["nothing"])
        talk.ws.send(b"binary")
        while len([each for each in talk.received if isinstance(each, dict) and each["type"] == "error"]) < 4:
            talk.next()
    for code in ("unknown_voice", "unknown_context", "unknown_lexicon", "invalid_message"):
        assert counted(running, "yuliu_errors_total", door="stream", code=code) == 1, code
    assert counted(running, "yuliu_errors_total") == 7


def test_labels_are_bounded(running: Running) -> None:
    """Names that clients invent never become labels."""
    with talking(running.port) as talk:
        for number in range(90):
            talk.say("start", f"c{number}", voice=f"voice-{number}")
            talk.next()
    families = text_string_to_metric_families(running.client.get("/metrics").text)
    codes = [s.labels["code"] for family in families for s in family.samples if s.name == "yuliu_errors_total"]
    assert codes == ["unknown_voice"]
