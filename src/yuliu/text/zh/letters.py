"""Mandarin names of Latin letters: A is 诶, W is 达不溜.

The voice knows no English sounds, so a letter inside Mandarin (A4, B超, T恤, GPT) is spoken with the nearest Mandarin
syllables. The list is our own.
"""

from __future__ import annotations

LETTERS: dict[str, tuple[str, ...]] = {
    "A": ("ei1",),
    "B": ("bi4",),
    "C": ("xi1",),
    "D": ("di4",),
    "E": ("yi4",),
    "F": ("ai2", "fu5"),
    "G": ("ji4",),
    "H": ("ei2", "chi5"),
    "I": ("ai4",),
    "J": ("zhei4",),
    "K": ("kei4",),
    "L": ("ai2", "lou5"),
    "M": ("ai2", "mu5"),
    "N": ("en1",),
    "O": ("ou1",),
    "P": ("pi1",),
    "Q": ("kou1",),
    "R": ("a4",),
    "S": ("ai2", "si5"),
    "T": ("ti4",),
    "U": ("you1",),
    "V": ("wei1",),
    "W": ("da2", "bu5", "liu5"),
    "X": ("ai2", "ke4", "si5"),
    "Y": ("wai4",),
    "Z": ("zei4",),
}
"""Syllables of each capital letter, in pinyin with tone digit; no sandhi applies to them."""

WORDS: dict[str, tuple[str, ...]] = {
    "com": ("kang1", "mu5"),
    "net": ("nei4", "te5"),
    "ok": ("ou1", "kei4"),
}
"""Short words that are commonly spoken in Mandarin syllables; keys in lower case."""

MAX_ACRONYM = 5
"""Maximum length of an acronym; longer runs of capitals are words, left to an English voice."""

_VOWELS = frozenset("aeiouAEIOU")


def is_spelled(word: str) -> bool:
    """Return whether a Latin word inside Mandarin is spelled: single letters, GPT, mp (of mp3), ppt."""
    if len(word) == 1:
        return True
    if len(word) > MAX_ACRONYM:
        return False
    return word.isupper() or _VOWELS.isdisjoint(word)
