"""Parts of the endpoint suite against server processes with a weightless engine, and their page."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tone_cli import open_synthesizer

from bench.endpoints import ENDPOINT_PARTS
from bench.endpoints.loop_lag import LoopLagMonitor
from bench.endpoints.report import endpoint_suite_page
from bench.endpoints.suite import EndpointSuite, run_endpoint_suite
from bench.endpoints.token_stream import TOKENS_PER_S, speak_tokens, token_stream, tokenize
from yuliu.bench.adapters import ENDPOINTS, BenchTarget
from yuliu.bench.endpoints import EndpointConfig, open_testbed
from yuliu.bench.server_process import ServerProcess
from yuliu.engines.tone import ToneEngine
from yuliu.explanation import Explainer

if TYPE_CHECKING:
    from collections.abc import Iterator

SUPPORT = Path(__file__).parents[1] / "support"
TEXT = {"12": "Hello there.", "64": "One two three, four five six.", "172": "One two three four. Five six seven eight."}
CONFIG = EndpointConfig(
    rounds=1,
    voice="tone",
    texts={"en": TEXT},
    formats=("pcm", "mp3", "aac", "opus", "wav"),
    open_synthesizer=lambda: open_synthesizer(()),
    open_engines=lambda: {"en": ToneEngine()},
    program=(str(SUPPORT / "tone_cli.py"), "serve", "--no-keys"),
)
SUITE = EndpointSuite(
    CONFIG,
    recordings=(
        {"id": "paused", "deltas": ["One two", " three.", "@@PAUSE 600@@", "", " Four"]},
        {"id": "no", "deltas": ["👍"]},
    ),
    monitored_server=(str(SUPPORT / "monitored_tone_server.py"),),
)


@pytest.fixture(scope="module")
def target() -> Iterator[BenchTarget]:
    """A server and a library with the same engine."""
    with open_testbed(CONFIG) as testbed:
        yield testbed.target


def test_a_stream_can_be_left_at_its_first_audio(target: BenchTarget) -> None:
    """The rest of the text is not sent."""
    stream = token_stream(tokenize("One two three four. " * 20))
    lag = speak_tokens(target.port, stream, Explainer(), fields={"voice": "tone"}, only_first=True)
    assert len(lag.segments) == 1


@given(st.text(max_size=60))
def test_tokens_are_the_text(text: str) -> None:
    """No character is lost, and no token is empty."""
    tokens = tokenize(text)
    assert "".join(tokens) == text
    assert all(tokens)


def test_tokens_resemble_those_of_models() -> None:
    """They are words with the space before them, or one or two Chinese characters."""
    assert tokenize("Hello there, 你好吗？") == ["Hello", " there", ",", " 你", "好吗", "？"]


def test_tokens_are_sent_at_their_rate_except_for_pauses() -> None:
    """An empty delta takes its time."""
    stream = token_stream(["a", "", "b", "@@PAUSE 2000@@", "c"])
    assert stream.tokens == ("a", "b", "c")
    assert stream.at_s == pytest.approx((0.0, 2 / TOKENS_PER_S, 3 / TOKENS_PER_S + 2.0))


def test_a_blocked_loop_is_noticed() -> None:
    """The lag is the time for which it was blocked, less the tick in progress."""

    async def blocked() -> dict[str, float]:
        monitor = LoopLagMonitor()
        monitoring = asyncio.create_task(monitor.run())
        await asyncio.sleep(0.01)
        monitor.take()
        until_s = time.perf_counter() + 0.1
        while time.perf_counter() < until_s:
            pass
        await asyncio.sleep(0.01)
        monitoring.cancel()
        return monitor.take()

    found = asyncio.run(blocked())
    assert found["max_ms"] > 90
    assert LoopLagMonitor().take()["ticks"] == 0


def test_all_parts_make_a_report_and_a_page() -> None:
    """The report is JSON, and every target is checked once."""
    lines: list[str] = []
    suite = replace(SUITE, config=replace(CONFIG, progress=lines.append))
    report = run_endpoint_suite(suite, ENDPOINT_PARTS, "python -m bench endpoints")
    json.dumps(report, allow_nan=False)
    assert list(report["parts"]) == list(ENDPOINT_PARTS)
    assert all(any(line.startswith(part) for line in lines) for part in ENDPOINT_PARTS)
    (english,) = report["parts"]["formats"].values()
    assert len(english["ways"]) == len(ENDPOINTS) * len(CONFIG.formats)
    by_name = {row["text"]: row for row in report["parts"]["tokens"]["unbound"]}
    assert by_name["paused"]["segments"] >= 2
    assert by_name["no"]["wait_ms"] is None
    targets = [check["wanted"] for check in report["requirements"]]
    assert len(targets) == len(set(targets)) == 11
    page = endpoint_suite_page(report)
    assert all(target in page for target in targets)
    assert page.count("\n## ") == 1 + len(ENDPOINT_PARTS)
    for table in page.split("\n\n"):
        rows = [line for line in table.splitlines() if line.startswith("|")]
        assert len({row.count("|") for row in rows}) <= 1


def test_one_part_alone_is_measured_alone() -> None:
    """The report holds nothing about the others."""
    report = run_endpoint_suite(SUITE, ["waterfall"], "python -m bench endpoints --part waterfall")
    assert list(report["parts"]) == ["waterfall"]
    assert len(report["requirements"]) == 1
    (row,) = report["parts"]["waterfall"]
    assert row["sum_ms"] == pytest.approx(sum(row["parts_ms"].values()), abs=0.01)


def test_the_monitored_server_speaks() -> None:
    """It is a server like any other."""
    with ServerProcess(program=SUITE.monitored_server) as server, CONFIG.open_synthesizer() as synthesizer:
        assert BenchTarget(server.port, synthesizer, "tone").speak("speech", "Hello.", "pcm").audio
