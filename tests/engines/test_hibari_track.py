"""Scripts and tracks: division of long scripts, and times of words."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from yuliu.engines.hibari.model import HibariPlan
from yuliu.engines.hibari.track import TrackWord, alignment_lag_frames, heard, lay_track, split_lines, symbols_of
from yuliu.text.frontend import Unit
from yuliu.types import Span

SILENT, LOUD = -1.5, 1.5


def line(symbols: str, marks: str = " ") -> TrackWord:
    return TrackWord(Unit(Span(0, 1), symbols, tuple(symbols), marks), tuple(symbols), tuple(marks))


def planned(edges: list[int], loudness: list[float]) -> HibariPlan:
    hidden = np.zeros((130, len(loudness)), np.float32)
    hidden[-1] = loudness
    return HibariPlan(np.array(edges), hidden, np.arange(len(loudness), dtype=np.float32))


words = st.builds(line, st.text("abc", min_size=1, max_size=30), st.sampled_from([" ", ", ", "", ". "]))


@given(lines=st.lists(words, max_size=40), max_symbols=st.integers(1, 60))
def test_parts_hold_all_words_in_order(lines: list[TrackWord], max_symbols: int) -> None:
    """The joined parts equal the script, none is empty, and none with several words is too long."""
    parts = split_lines(lines, max_symbols=max_symbols)
    assert [word for part in parts for word in part] == lines
    for part in parts:
        assert len(part) == 1 or 0 < sum(word.num_symbols for word in part) <= max_symbols


def test_long_scripts_are_cut_after_punctuation() -> None:
    """A cut follows the last punctuation that fits, if that lies in the second half."""
    lines = [line("aaa", ", "), line("aaaa"), line("aa", ", "), line("aa"), line("aaaa")]
    assert split_lines(lines, max_symbols=16) == [lines[:3], lines[3:]]


def test_scripts_without_punctuation_are_cut_between_words() -> None:
    """Without punctuation, a part takes all words that fit."""
    lines = [line("aaa")] * 5
    assert [len(part) for part in split_lines(lines, max_symbols=9)] == [2, 2, 1]


def test_no_space_ends_a_part() -> None:
    """The model does not get the space after the last word, but gets its punctuation."""
    assert symbols_of([line("ab"), line("c", ". ")]) == ("a", "b", " ", "c", ".")


def test_word_times_match_the_audible_sound() -> None:
    """The time of a word is that of its phonemes, earlier by the lag of the durations, without silence at its ends."""
    lag = alignment_lag_frames(1.0)
    loudness = [SILENT] * 6 + [LOUD] * 8 + [SILENT] * 6 + [LOUD] * 4 + [SILENT] * 6
    edges = [edge + lag for edge in (0, 4, 12, 16, 20, 24, 26)]
    track = lay_track([[line("ab", ","), line("c", ".")]], [planned(edges, loudness)], speed=1.0)
    assert track.places == ((6, 14), (20, 24))
    assert (track.onset, track.fade_end) == (6, 24)


def test_silence_at_joints_is_shortened() -> None:
    """Only a tenth of a second of silence is left between two parts, and later words move up with it."""
    loudness = [SILENT] * 20 + [LOUD] * 10 + [SILENT] * 20
    plan = planned([0, 24, 34, 50], loudness)
    track = lay_track([[line("a", "")], [line("b", "")]], [plan, plan], speed=1.0)
    assert track.places == ((20, 30), (38, 48))
    assert len(track.f0) == track.hidden.shape[1] == 34 + 34
    assert track.f0[33:35].tolist() == [33.0, 16.0]


def test_a_silent_plan_is_kept_whole() -> None:
    """If no frame is predicted to be audible, none is cut as silence."""
    assert heard(np.full(9, SILENT, np.float32)) == (0, 9)
