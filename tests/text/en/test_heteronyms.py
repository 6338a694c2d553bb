"""Words that are written alike and read differently."""

from __future__ import annotations

import pytest

from yuliu.text.en import English

ENGLISH = English()
READINGS = (
    ("I read the book yesterday.", "read", "ɹˈɛd"),
    ("I will read it tomorrow.", "read", "ɹˈid"),
    ("They read books every day.", "read", "ɹˈid"),
    ("The book was read by many.", "read", "ɹˈɛd"),
    ("I live in Paris.", "live", "lˈɪv"),
    ("The live show starts now.", "live", "lˈIv"),
    ("Lead pipes are dangerous.", "Lead", "lˈɛd"),
    ("He will lead the team.", "lead", "lˈid"),
    ("Lead is a heavy metal.", "Lead", "lˈɛd"),
    ("Record the song.", "Record", "ɹəkˈɔɹd"),
    ("He broke the record.", "record", "ɹˈɛkəɹd"),
    ("He plays bass guitar.", "bass", "bˈAs"),
    ("He caught a bass in the lake.", "bass", "bˈæs"),
    ("The wind is strong.", "wind", "wˈɪnd"),
    ("I need to wind it up.", "wind", "wˈInd"),
    ("A tear ran down her face.", "tear", "tˈɪɹ"),
    ("Don't tear the paper.", "tear", "tˈɛɹ"),
    ("Close the door.", "Close", "klˈOz"),
    ("We are close to home.", "close", "klˈOs"),
    ("Use the tool.", "Use", "jˈuz"),
    ("What is the use?", "use", "jˈus"),
    ("She wore a red bow.", "bow", "bˈO"),
    ("He took a bow.", "bow", "bˈW"),
    ("I am content.", "content", "kəntˈɛnt"),
    ("A minute detail", "minute", "mInˈut"),
    ("A minute later", "minute", "mˈɪnət"),
    ("I object to that.", "object", "əbʤˈɛkt"),
    ("They project growth.", "project", "pɹəʤˈɛkt"),
    ("Polish the table.", "Polish", "pˈɑlɪʃ"),
    ("She speaks Polish.", "Polish", "pˈOlɪʃ"),
    ("Console the child.", "Console", "kənsˈOl"),
    ("the game console", "console", "kˈɑnsˌOl"),
    ("Send your resume and cover letter.", "resume", "ɹˈɛzəmˌA"),
    ("They resume the talks.", "resume", "ɹəzˈum"),
    ("Her résumé is long.", "résumé", "ɹˈɛzəmˌA"),
    ("I used to go.", "used", "jˈust"),
    ("I used a hammer.", "used", "jˈuzd"),
    ("The dove flew away.", "dove", "dˈʌv"),
    ("The wound healed.", "wound", "wˈund"),
    ("He wound the clock.", "wound", "wˈWnd"),
)


@pytest.mark.parametrize(("text", "word", "phonemes"), READINGS, ids=[text for text, _, _ in READINGS])
def test_neighbours_decide_the_reading(text: str, word: str, phonemes: str) -> None:
    """The part of speech or the neighbours decide."""
    readings = {unit.text: "".join(unit.phonemes) for unit in ENGLISH.read(text).units}
    assert readings[word] == phonemes


@pytest.mark.parametrize(
    ("text", "word", "phonemes"),
    [
        ("NASA launched it.", "NASA", "nˈæsə"),
        ("The FBI called.", "FBI", "ˌɛfbˌiˈI"),
        ("The WHO said so.", "WHO", "dˌʌbᵊljuˌAʧˈO"),
        ("The US economy grew.", "US", "jˌuˈɛs"),
        ("Send the PDFs.", "PDFs", "pˌidˌiˈɛfs"),
        ("THIS IS VERY BIG NEWS", "THIS", "ðɪs"),
        ("It is 3 PM", "PM", "pˌiˈɛm"),
    ],
)
def test_capitals_are_spelled_or_read(text: str, word: str, phonemes: str) -> None:
    """Acronyms are read as words or letters by convention; a text in capitals is not spelled."""
    readings = {unit.text: "".join(unit.phonemes) for unit in ENGLISH.read(text).units}
    assert readings[word] == phonemes
