"""Tests of the coverage ledger."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from yuliu.stream.coverage import Ledger
from yuliu.types import Coverage, Skipped, Span


@st.composite
def parts(draw: st.DrawFn) -> tuple[int, list[tuple[Span, list[Skipped], str]]]:
    """Draw a text's length and some of its parts, each with disjoint skips and an outcome."""
    cuts = sorted(draw(st.sets(st.integers(0, 60), min_size=2, max_size=12)))
    spans = [Span(a, b) for a, b in itertools.pairwise(cuts)]
    chosen = []
    for span in draw(st.permutations(spans)):
        inner = sorted(draw(st.sets(st.integers(span.start, span.end), max_size=4)))
        skips = [Skipped(Span(a, b), "symbol") for a, b in zip(inner[::2], inner[1::2], strict=False)]
        chosen.append((span, skips, draw(st.sampled_from(["spoken", "silent", "left"]))))
    return cuts[-1] + draw(st.integers(0, 5)), chosen


def account(num_chars: int, chosen: list[tuple[Span, list[Skipped], str]]) -> Coverage:
    ledger = Ledger()
    ledger.received(num_chars)
    for span, skips, fate in chosen:
        if fate == "spoken":
            ledger.spoken(span, skips)
        elif fate == "silent":
            ledger.silent(span, skips)
    return ledger.coverage()


@given(parts())
def test_every_character_is_in_exactly_one_list(case: tuple[int, list[tuple[Span, list[Skipped], str]]]) -> None:
    """Spoken, skipped and failed spans tile the text for any order of recording."""
    num_chars, chosen = case
    coverage = account(num_chars, chosen)
    count = [0] * num_chars
    for span in [*coverage.spoken, *(skip.source for skip in coverage.skipped), *coverage.failed]:
        for at in range(*span):
            count[at] += 1
    assert count == [1] * num_chars


@given(parts())
def test_only_spoken_text_counts_as_spoken(case: tuple[int, list[tuple[Span, list[Skipped], str]]]) -> None:
    """No character of a silent or missing part is in the spoken list."""
    num_chars, chosen = case
    said = {at for span, skips, fate in chosen if fate == "spoken" for at in range(*span)}
    said -= {at for _, skips, _ in chosen for skip in skips for at in range(*skip.source)}
    assert {at for span in account(num_chars, chosen).spoken for at in range(*span)} == said


def test_adjacent_spans_are_merged() -> None:
    """A text that is spoken completely has one span."""
    ledger = Ledger()
    ledger.received(6)
    ledger.spoken(Span(3, 6), [])
    ledger.spoken(Span(0, 3), [])
    assert ledger.coverage() == Coverage(spoken=(Span(0, 6),))


def test_the_ledger_of_a_long_stream_stays_short() -> None:
    """Consecutive parts are stored as one span."""
    ledger = Ledger()
    for at in range(0, 10_000, 10):
        ledger.received(10)
        ledger.spoken(Span(at, at + 10), [])
    assert ledger._spoken == [Span(0, 10_000)]


def test_text_that_the_reader_left_out_is_subtracted_from_parts() -> None:
    """Left-out text inside and between parts is skipped by its own rule, and neighbours of one rule are merged."""
    ledger = Ledger()
    ledger.received(12)
    for start, end, rule in ((0, 1, "markdown"), (1, 2, "markdown"), (2, 3, "html"), (7, 8, "html")):
        ledger.left_out(Skipped(Span(start, end), rule))
    ledger.spoken(Span(0, 6), [])
    ledger.silent(Span(6, 10), [Skipped(Span(8, 9), "symbol")])
    assert ledger.coverage() == Coverage(
        spoken=(Span(3, 6),),
        skipped=(
            Skipped(Span(0, 2), "markdown"),
            Skipped(Span(2, 3), "html"),
            Skipped(Span(6, 7), "punctuation"),
            Skipped(Span(7, 8), "html"),
            Skipped(Span(8, 9), "symbol"),
            Skipped(Span(9, 10), "punctuation"),
        ),
        failed=(Span(10, 12),),
    )


def test_overlapping_skips_count_once() -> None:
    """Two characters of a segment may have one source, and a skip may reach beyond its part."""
    ledger = Ledger()
    ledger.received(6)
    ledger.spoken(
        Span(2, 5), [Skipped(Span(2, 3), "symbol"), Skipped(Span(2, 3), "symbol"), Skipped(Span(4, 6), "emoji")]
    )
    coverage = ledger.coverage()
    assert coverage.skipped == (Skipped(Span(2, 3), "symbol"), Skipped(Span(4, 5), "emoji"))
    assert (coverage.spoken, coverage.failed) == ((Span(3, 4),), (Span(0, 2), Span(5, 6)))


def test_neighbouring_skips_of_one_rule_are_one() -> None:
    """Skips of one rule that touch are merged; the parts around them are spoken."""
    ledger = Ledger()
    ledger.received(12)
    for span, rule in (((2, 3), "markdown"), ((3, 5), "markdown"), ((5, 6), "url"), ((8, 9), "url")):
        ledger.left_out(Skipped(Span(*span), rule))
    ledger.spoken(Span(0, 4), [])
    ledger.spoken(Span(4, 12), [Skipped(Span(9, 10), "symbol")])
    found = ledger.coverage()
    assert found.spoken == (Span(0, 2), Span(6, 8), Span(10, 12))
    assert found.skipped == (
        Skipped(Span(2, 5), "markdown"),
        Skipped(Span(5, 6), "url"),
        Skipped(Span(8, 9), "url"),
        Skipped(Span(9, 10), "symbol"),
    )
    assert found.failed == ()


def test_skips_of_one_source_character_are_reported_once() -> None:
    """Two characters of the spoken text may stand for one of the source."""
    ledger = Ledger()
    ledger.received(2)
    ledger.spoken(Span(0, 2), [Skipped(Span(1, 2), "symbol"), Skipped(Span(1, 2), "symbol")])
    assert ledger.coverage() == Coverage((Span(0, 1),), (Skipped(Span(1, 2), "symbol"),), ())
