"""Each part against server processes with a weightless engine, and the page that is made of them."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tone_yuliu import open_synthesizer

from yuliu.bench.doors import PARTS
from yuliu.bench.doors.formats import medians, way_figures
from yuliu.bench.doors.report import page
from yuliu.bench.doors.setting import Setting, opened
from yuliu.bench.doors.suite import run_doors
from yuliu.bench.doors.ticking import Ticker
from yuliu.bench.doors.ways import DOORS, DoorName, House
from yuliu.bench.doors.writing import PIECES_PER_S, pieces_of, script_of, write
from yuliu.bench.process import ServerProcess
from yuliu.engines.tone import ToneEngine
from yuliu.errors import UnknownVoice
from yuliu.explanation import Explainer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.audio.formats import FormatName

SUPPORT = Path(__file__).parents[1] / "support"
TEXT = {"12": "Hello there.", "64": "One two three, four five six.", "172": "One two three four. Five six seven eight."}
SETTING = Setting(
    rounds=1,
    voice="tone",
    texts={"en": TEXT},
    lines=(
        {"id": "paused", "deltas": ["One two", " three.", "@@PAUSE 600@@", "", " Four"]},
        {"id": "no", "deltas": ["👍"]},
    ),
    formats=("pcm", "mp3", "aac", "opus", "wav"),
    open_synthesizer=lambda: open_synthesizer(()),
    open_engines=lambda: {"en": ToneEngine()},
    program=(str(SUPPORT / "tone_yuliu.py"), "serve", "--no-keys"),
    ticking=(str(SUPPORT / "ticking_tone.py"),),
)


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    """A server and a library of the same engine."""
    with opened(SETTING) as place:
        yield place.house


@pytest.mark.parametrize("name", SETTING.formats)
def test_all_doors_give_the_same_sound(house: House, name: FormatName) -> None:
    """Byte by byte, in every format; so each is known to have been read to its end."""
    heard = {door: house.take(door, TEXT["64"], name) for door in DOORS}
    assert len({answer.sound for answer in heard.values()}) == 1
    for answer in heard.values():
        assert 0 < answer.first_s <= answer.decodable_s <= answer.arrivals[-1].at_s
        assert sum(arrival.num_bytes for arrival in answer.arrivals) == len(answer.sound)


@pytest.mark.parametrize("door", [door for door in DOORS if door != "library"])
def test_what_is_refused_is_no_figure(house: House, door: DoorName) -> None:
    """At no door."""
    nobody = replace(house, voice="nobody")
    with pytest.raises((RuntimeError, UnknownVoice), match=r"answered 400|unknown_voice|no such voice"):
        nobody.take(door, "Hello.", "pcm")


def test_a_text_can_be_left_at_its_first_sound(house: House) -> None:
    """The rest of it is not written."""
    script = script_of(pieces_of("One two three four. " * 20))
    followed = write(house.port, script, Explainer(), fields={"voice": "tone"}, only_first=True)
    assert len(followed.steps) == 1


@given(st.text(max_size=60))
def test_a_text_in_pieces_is_that_text(text: str) -> None:
    """Nothing is lost, and no piece is empty."""
    pieces = pieces_of(text)
    assert "".join(pieces) == text
    assert all(pieces)


def test_pieces_are_such_as_models_write() -> None:
    """Words with the space before them; one or two characters."""
    assert pieces_of("Hello there, 你好吗？") == ["Hello", " there", ",", " 你", "好吗", "？"]


def test_pieces_are_written_at_their_pace_but_for_pauses() -> None:
    """An empty piece takes its time."""
    script = script_of(["a", "", "b", "@@PAUSE 2000@@", "c"])
    assert script.pieces == ("a", "b", "c")
    assert script.at_s == pytest.approx((0.0, 2 / PIECES_PER_S, 3 / PIECES_PER_S + 2.0))


def test_what_is_more_than_pcm_is_taken_within_each_round() -> None:
    """A round in which the machine was slow does not count for one of the two."""
    rounds: list[Any] = [
        {("speech", "pcm"): (10.0, 10.0), ("speech", "mp3"): (14.0, 15.0)},
        {("speech", "pcm"): (90.0, 90.0), ("speech", "mp3"): (96.0, 99.0)},
    ]
    figures = way_figures("speech", "mp3", rounds)
    assert figures["more_than_pcm_ms"] == {"median": 5.0, "min": 4.0, "max": 6.0}
    assert figures["decodable_more_than_pcm_ms"]["median"] == 7.0


def test_one_slow_take_of_pcm_does_not_make_the_others_fast() -> None:
    """The median of its takes counts."""
    assert medians([(10.0, 11.0), (90.0, 91.0), (12.0, 13.0)]) == (12.0, 13.0)


def test_a_loop_that_is_held_is_seen_to_be() -> None:
    """The whole time of it, but for the tick that was under way."""

    async def held() -> dict[str, float]:
        ticker = Ticker()
        ticking = asyncio.create_task(ticker.run())
        await asyncio.sleep(0.01)
        ticker.take()
        until_s = time.perf_counter() + 0.1
        while time.perf_counter() < until_s:
            pass
        await asyncio.sleep(0.01)
        ticking.cancel()
        return ticker.take()

    found = asyncio.run(held())
    assert found["max_ms"] > 90
    assert Ticker().take()["ticks"] == 0


def test_all_parts_make_a_report_and_a_page() -> None:
    """Each with its figures; the report is JSON, and every requirement is told once."""
    lines: list[str] = []
    report = run_doors(replace(SETTING, progress=lines.append), PARTS, "yuliu bench doors")
    json.dumps(report, allow_nan=False)
    assert list(report["parts"]) == list(PARTS)
    assert all(any(line.startswith(part) for line in lines) for part in PARTS)
    (english,) = report["parts"]["formats"].values()
    assert len(english["ways"]) == len(DOORS) * len(SETTING.formats)
    by_name = {row["text"]: row for row in report["parts"]["tokens"]["unbound"]}
    assert by_name["paused"]["segments"] >= 2
    assert by_name["no"]["wait_ms"] is None
    wanted = [line["wanted"] for line in report["requirements"]]
    assert len(wanted) == len(set(wanted)) == 11
    written = page(report)
    assert all(line in written for line in wanted)
    assert written.count("\n## ") == 1 + len(PARTS)
    for table in written.split("\n\n"):
        rows = [line for line in table.splitlines() if line.startswith("|")]
        assert len({row.count("|") for row in rows}) <= 1


def test_one_part_alone_is_measured_alone() -> None:
    """Nothing is said of the others."""
    report = run_doors(SETTING, ["waterfall"], "yuliu bench doors --part waterfall")
    assert list(report["parts"]) == ["waterfall"]
    assert len(report["requirements"]) == 1
    (row,) = report["parts"]["waterfall"]
    assert row["sum_ms"] == pytest.approx(sum(row["parts_ms"].values()), abs=0.01)


def test_the_watched_server_is_a_server() -> None:
    """It speaks, and tells of its ticks."""
    with ServerProcess(program=SETTING.ticking) as server, SETTING.open_synthesizer() as synthesizer:
        assert House(server.port, synthesizer, "tone").take("speech", "Hello.", "pcm").sound
