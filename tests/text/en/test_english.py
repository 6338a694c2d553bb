"""Guarantees for any text, and for the phonemes of the voice."""

from __future__ import annotations

import itertools
import threading
import time
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hibari.g2p import G2P
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.text.en import English, measures
from yuliu.text.en.pronounce import Token, _Walk
from yuliu.text.en.rules import words as abbreviations
from yuliu.text.en.tables import listing

if TYPE_CHECKING:
    from yuliu.text.frontend import FrontEnd, Reading

PLAIN = (
    "Hello there, how are you today?",
    "It's a well-known fact; don't worry.",
    "The quick brown fox jumps over the lazy dog.",
    "She sells sea shells by the sea shore.",
    "I have to go to the store, but I can't find my keys!",
    "We'll see; they've already left, haven't they?",
    "The old man, who was tired, sat down (slowly) and slept.",
    "This is an apple and that is the end of the story.",
    "Mother-in-law, state-of-the-art, twenty-one.",
    "He used to live here; I used the tool.",
    "Wait — what did you say?",
    "I'm sure you're right: it isn't over yet...",
    "NASA and the FBI sent PDFs to the CEO.",
    "The dogs' tails and the cat's paws.",
    "And/or he said: yes, maybe... no!",
)
SEEDS = (
    "I paid $3.50 on May 5, 2024 at 3:30 PM for 5 km/h & C++.",
    "e-mail a.b@c.com, see https://x.y/z?q=1#f (or 192.168.0.1:80) — “ok” ‘no’ 50%",
    "½ ﬁne ㎏ 5㎏ x² 10⁻³ №5 ①②③ ﷺ ＡＢＣ１２３ e\u0301 \u200b😀👩‍👩‍👧 你好 привет",
    "Dr. St. No. 5-10 1939–1945 v2.0.1 a_b camelCase #Tag @me <3 :) 3*4=12 2^10 ~5 1e-5",
)


SHARED = English()

VOCABULARY = sorted(
    {
        *abbreviations.TITLES,
        *abbreviations.ABBREVIATIONS,
        *abbreviations.COUNTED,
        *abbreviations.REGNAL,
        *measures.UNITS,
        *listing(
            "1 2 10 007 1999 2024 12345 1,234 3.14 .5 1.25 -.5 1/2 3:30 10-15 1e5 I II IV XIV MCM X V PM a.m. Jan May"
        ),
        *listing("' \" ( ) [ ] { } < > = + - * / ^ ~ _ @ # $ £ % & : ; , ! ? … — – \\ | ° http:// www. .com .py v ½ ²"),
        *listing("st nd k M B T x 's th a the read lead bass text room flight USD US$ RTX #a me@a.b 你 😀 é"),
    }
)
RUNS = listing("1 a A ( - . , ' \" $ 1, 1. 1- a. a- a_ 1/ a1 @a # :) http:// www.a. +1 1: aB")


@pytest.fixture(scope="module")
def hibari() -> G2P:
    return G2P()


@pytest.fixture(scope="module")
def english(hibari: G2P) -> English:
    return English(hibari.oov)


def joined(reading: Reading) -> str:
    return "".join("".join(unit.phonemes) + unit.after for unit in reading.units)


def check(text: str, reading: Reading) -> None:
    """Check the guarantees of ``Reading``."""
    ends = [0, *(piece.source.end for piece in reading.pieces)]
    starts = [*(piece.source.start for piece in reading.pieces), len(text)]
    assert ends == starts
    covered = [False] * len(text)
    last = 0
    for unit in reading.units:
        assert unit.phonemes
        assert last <= unit.source.start <= unit.source.end <= len(text)
        assert unit.source.start < unit.source.end
        last = unit.source.start
        covered[unit.source.start : unit.source.end] = [True] * (unit.source.end - unit.source.start)
    for skip in reading.skipped:
        assert 0 <= skip.source.start < skip.source.end <= len(text)
        covered[skip.source.start : skip.source.end] = [True] * (skip.source.end - skip.source.start)
    for char, known in zip(text, covered, strict=True):
        assert known or char.isspace() or unicodedata.category(char)[0] in "PZ", f"U+{ord(char):04X} is lost"


