"""Presets: built-in ones, an operator's file, and overrides of a request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.errors import InvalidRequest
from yuliu.presets import (
    DEFAULT_PRESET,
    MAX_FILE_BYTES,
    Bounds,
    Preset,
    as_values,
    load_presets,
    parse_chunking,
    parse_presets,
    presets,
    resolve,
)
from yuliu.segmenter import Chunking
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = """\
[ours]
description = "For us."
first_packet_ms = 200
class = "bulk"
chunking = "punctuation"
workers = "all"
queue = [1, 3]
"""


def bounds(most: int) -> st.SearchStrategy[Bounds]:
    pair = st.lists(st.integers(1, most), min_size=2, max_size=2).map(sorted)
    return st.one_of(st.just(Bounds(1, None)), pair.map(lambda both: Bounds(*both)))


PRESETS = st.builds(
    Preset,
    name=st.just("x"),
    description=st.just("y"),
    stream_class=st.sampled_from(StreamClass),
    first_packet_s=st.integers(1, 60_000).map(lambda ms: ms / 1000),
    chunking=st.builds(lambda low, more: Chunking("fixed", low, low + more), st.floats(3.5, 45), st.floats(0, 45)),
    workers=bounds(256),
    queue=bounds(4096),
    max_lead_s=st.one_of(st.none(), st.floats(0.1, 3600)),
)


def test_built_in_presets_have_the_documented_values() -> None:
    """The table lists the uses with first packet, segments, workers and queue."""
    known = presets()
    assert list(known) == [DEFAULT_PRESET, "dialogue", "audiobook", "subtitle", "api"]
    assert all(preset.name == name and preset.description for name, preset in known.items())
    dialogue, audiobook, subtitle, api = (known[name] for name in list(known)[1:])
    assert (dialogue.first_packet_s, dialogue.workers, dialogue.queue, dialogue.max_lead_s) == (
        0.5,
        (2, 4),
        (4, 6),
        3.0,
    )
    assert (audiobook.first_packet_s, audiobook.workers, audiobook.queue) == (1.0, (1, 2), (2, 4))
    assert (subtitle.first_packet_s, subtitle.workers, subtitle.queue) == (0.3, (4, 8), (8, 12))
    assert (api.workers, api.queue) == ((1, None), (1, None))
    assert [preset.chunking.strategy for preset in known.values()] == [
        *("adaptive", "adaptive", "sentence", "fixed", "sentence")
    ]
    assert subtitle.chunking.weights == (8, 12)
    assert audiobook.chunking.weights == (10, 30)


def test_the_mapping_is_immutable() -> None:
    """All callers share it."""
    with pytest.raises(TypeError):
        presets()["mine"] = presets()["api"]  # type: ignore[index]


def test_an_operators_file_changes_and_adds_presets(tmp_path: Path) -> None:
    """Absent fields keep their values; a new preset must have all of them."""
    path = tmp_path / "presets.toml"
    path.write_text(WHOLE + "[dialogue]\nmax_lead_s = 1.5\nchunking = { strategy = 'punctuation', min_weight = 6 }\n")
    known = load_presets(path)
    assert known["ours"] == Preset(
        "ours", "For us.", StreamClass.BULK, 0.2, Chunking("punctuation"), Bounds(1, None), Bounds(1, 3)
    )
    assert known["dialogue"].max_lead_s == 1.5
    assert known["dialogue"].chunking == Chunking("punctuation", 6)
    assert known["dialogue"].queue == presets()["dialogue"].queue
    assert known["api"] == presets()["api"]
    assert "ours" not in presets()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[ours", "p.toml: not valid TOML: Expected"),
        ("dialogue = 3", "p.toml: dialogue must be a table of fields"),
        ("['my own']", "p.toml: a preset's name must match"),
        ("[dialogue]\nworker = [1, 2]", "p.toml: dialogue.worker is not known; known here: first_packet_ms, class,"),
        ("[dialogue]\nname = 'x'", "p.toml: dialogue.name is not known"),
        (
            "[dialogue]\nworkers = [3, 2]",
            "p.toml: dialogue.workers must be two whole numbers, least and most, from 1 to 256",
        ),
        ("[dialogue]\nworkers = [0, 2]", "p.toml: dialogue.workers must be"),
        ("[dialogue]\nworkers = [1.5, 2]", "p.toml: dialogue.workers must be"),
        ("[dialogue]\nworkers = [true, 2]", "p.toml: dialogue.workers must be"),
        ("[dialogue]\nworkers = 'memory'", "p.toml: dialogue.workers must be"),
        ("[dialogue]\nqueue = [1, 2, 3]", 'or "memory"'),
        ("[dialogue]\nfirst_packet_ms = '500'", "p.toml: dialogue.first_packet_ms must be a number of milliseconds"),
        ("[dialogue]\nfirst_packet_ms = nan", "p.toml: dialogue.first_packet_ms must be"),
        ("[dialogue]\nclass = 'urgent'", "p.toml: dialogue.class must be one of interactive, standard, bulk"),
        ("[dialogue]\nmax_lead_s = inf", "p.toml: dialogue.max_lead_s must be a number of seconds from 0.1"),
        ("[dialogue]\ndescription = ''", "p.toml: dialogue.description must be a string"),
        ("[dialogue]\nchunking = 3", "p.toml: dialogue.chunking must be the name of a strategy"),
        ("[dialogue]\nchunking = 'words'", "p.toml: dialogue.chunking: strategy must be one of adaptive"),
        (
            "[dialogue]\nchunking = { strategy = 'fixed', size = 3 }",
            "p.toml: dialogue.chunking.size is not known; known here: strategy,",
        ),
        (
            "[dialogue]\nchunking = { min_weight = 3 }",
            "p.toml: dialogue.chunking.strategy is missing; it must be the name of a strategy",
        ),
        ("[dialogue]\nchunking = { strategy = 'fixed', min_weight = 1 }", "dialogue.chunking: min_weight must be from"),
        (
            "[dialogue]\nchunking = { strategy = 'fixed', min_weight = '9' }",
            "dialogue.chunking.min_weight must be a num",
        ),
        (WHOLE.replace("queue = [1, 3]\n", ""), "p.toml: ours.queue is missing"),
        ("".join(WHOLE.replace("ours", f"ours{n}") for n in range(64)), "p.toml: there are more than 64 presets"),
    ],
)
def test_errors_in_a_file_state_their_place(text: str, message: str) -> None:
    """No error is ignored: a mistake of the operator would show only under load."""
    with pytest.raises(InvalidRequest) as refusal:
        parse_presets(text, where="p.toml", known=presets())
    assert message in refusal.value.message


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "cannot be read"), (b"\xff", "is not UTF-8"), (b"#" * (MAX_FILE_BYTES + 1), "is larger than")],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes | None, message: str) -> None:
    """It may be absent, in another encoding or too large."""
    path = tmp_path / "presets.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidRequest, match=message):
        load_presets(path)


@given(preset=PRESETS)
def test_the_values_of_a_preset_can_be_requested(preset: Preset) -> None:
    """The plain values of a preset, sent as JSON, override all values of another one."""
    values = json.loads(json.dumps(as_values(preset)))
    del values["name"], values["description"]
    found = resolve("api", values)
    assert found == preset.__class__("api", presets()["api"].description, *_rest(preset))


def _rest(preset: Preset) -> tuple[Any, ...]:
    return (
        preset.stream_class,
        preset.first_packet_s,
        preset.chunking,
        preset.workers,
        preset.queue,
        preset.max_lead_s,
    )


def test_a_request_without_a_preset_gets_the_default() -> None:
    """It may override single fields."""
    assert resolve(None, {}) == presets()[DEFAULT_PRESET]
    assert resolve(None, {"class": "bulk"}).stream_class is StreamClass.BULK
    assert resolve("dialogue", {"max_lead_s": None}).max_lead_s is None


@pytest.mark.parametrize(
    ("name", "overrides", "param", "message"),
    [
        ("x", {}, "preset", "no such preset; there are default, dialogue, audiobook, subtitle, api"),
        ("api", {"speed": 2}, "speed", "speed is not known"),
        ("api", {"name": "x"}, "name", "name is not known"),
        ("api", {"class": None}, "class", "class must be one of"),
        ("api", {"class": ["bulk"]}, "class", "class must be one of"),
        ("api", {"workers": {}}, "workers", "workers must be"),
        ("api", {"max_lead_s": True}, "max_lead_s", "max_lead_s must be"),
        ("api", {"chunking": {"strategy": "fixed", "max_weight": 4}}, "chunking.max_weight", "chunking: max_weight"),
        ("api", {"chunking": {"strategy": "fixed", "min_weight": True}}, "chunking.min_weight", "must be a number"),
    ],
)
def test_an_invalid_request_names_field_and_accepted_values(
    name: str, overrides: dict[str, object], param: str, message: str
) -> None:
    """The error has the field as its parameter."""
    with pytest.raises(InvalidRequest) as refusal:
        resolve(name, overrides)
    assert refusal.value.param == param
    assert message in refusal.value.message


def test_a_chunking_is_a_name_or_an_object() -> None:
    assert parse_chunking("fixed") == Chunking("fixed")
    assert parse_chunking({"strategy": "fixed", "min_weight": 10, "max_weight": None}) == Chunking("fixed", 10)


@pytest.mark.parametrize(
    ("bounds", "wanted", "available", "number"),
    [
        (Bounds(2, 4), 1, 8, 2),
        (Bounds(2, 4), 3, 8, 3),
        (Bounds(2, 4), 9, 8, 4),
        (Bounds(2, 4), 9, 1, 1),
        (Bounds(1, None), 9, 16, 9),
        (Bounds(1, None), 99, 16, 16),
        (Bounds(4, 8), 1, 0, 1),
    ],
)
def test_a_number_is_clamped_to_the_preset_and_the_machine(
    bounds: Bounds, wanted: int, available: int, number: int
) -> None:
    """The range of the preset applies first, then the available number; the result is at least 1."""
    assert bounds.clamp(wanted, available=available) == number
