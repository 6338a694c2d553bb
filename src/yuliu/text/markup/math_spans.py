"""LaTeX in a text, as opposed to money."""

from __future__ import annotations

import re

from yuliu.text.markup.cursor import Cursor, Progress

_ATOM = (
    r"(?:\\(?:text|mathrm|operatorname|mathbf)\{[^{}$\n]{0,40}\}?|\\[A-Za-z]{1,20}|\\[^A-Za-z\n]"
    r"|[A-Za-z]{1,2}(?![A-Za-z])|[^A-Za-z\\$\n㐀-鿿，。])"
)
_ATOMS = rf"{_ATOM}{{0,160}}"
_MONEY = r"\d[\d,.]{0,20}(?:[A-Za-z]{2}|[kKmMbB]?\s?(?:[A-Za-z]{2}|[\u3400-\u9fff，。、]|[;:!?)]|a\s))"
_INLINE = re.compile(r"\$(?P<formula>[^\s$](?:[^$\n]{0,160}[^\s$\\])?)\$(?=[^A-Za-z0-9$])")
_INLINE_BEGUN = re.compile(rf"\$(?!{_MONEY})(?!\s)(?:{_ATOMS}\$?|{_ATOMS}\\?)")
_DISPLAY = re.compile(r"\$\$(?P<formula>(?:[^$\n]|\n(?!\n)){1,400})\$\$")
_DISPLAY_BEGUN = re.compile(r"\$\$?(?:[^$\n]|\n(?!\n)){0,400}\$?")
_PAREN = re.compile(rf"\\\((?P<formula>{_ATOMS}?)\\\)")
_PAREN_BEGUN = re.compile(rf"\\(?:\({_ATOMS}\\?)?")
_BRACKET = re.compile(r"\\\[(?P<formula>(?:[^$\n]|\n(?!\n)){1,400}?)\\\]")
_BRACKET_BEGUN = re.compile(r"\\(?:\[(?:[^$\n]|\n(?!\n)){0,400})?")
_ALL_ATOMS = re.compile(_ATOMS)
_SIGNS = re.compile(r"[\\^_={}<>+]")
_SHORT = re.compile(
    r"-?(?:\d{1,9}(?:\.\d{1,9})?%?|\d{0,3}[A-Za-z]'?(?:\([A-Za-z]\))?)|[\w.]{1,4}(?:\s?[-*/,]\s?[\w.]{1,4}){1,9}"
)
MAX_SPOKEN = 120
"""Maximum length of a formula that is read out; longer ones are announced."""


def dollar(cursor: Cursor) -> Progress:
    """Match ``$x^2$``; ``$5 and $10`` is money."""
    if cursor.at + 1 == len(cursor.text):
        return Progress.NOT_MINE if cursor.final else Progress.WAIT
    found = cursor.look(_DISPLAY, _DISPLAY_BEGUN) if cursor.text[cursor.at + 1] == "$" else Progress.NOT_MINE
    if found is Progress.NOT_MINE:
        if cursor.before.isalnum() and cursor.before.isascii():
            return Progress.NOT_MINE
        found = cursor.look(_INLINE, _INLINE_BEGUN)
        if isinstance(found, re.Match) and not _is_formula(found["formula"]):
            return Progress.NOT_MINE
    return found if isinstance(found, Progress) else _formula(cursor, found)


def backslash(cursor: Cursor) -> Progress:
    r"""Match ``\(x^2\)`` and ``\[x^2\]``."""
    for whole, prefix in ((_PAREN, _PAREN_BEGUN), (_BRACKET, _BRACKET_BEGUN)):
        found = cursor.look(whole, prefix)
        if found is Progress.WAIT:
            return found
        if isinstance(found, re.Match):
            return _formula(cursor, found)
    return Progress.NOT_MINE


def _is_formula(formula: str) -> bool:
    if not _ALL_ATOMS.fullmatch(formula) or formula[-1] in "-+*/=,.:;(":
        return False
    return bool(_SIGNS.search(formula) or _SHORT.fullmatch(formula))


def _formula(cursor: Cursor, found: re.Match[str]) -> Progress:
    formula, length = found["formula"], len(found[0])
    if cursor.options.math == "skip":
        return cursor.skip(length, "math")
    words = cursor.words
    spoken = words.spoken_formula(formula) if cursor.options.math == "speak" else None
    if spoken is None or len(formula) > MAX_SPOKEN:
        spoken = words.formula
    text = spoken.strip()
    if not text:
        return cursor.skip(length, "math")
    before = " " if cursor.before.isalnum() else ""
    return cursor.rewrite(before + text if words.has_spaces else text, length)
