"""Places in English whose reading is given."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from yuliu.text.en import English
from yuliu.text.en.hints import to_misaki
from yuliu.types import Hint, Span

ENGLISH = English()


def hint(text: str, part: str, kind: str, value: str, detail: str = "") -> Hint:
    start = text.index(part)
    return Hint(Span(start, start + len(part)), kind, value, detail)  # type: ignore[arg-type]


def said(text: str, *hints: Hint) -> str:
    return "".join("".join(unit.phonemes) + unit.after for unit in ENGLISH.read(text, hints).units)


def test_hinted_phonemes_are_spoken_and_the_rest_is_unchanged() -> None:
    """Only the hinted word changes; the sentence around it is read as without the hint."""
    text = "I read “GIF” files, really."
    plain = said(text)
    assert said(text, hint(text, "GIF", "phonemes", "dʒˈɪf", "ipa")) == plain.replace(plain.split()[2], "“ʤˈɪf”")


def test_a_hint_may_cover_several_words() -> None:
    """A place with white space inside is one unit."""
    text = "in New York, now"
    reading = ENGLISH.read(text, [hint(text, "New York", "phonemes", "nu jˈɔɹk", "x-misaki")])
    assert [unit.text for unit in reading.units] == ["in", "New York", "now"]
    assert reading.units[1].source == Span(3, 11)
    assert "".join(reading.units[1].phonemes) == "nu jˈɔɹk"
    assert reading.units[1].after.strip() == ","


def test_a_spoken_form_is_normalised_and_one_piece() -> None:
    """Numbers in it become words; the units of it point at the place."""
    text = "Use K8s daily."
    reading = ENGLISH.read(text, [hint(text, "K8s", "spoken", "Kubernetes 2")])
    assert reading.spoken == "Use Kubernetes two daily."
    assert [unit.text for unit in reading.units if unit.source == Span(4, 7)] == ["Kubernetes", "two"]


def test_rules_see_hinted_places_but_leave_them_alone() -> None:
    """An amount beside a hinted word is read without it."""
    text = "$5 million left"
    assert "million" not in ENGLISH.read(text, [hint(text, "million", "spoken", "zillion")]).spoken


@pytest.mark.parametrize(
    ("part", "kind", "detail", "spoken"),
    [
        ("ABC12", "characters", "", "A B C one two"),
        ("1234", "digits", "", "one two three four"),
        ("1234", "cardinal", "", "one thousand two hundred thirty four"),
        ("-2.5", "cardinal", "", "minus two point five"),
        ("3", "ordinal", "", "third"),
        ("555-1234", "telephone", "", "five five five, one two three four"),
        ("03/04/2024", "date", "dmy", "April third, twenty twenty four"),
        ("03/04/2024", "date", "mdy", "March fourth, twenty twenty four"),
        ("05/2024", "date", "my", "May, twenty twenty four"),
        ("5km", "unit", "", "five kilometers"),
    ],
)
def test_say_as_sets_the_kind_of_expression(part: str, kind: str, detail: str, spoken: str) -> None:
    """The same digits are read as a date, a number or single digits."""
    text = f"on {part} then"
    assert ENGLISH.read(text, [hint(text, part, "say_as", kind, detail)]).spoken == f"on {spoken} then"


@pytest.mark.parametrize(("value", "detail"), [("☃", "ipa"), ("hao3", "pinyin"), ("ˈ", "ipa"), ("", "x-misaki")])
def test_a_hint_that_cannot_be_followed_is_refused(value: str, detail: str) -> None:
    """Its place is read as if the hint were not there."""
    reading = ENGLISH.read("a cat", [Hint(Span(2, 5), "phonemes", value, detail)])
    plain = ENGLISH.read("a cat")
    assert (reading.pieces, reading.units) == (plain.pieces, plain.units)
    assert [(each.source, each.rule) for each in reading.refused] == [(Span(2, 5), "phonemes_unknown")]


def test_ipa_becomes_the_alphabet_of_the_voice() -> None:
    """Diphthongs and affricates are single symbols; length and syllable breaks have none."""
    assert to_misaki("/təˈmeɪ.toʊ/", "ipa") == "təˈmAtO"
    assert to_misaki("ˈt͡ʃiːz", "ipa") == "ˈʧiz"


HINTS = st.builds(
    lambda start, length, kind, value, detail: Hint(Span(start, start + length), kind, value, detail),
    st.integers(-1, 12),
    st.integers(-1, 4),
    st.sampled_from(["phonemes", "say_as", "spoken"]),
    st.sampled_from(["kˈæt", "x☃", "", "two 2", "digits", "date", "characters", "ordinal"]),
    st.sampled_from(["x-misaki", "ipa", "ymd", ""]),
)


@settings(max_examples=200, deadline=None)
@example(text=" ", hints=[Hint(Span(0, 1), "phonemes", "kˈæt", "x-misaki")])
@example(text="\u0301", hints=[Hint(Span(0, 1), "phonemes", "kˈæt", "x-misaki")])
@given(text=st.text(st.sampled_from("a bc$3.5%'-“\u0301ﬁ好\ud800"), max_size=12), hints=st.lists(HINTS, max_size=4))
def test_any_hints_leave_the_text_tiled(text: str, hints: list[Hint]) -> None:
    """No hint raises, and the pieces tile the text."""
    reading = ENGLISH.read(text, hints)
    edges = [0, *(piece.source.end for piece in reading.pieces)]
    assert [piece.source.start for piece in reading.pieces] == edges[:-1]
    assert edges[-1] == len(text)
    assert [unit.source for unit in reading.units] == sorted(unit.source for unit in reading.units)


def test_a_text_that_is_no_number_is_not_said_as_one() -> None:
    """The hint is refused, and the text is read normally."""
    reading = ENGLISH.read("room A", [Hint(Span(5, 6), "say_as", "cardinal")])
    assert [refused.rule for refused in reading.refused] == ["say_as_unknown"]
    assert reading.spoken == "room A"


def test_a_date_in_no_known_order_is_read_as_it_stands() -> None:
    """Without an order, a date is normalised like any other text."""
    assert said("on 2024", hint("on 2024", "2024", "say_as", "date")) == said("on 2024")
