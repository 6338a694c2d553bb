"""All endpoints and formats of a server process with a weightless engine."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tone_cli import open_synthesizer

from yuliu.bench.adapters import ENDPOINTS, BenchTarget, EndpointName
from yuliu.bench.endpoints import (
    EndpointConfig,
    endpoints_page,
    format_figures,
    medians,
    open_testbed,
    run_endpoints,
)
from yuliu.engines.tone import ToneEngine
from yuliu.errors import UnknownVoice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.audio.formats import FormatName

TEXT = "One two three, four five six."
CONFIG = EndpointConfig(
    rounds=1,
    voice="tone",
    texts={"en": {"64": TEXT}},
    formats=("pcm", "mp3", "aac", "opus", "wav"),
    open_synthesizer=lambda: open_synthesizer(()),
    open_engines=lambda: {"en": ToneEngine()},
    program=(str(Path(__file__).parents[1] / "support" / "tone_cli.py"), "serve", "--no-keys"),
)


@pytest.fixture(scope="module")
def target() -> Iterator[BenchTarget]:
    """A server and a library with the same engine."""
    with open_testbed(CONFIG) as testbed:
        yield testbed.target


@pytest.mark.parametrize("name", CONFIG.formats)
def test_all_endpoints_give_the_same_audio(target: BenchTarget, name: FormatName) -> None:
    """Every response was read to its end, in every format."""
    responses = {endpoint: target.speak(endpoint, TEXT, name) for endpoint in ENDPOINTS}
    assert len({response.audio for response in responses.values()}) == 1
    for response in responses.values():
        assert 0 < response.first_byte_s <= response.decodable_s <= response.arrivals[-1].at_s
        assert sum(arrival.num_bytes for arrival in response.arrivals) == len(response.audio)


@pytest.mark.parametrize("endpoint", [endpoint for endpoint in ENDPOINTS if endpoint != "library"])
def test_a_refusal_is_not_a_figure(target: BenchTarget, endpoint: EndpointName) -> None:
    """Every endpoint raises."""
    nobody = replace(target, voice="nobody")
    with pytest.raises((RuntimeError, UnknownVoice), match=r"answered 400|unknown_voice|no such voice"):
        nobody.speak(endpoint, "Hello.", "pcm")


def test_differences_to_pcm_are_taken_within_each_round() -> None:
    """A round in which the machine was slow affects both alike."""
    rounds: list[Any] = [
        {("speech", "pcm"): (10.0, 10.0), ("speech", "mp3"): (14.0, 15.0)},
        {("speech", "pcm"): (90.0, 90.0), ("speech", "mp3"): (96.0, 99.0)},
    ]
    figures = format_figures("speech", "mp3", rounds)
    assert figures["more_than_pcm_ms"] == {"median": 5.0, "min": 4.0, "max": 6.0}
    assert figures["decodable_more_than_pcm_ms"]["median"] == 7.0


def test_one_slow_take_of_pcm_does_not_make_the_others_fast() -> None:
    """The median of its takes counts."""
    assert medians([(10.0, 11.0), (90.0, 91.0), (12.0, 13.0)]) == (12.0, 13.0)


def test_the_report_is_json_and_its_page_has_a_row_for_each_format() -> None:
    """All rows of a table have the same number of cells."""
    report = run_endpoints(CONFIG, "yuliu bench endpoints")
    json.dumps(report, allow_nan=False)
    (english,) = report["parts"]["formats"].values()
    assert len(english["ways"]) == len(ENDPOINTS) * len(CONFIG.formats)
    page = endpoints_page(report)
    rows = [line for line in page.splitlines() if line.startswith(("| pcm", "| opus"))]
    assert {row.count("|") for row in rows} == {len(ENDPOINTS) + 2}
