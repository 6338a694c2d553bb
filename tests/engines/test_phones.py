"""Input of FastSpeech2 and layout of its durations; pure, without weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.engines.fastspeech2.phones import ScriptRun, lay_out, write_scripts
from yuliu.text.frontend import Unit
from yuliu.types import Span

MARKS = ("#0", "#1", "#2", "#3")


def units(marks: list[str]) -> list[Unit]:
    """Return one syllable for each mark, which stands after it."""
    return [Unit(Span(at, at + 1), "好", ("h", "ao3"), after=mark) for at, mark in enumerate(marks)]


@st.composite
def runs(draw: st.DrawFn) -> list[ScriptRun]:
    """Draw scripts with any durations and any audible frames, as a bad model might give them."""
    marks = draw(st.lists(st.sampled_from(MARKS), min_size=1, max_size=12))
    drawn = []
    for script in write_scripts(units(marks), max_units=draw(st.integers(1, 6))):
        size = len(script.symbols)
        durations = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
        edges = tuple(int(edge) for edge in np.cumsum([0, *durations]))
        audible = np.array(draw(st.lists(st.booleans(), min_size=edges[-1], max_size=edges[-1])), np.bool_)
        drawn.append(ScriptRun(script, edges, audible))
    return drawn


def run_of(marks: list[str], durations: list[int], audible: range) -> ScriptRun:
    """Return one run with one stretch of audible frames."""
    (script,) = write_scripts(units(marks), max_units=len(marks))
    edges = tuple(int(edge) for edge in np.cumsum([0, *durations]))
    return ScriptRun(script, edges, np.isin(np.arange(edges[-1]), audible))


def test_symbols_stand_between_silence_and_end_mark() -> None:
    """Marks stand between syllables; silence and the end mark replace the last one, as in training."""
    (script,) = write_scripts(units(["#1", "#3", "#0"]), max_units=9)
    assert script.symbols == (
        "sil", "h", "ao3", "#1", "h", "ao3", "#3", "h", "ao3", "sil", "eos",
    )  # fmt: skip
    assert script.phones == ((1, 3), (4, 6), (7, 9))


@pytest.mark.parametrize("mark", ["", "。", "#4"])
def test_an_unknown_mark_counts_as_inside_a_word(mark: str) -> None:
    """For any mark of a front end, the model gets a mark that it knows."""
    (script,) = write_scripts(units([mark, ""]), max_units=2)
    assert script.symbols[3] == "#0"


@given(st.lists(st.sampled_from(MARKS), max_size=40), st.integers(1, 9))
def test_scripts_hold_each_unit_once_in_order(marks: list[str], max_units: int) -> None:
    """Cutting a long text into runs loses, doubles and moves no syllable, and no run is too long."""
    said = units(marks)
    written = list(write_scripts(said, max_units=max_units))
    assert [unit for script in written for unit in script.units] == said
    assert all(1 <= len(script.units) <= max_units for script in written)


def test_long_texts_are_cut_at_the_strongest_mark() -> None:
    """A pause in the second half of the run is preferred to filling the run."""
    marks = ["#0", "#1", "#3", "#2", "#0", "#3", "#0", "#2", "#0", "#0", "#0"]
    assert [len(script.units) for script in write_scripts(units(marks), max_units=8)] == [6, 5]


def test_outer_silence_is_cut_to_the_requested_length() -> None:
    """Silence is measured from the audible frames, not from the durations."""
    run = run_of(["#0"], [10, 3, 7, 8, 6], range(14, 25))
    layout = lay_out([run], lead_frames=2, tail_frames=4)
    assert (layout.first_frame, layout.num_frames) == (12, 17)
    assert (layout.lead_frames, layout.tail_frames) == (2, 4)
    assert layout.places == ((2, 13),)


def test_silence_is_never_padded() -> None:
    """If the model gives less silence than requested, all of it is kept and reported."""
    layout = lay_out([run_of(["#0"], [1, 3, 7, 2, 1], range(1, 13))], lead_frames=5, tail_frames=5)
    assert (layout.first_frame, layout.num_frames, layout.lead_frames, layout.tail_frames) == (0, 14, 1, 1)


def test_an_inaudible_run_is_kept_whole() -> None:
    """A detector that finds nothing cuts nothing."""
    layout = lay_out([run_of(["#0"], [4, 3, 7, 4, 2], range(0))], lead_frames=0, tail_frames=0)
    assert (layout.first_frame, layout.num_frames) == (0, 20)


def test_syllables_extend_to_each_other_but_not_over_pauses() -> None:
    """A mark inside a clause belongs to its syllable; the silence of #3 belongs to none."""
    (script,) = write_scripts(units(["#1", "#3", "#0"]), max_units=3)
    edges = tuple(int(edge) for edge in np.cumsum([0, 4, 3, 5, 8, 3, 5, 20, 3, 5, 8, 4]))
    audible = np.isin(np.arange(edges[-1]), [*range(4, 38), *range(48, 60)])
    assert ScriptRun(script, edges, audible).places() == [(4, 18), (18, 38), (48, 60)]


@given(runs(), st.integers(0, 12), st.integers(0, 12))
def test_layouts_are_valid_for_any_durations(drawn: list[ScriptRun], lead_frames: int, tail_frames: int) -> None:
    """Kept frames lie within their runs, places are in order within the audible part, and silences add up."""
    layout = lay_out(drawn, lead_frames=lead_frames, tail_frames=tail_frames)
    total = sum(stop - start for start, stop in layout.kept)
    assert all(0 <= start <= stop <= run.num_frames for run, (start, stop) in zip(drawn, layout.kept, strict=True))
    assert 0 <= layout.first_frame <= layout.first_frame + layout.num_frames <= total
    assert 0 <= layout.lead_frames <= lead_frames
    assert 0 <= layout.tail_frames <= tail_frames
    flat = [edge for place in layout.places for edge in place]
    assert flat == sorted(flat)
    assert all(0 <= edge <= layout.num_frames for edge in flat)
    assert len(layout.places) == sum(len(run.script.units) for run in drawn)
