"""Tests of stream options and of the options of presets."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from yuliu.errors import InvalidRequest
from yuliu.presets import presets, resolve
from yuliu.scheduler.policy.events import Terms
from yuliu.segmenter import Chunking, SegmenterOptions
from yuliu.stream import MAX_LEAD_IN_MS, StreamOptions, options_of
from yuliu.types import SpeakOptions, StreamClass


def test_a_preset_becomes_options() -> None:
    """Class, lead and cutting come from the preset, all other options from the caller."""
    base = StreamOptions(SpeakOptions(speed=1.5), terms=Terms(weight=3.0), lead_in_ms=20, stall_s=math.inf)
    options = options_of("dialogue", base, num_workers=4)
    assert options.terms == Terms(
        StreamClass.INTERACTIVE, weight=3.0, max_lead_s=3.0, max_planned=4, first_packet_s=0.5
    )
    assert options.max_pending == 4 + 6
    assert options == replace(base, terms=options.terms, max_pending=10)


@pytest.mark.parametrize("name", presets())
@pytest.mark.parametrize("num_workers", [1, 2, 64])
def test_every_preset_stays_within_its_bounds(name: str, num_workers: int) -> None:
    """One segment is planned beside the one that is made, and even an unlimited queue is bounded by memory."""
    preset = presets()[name]
    options = options_of(preset, num_workers=num_workers)
    assert options.chunking == preset.chunking
    assert options.terms.stream_class is preset.stream_class
    assert options.terms.max_lead_s == preset.max_lead_s
    assert 2 <= options.terms.max_planned <= max(2, num_workers, preset.workers.least)
    assert options.max_pending - options.terms.max_planned >= preset.queue.least
    assert options.max_pending - options.terms.max_planned <= (preset.queue.most or 256)


def test_overrides_of_presets_apply() -> None:
    """A request may change single fields."""
    preset = resolve("audiobook", {"class": "bulk", "max_lead_s": 60, "queue": [1, 2]})
    options = options_of(preset, num_workers=2)
    assert options.terms == Terms(StreamClass.BULK, max_lead_s=60.0, max_planned=2, first_packet_s=1.0)
    assert options.max_pending == 4


def test_an_unknown_preset_is_rejected() -> None:
    """The error names the field."""
    with pytest.raises(InvalidRequest) as error:
        options_of("karaoke")
    assert error.value.param == "preset"


@pytest.mark.parametrize("changes", [{"max_pending": 0}, {"lead_in_ms": -1}, {"lead_in_ms": MAX_LEAD_IN_MS + 1}])
def test_options_out_of_range_are_rejected(changes: dict[str, int]) -> None:
    """The error is raised before a stream is opened."""
    with pytest.raises(InvalidRequest) as error:
        StreamOptions(**changes)  # type: ignore[arg-type]
    assert error.value.param in changes


OWN_RULES = SegmenterOptions(first_weight=9.0)


@pytest.mark.parametrize(
    ("options", "scale", "throughput", "rules"),
    [
        (StreamOptions(), 1.0, False, Chunking().options()),
        (StreamOptions(), 0.5, False, Chunking().options(first_weight_scale=0.5)),
        (StreamOptions(), 1.0, True, Chunking("sentence").options()),
        (StreamOptions(chunking=Chunking("punctuation")), 1.0, True, Chunking("sentence").options()),
        (StreamOptions(chunking=Chunking("fixed")), 1.0, True, Chunking("fixed").options()),
        (StreamOptions(chunking=Chunking("sentence", 5, 50)), 1.0, True, Chunking("sentence", 5, 50).options()),
        (StreamOptions(segmenter=OWN_RULES), 0.5, False, OWN_RULES),
        (StreamOptions(segmenter=OWN_RULES), 1.0, True, Chunking("sentence").options()),
    ],
)
def test_rules_of_cutting(options: StreamOptions, scale: float, throughput: bool, rules: SegmenterOptions) -> None:
    """Load changes adaptive cutting only; pieces of fixed length stay the same."""
    assert options.rules(first_weight_scale=scale, throughput=throughput) == rules
