"""Pinyin to phones."""

from __future__ import annotations

import pytest

from yuliu.text.zh import lexicon
from yuliu.text.zh.letters import LETTERS, WORDS
from yuliu.text.zh.phones import PHONES, phones


def test_every_syllable_of_the_dictionary_has_phones_of_the_voice() -> None:
    """No reading that can come up is outside the voice's phone set."""
    words = lexicon.load()
    readings = set(words.characters.values())
    for book in (words.phrases, words.overrides):
        readings |= {each for phrase in book.readings.values() for each in phrase or ()}
    readings |= {context.pinyin for contexts in words.contexts.values() for context in contexts}
    readings -= {"-", "5"}
    assert len(readings) > 1200
    for reading in readings:
        assert set(phones(reading)) <= PHONES


def test_letter_names_use_phones_of_the_voice() -> None:
    """Names of letters hold only phones of the voice, and all 26 letters have one."""
    assert len(LETTERS) == 26
    for syllables in (*LETTERS.values(), *WORDS.values()):
        assert all(set(phones(each)) <= PHONES for each in syllables)


@pytest.mark.parametrize(
    ("pinyin", "expected"),
    [
        ("zhong1", "zh ong1"),
        ("zi4", "z ii4"),
        ("shi4", "sh iii4"),
        ("ri4", "r iii4"),
        ("yi1", "^ i1"),
        ("you3", "^ iou3"),
        ("yu2", "^ v2"),
        ("yuan2", "^ van2"),
        ("yun4", "^ vn4"),
        ("ying1", "^ ing1"),
        ("yong3", "^ iong3"),
        ("ye4", "^ ie4"),
        ("wu3", "^ u3"),
        ("wei4", "^ uei4"),
        ("wen2", "^ uen2"),
        ("weng1", "^ ueng1"),
        ("jiu3", "j iou3"),
        ("gui4", "g uei4"),
        ("lun2", "l uen2"),
        ("jun1", "j vn1"),
        ("xue2", "x ve2"),
        ("quan2", "q van2"),
        ("lv4", "l v4"),
        ("lve4", "l ve4"),
        ("nve4", "n ve4"),
        ("er2", "^ er2"),
        ("a5", "^ a5"),
        ("huar1", "h ua1 er5"),
    ],
)
def test_spelling_rules(pinyin: str, expected: str) -> None:
    """Zero initials, ü after j q x y, the written-short finals, the two apical vowels, and 儿."""
    assert " ".join(phones(pinyin)) == expected


@pytest.mark.parametrize("pinyin", ["xyz1", "zhong", "b1", "ma6"])
def test_an_invalid_syllable_is_refused(pinyin: str) -> None:
    """An unknown syllable or a missing tone raises rather than being guessed."""
    with pytest.raises(ValueError, match="syllable"):
        phones(pinyin)