@pytest.mark.parametrize("text", PLAIN)
def test_plain_sentences_sound_as_the_voice_was_trained(english: English, hibari: G2P, text: str) -> None:
    """Joined phonemes equal hibari's own for the sentence."""
    assert joined(english.read(text)) == hibari(text)


@given(st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read(text: str) -> None:
    """No characters raise; pieces tile the text, units are in order, nothing is lost."""
    check(text, SHARED.read(text))


@given(st.lists(st.sampled_from(sorted({*"".join(SEEDS), *"0123456789.,:/-$%°'"})), max_size=40).map("".join))
@settings(max_examples=150, deadline=None)
def test_any_mix_of_digits_and_marks_is_read(text: str) -> None:
    """Characters that the rules search for, in any order."""
    check(text, SHARED.read(text))


@given(st.sampled_from(SEEDS + PLAIN), st.integers(0, 80), st.integers(0, 80))
@settings(max_examples=150, deadline=None)
def test_any_cut_of_a_text_is_read(text: str, start: int, length: int) -> None:
    """A text may be cut anywhere."""
    cut = text[start : start + length]
    check(cut, SHARED.read(cut))


@given(st.text(alphabet="ABCabc019 .-'>%~@😀|", max_size=30))
@settings(max_examples=150, deadline=None)
def test_letters_and_digits_are_always_spoken(text: str) -> None:
    """No ASCII letter or digit is skipped."""
    reading = SHARED.read(text)
    check(text, reading)
    spoken = {place for unit in reading.units for place in range(unit.source.start, unit.source.end)}
    assert all(place in spoken for place, char in enumerate(text) if char.isascii() and char.isalnum())


def test_units_map_back_to_the_source() -> None:
    """Each word keeps its characters; a rewriting is one span with any number of words."""
    text = "It cost “$3.2 billion”, she said."
    units = SHARED.read(text).units
    spans = [(unit.text, text[unit.source.start : unit.source.end]) for unit in units]
    assert spans == [
        ("It", "It"),
        ("cost", "cost"),
        *((word, "$3.2 billion") for word in ("three", "point", "two", "billion", "dollars")),
        ("she", "she"),
        ("said", "said"),
    ]


def test_folding_keeps_the_place() -> None:
    """Ligatures, full-width forms and marks map back to the source."""
    text = "The ﬁne ｃａｆｅ́ o\u00adpened"
    units = SHARED.read(text).units
    assert [unit.text for unit in units] == ["The", "fine", "café", "opened"]
    assert [text[unit.source.start : unit.source.end] for unit in units] == ["The", "ﬁne", "ｃａｆｅ́", "o\u00adpened"]


def test_it_is_a_front_end() -> None:
    """It implements the protocol."""
    reader: FrontEnd = SHARED
    assert reader.read("Hi 5").spoken == "Hi five"


def test_marks_between_units_are_in_the_voice_alphabet() -> None:
    """Quotes and brackets are kept, a space follows a comma, abbreviations at the end still end the sentence."""
    units = SHARED.read('"Hello,"she said (to us) in the U.S.').units
    assert [(unit.text, unit.after) for unit in units] == [
        ("Hello", ",”"),
        ("she", " "),
        ("said", " ("),
        ("to", " "),
        ("us", ") "),
        ("in", " "),
        ("the", " "),
        ("U.S.", "."),
    ]
    assert units[0].phonemes[0] == "“"


def test_skipped_characters_name_their_rule() -> None:
    """Emoji are symbols, letters of other scripts another language."""
    reading = SHARED.read("Good 😀 morning 你好!")
    assert [(skip.source.start, skip.source.end, skip.rule) for skip in reading.skipped] == [
        (5, 6, "symbol"),
        (15, 17, "language_not_spoken"),
    ]
    assert joined(reading).endswith("mˈɔɹnɪŋ!")


@pytest.mark.parametrize("text", ["", " ", "！！！", "...", "😀", "你好", "—"])
def test_text_without_words_has_no_units(text: str) -> None:
    """Text without words has no units, and does not fail."""
    reading = SHARED.read(text)
    assert reading.units == ()
    check(text, reading)


def test_unknown_words_go_to_the_given_reader() -> None:
    """``oov`` reads words outside the lexicons; without an answer they are spelled, never dropped."""
    asked: list[str] = []

    def oov(word: str) -> str | None:
        asked.append(word)
        return "zˈɔɹk" if word == "Zorkquist" else None

    english = English(oov)
    assert joined(english.read("Zorkquist")) == "zˈɔɹk"
    assert asked == ["Zorkquist"]
    assert joined(english.read("Qxz")) == joined(English().read("Qxz")) != ""


@pytest.mark.parametrize("pattern", RUNS)
def test_cost_grows_with_length(english: English, pattern: str) -> None:
    """Four times the text takes about four times the work, also for runs that make careless patterns backtrack."""

    def work_s(length: int) -> float:
        text = (pattern * length)[:length]
        start = time.process_time()
        english.read(text)
        return time.process_time() - start

    # Quadratic work would be sixteen times as much; the lesser of two rounds keeps other load on the machine out.
    assert min(work_s(1600) for _ in range(2)) < 9 * min(work_s(400) for _ in range(2))


@given(
    st.lists(
        st.tuples(st.sampled_from(VOCABULARY), st.sampled_from(["", "", " ", " ", "-", "/", "."])), max_size=14
    ).map(lambda pairs: "".join(itertools.chain.from_iterable(pairs)))
)
@settings(max_examples=150, deadline=None)
def test_any_mix_of_rule_triggers_is_read(text: str) -> None:
    """Titles, units, currencies, months, numerals and marks, in any order and spacing."""
    check(text, SHARED.read(text))


@pytest.mark.parametrize("text", ["7" * 20_000, "word " * 4_000, "x" * 20_000])
def test_very_long_texts_are_read(text: str) -> None:
    """Length alone breaks nothing."""
    check(text, SHARED.read(text))


def test_threads_share_one_reader(english: English) -> None:
    """Reading from several threads at once equals reading from one."""
    texts = [*PLAIN, *SEEDS]
    alone = [joined(english.read(text)) for text in texts]
    together: dict[int, list[str]] = {}

    def run(name: int) -> None:
        together[name] = [joined(english.read(text)) for text in itertools.chain(texts[name:], texts[:name])]

    threads = [threading.Thread(target=run, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name, found in together.items():
        assert found == alone[name:] + alone[:name]


def test_a_dash_between_words_is_a_pause() -> None:
    """So is a hyphen with spaces around it."""
    units = SHARED.read("well - yes").units
    assert units[0].after == " — "


@pytest.mark.parametrize(("text", "phonemes"), [("résumé", "ɹˈɛzəmˌA"), ("exposé", "ˌɛkspOzˈA")])
def test_accents_tell_words_apart(text: str, phonemes: str) -> None:
    """The lexicon has only the words without them."""
    (unit,) = SHARED.read(text).units
    assert "".join(unit.phonemes) == phonemes


def test_a_word_with_changed_letters_keeps_its_place() -> None:
    """The place is kept even if the G2P changes letters."""
    walk = _Walk([Token("ab", 0, 2, space=True, rewritten=False), Token("c", 3, 4, space=False, rewritten=False)])
    assert [walk.next(word) for word in ("ab", "x", "c")] == [("ab", 0, 2), ("x", 0, 0), ("c", 3, 4)]
