"""Metrics and access log of a request on a real server."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families
from serving import read_answer, running_server

from yuliu.server.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

LONG = "one two three four five six seven eight nine ten. " * 100


@pytest.fixture
def running() -> Iterator[Running]:
    """A server with default limits."""
    with running_server() as server:
        yield server


def value(running: Running, name: str, **labels: str) -> float:
    """Return the sum of all samples of a name with these labels."""
    families = text_string_to_metric_families(running.client.get("/metrics").text)
    samples = (sample for family in families for sample in family.samples)
    return sum(each.value for each in samples if each.name == name and labels.items() <= each.labels.items())


def test_a_stream_is_counted_with_all_its_figures(running: Running) -> None:
    """Class, protocol, bytes, characters, audio and first packet are counted."""
    sound = running.speech(input="hello there", response_format="pcm", **{"class": "interactive"}).content
    whose = {"class": "interactive", "voice": "tone"}
    running.wait_until(lambda: value(running, "yuliu_streams_ended_total", **whose) == 1)
    assert value(running, "yuliu_streams_ended_total", **whose, door="speech", ending="finished") == 1
    assert value(running, "yuliu_sent_bytes_total", **whose) == len(sound)
    assert value(running, "yuliu_audio_seconds_total", **whose) == len(sound) / 48_000
    assert value(running, "yuliu_characters_total", **whose) == 11
    assert value(running, "yuliu_ttfp_seconds_count", **whose) == 1
    assert value(running, "yuliu_admissions_total", **{"class": "interactive"}, decision="admitted") == 1
    assert value(running, "yuliu_engine_audio_seconds_total", engine="tone") > 0


def test_a_lead_in_is_not_the_first_packet(running: Running) -> None:
    """A lead-in does not end the time to the first packet."""
    running.gate.close()
    raw = running.connect()
    running.send_speech(raw, input="hello", lead_in_ms=100)
    assert raw.recv(65_536)
    running.wait_until(lambda: running.engine.num_steps == 1)
    assert value(running, "yuliu_streams", state="starting") == 1
    running.gate.open()
    read_answer(raw)
    running.wait_until(lambda: value(running, "yuliu_ttfp_seconds_count") == 1)


def test_a_client_that_leaves_is_counted_as_cancelled(running: Running) -> None:
    """The stream counts as cancelled, not as failed, and is no longer open."""
    running.gate.close()
    raw = running.connect()
    running.send_speech(raw, input=LONG)
    running.gate.pass_one()
    assert raw.recv(1)
    raw.close()
    running.wait_until(lambda: value(running, "yuliu_streams_ended_total", ending="cancelled") == 1)
    assert value(running, "yuliu_streams_ended_total") == 1
    assert value(running, "yuliu_streams") == 0


def test_failures_are_counted_by_their_code() -> None:
    """Failures before any audio are counted as well."""
    with running_server(fail_plans=frozenset({0, 1})) as running:
        assert running.speech(input="hello").status_code == 500
        assert value(running, "yuliu_streams_ended_total", ending="failed") == 1
        assert value(running, "yuliu_stream_errors_total", code="synthesis_failed") == 1


def test_the_log_line_of_a_client_that_left_amid_the_lead_in(
    running: Running, caplog: pytest.LogCaptureFixture
) -> None:
    """The line has a status but no time to the first packet."""
    caplog.set_level(logging.INFO)
    running.gate.close()
    raw = running.connect()
    running.send_speech(raw, input=LONG, lead_in_ms=100)
    assert raw.recv(65_536)
    raw.close()
    running.wait_until(lambda: "speech id=" in caplog.text)
    assert "class=standard mode=normal audio_s=0.100 ttfp_ms=- retry_s=- status=200 ending=cancelled" in caplog.text


def test_the_log_line_of_a_refused_request(caplog: pytest.LogCaptureFixture) -> None:
    """The line has the delay before a retry and the class."""
    caplog.set_level(logging.INFO)
    with running_server(Limits(max_streams=0)) as running:
        running.speech(input="hello", **{"class": "bulk"})
    assert "class=bulk mode=- audio_s=0.000 ttfp_ms=- retry_s=1.0 status=429 ending=overloaded" in caplog.text
