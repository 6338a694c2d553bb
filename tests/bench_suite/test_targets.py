"""Targets: a measurement at the limit meets the target, one beyond it does not."""

from __future__ import annotations

from typing import Any

import pytest

from bench.endpoints.targets import TargetCheck, check_targets


def spread(median: float, high: float | None = None) -> dict[str, float]:
    return {"median": median, "min": median, "max": median if high is None else high}


def holds(part: str, figures: Any) -> list[bool]:
    return [check.holds for check in check_targets({part: figures})]


def formats(name: str, more: float, decodable: float) -> dict[str, Any]:
    row = {"door": "speech", "more_than_pcm_ms": spread(more), "decodable_more_than_pcm_ms": spread(decodable)}
    other = "opus" if name in ("mp3", "aac") else "mp3"
    calm = row | {"more_than_pcm_ms": spread(0.0), "decodable_more_than_pcm_ms": spread(0.0), "format": other}
    pcm = row | {"format": "pcm", "more_than_pcm_ms": spread(99.0), "decodable_more_than_pcm_ms": spread(99.0)}
    return {"zh": {"ways": [pcm, calm, row | {"format": name}]}}


@pytest.mark.parametrize(
    ("name", "more", "decodable", "expected"),
    [
        ("opus", 15.0, 15.0, [True, True, True]),
        ("opus", 15.1, 15.0, [False, True, True]),
        ("opus", 15.0, 15.1, [True, True, False]),
        ("mp3", 40.0, 40.0, [True, True, True]),
        ("mp3", 40.1, 40.1, [True, False, False]),
        ("aac", 16.0, 16.0, [True, True, True]),
    ],
)
def test_formats(name: str, more: float, decodable: float, expected: list[bool]) -> None:
    """15 ms after PCM, 40 for formats with long frames."""
    assert holds("formats", formats(name, more, decodable)) == expected


@pytest.mark.parametrize(("whole", "written", "expected"), [(20, 20, [True, True]), (20.1, 21, [False, False])])
def test_native(whole: float, written: float, expected: list[bool]) -> None:
    """The limit is 1.5 x 10 + 5 ms; another text is far below it."""
    row = {"lang": "zh", "length": "12", "floor_ms": spread(10.0)}
    rows = [
        row | {"whole_ms": spread(value), "written_ms": spread(other)} for value, other in ((1, 1), (whole, written))
    ]
    assert holds("native", rows) == expected


def test_tokens() -> None:
    """One segment behind, no silence; the latter also if audio is held back."""
    good = {"text": "a", "behind": 1, "underrun_ms": 0.0}
    assert holds("tokens", {"unbound": [good], "paced": [good | {"behind": 9}]}) == [True, True]
    assert holds("tokens", {"unbound": [good, good | {"behind": 2}], "paced": []}) == [False, True]
    assert holds("tokens", {"unbound": [good], "paced": [good | {"underrun_ms": 0.1}]}) == [True, False]


def test_waterfall() -> None:
    """Each run counts, and the medians."""
    good = {"lang": "en", "off": spread(0.01, 0.05), "off_medians": 0.05}
    assert holds("waterfall", [good]) == [True]
    assert holds("waterfall", [good, good | {"off": spread(0.01, 0.051)}]) == [False]
    assert holds("waterfall", [good | {"off_medians": 0.051}]) == [False]


def test_encoding() -> None:
    """10 ms for each second of audio; the lag is compared with that of an idle loop."""
    good = {"format": "mp3", "encoder_ms_per_s": spread(10.0), "held_p50_ms": spread(1.1), "held_ms": spread(7.0)}
    idle = {"idle_p50_ms": spread(0.1), "idle_ms": spread(2.0)}
    assert holds("encoding", {"formats": [good], **idle}) == [True, True, True]
    worse = {"encoder_ms_per_s": 10.1, "held_p50_ms": 1.2, "held_ms": 7.1}
    for number, (key, value) in enumerate(worse.items()):
        rows = [good, good | {key: spread(value)}]
        assert holds("encoding", {"formats": rows, **idle}) == [number != 0, number != 1, number != 2]


def test_the_worst_case_is_named() -> None:
    """It is the worst relative to its own limit, not the largest value."""
    row = {"lang": "zh", "length": "12", "floor_ms": spread(100.0), "whole_ms": spread(90.0), "written_ms": spread(1.0)}
    slow = {"lang": "en", "length": "64", "floor_ms": spread(10.0), "whole_ms": spread(25.0), "written_ms": spread(1.0)}
    whole, _ = check_targets({"native": [row, slow]})
    assert whole == TargetCheck(whole.wanted, "25.0 of 20.0 ms (en 64)", holds=False)


def test_a_target_without_measurements_is_not_met() -> None:
    """For example the one for AAC if AAC was not measured."""
    only_pcm = {"zh": {"ways": [formats("opus", 0.0, 0.0)["zh"]["ways"][0]]}}
    assert holds("formats", only_pcm) == [False, False, False]
