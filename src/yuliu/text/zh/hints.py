"""Hinted places of a Mandarin text: a spoken form, pinyin, or the kind of expression."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from yuliu.text.frontend import RefusedHint
from yuliu.text.hints import day_parts, in_place, plain_number
from yuliu.text.zh.normalise import Rewrite, scan
from yuliu.text.zh.normalise.fold import for_matching, plain
from yuliu.text.zh.numbers import cardinal, decimal, spell_digits
from yuliu.text.zh.phones import INITIALS, PHONES, phones

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from yuliu.types import Hint

_SYLLABLE = re.compile(r"[a-züê]+[0-5]")
_MARKED_TONES = {"\u0304": "1", "\u0301": "2", "\u030c": "3", "\u0300": "4"}


def given_readings(text: str, hints: Sequence[Hint]) -> tuple[list[Rewrite], list[RefusedHint]]:
    """Return one rewrite for each hint that can be followed, in order, and the hints that cannot."""
    placed, refused = in_place(hints, len(text))
    rewrites: list[Rewrite] = []
    for hint in placed:
        found = _rewrite(text, hint)
        if found is None:
            rule = "phonemes_unknown" if hint.kind == "phonemes" else "say_as_unknown"
            refused.append(RefusedHint(hint.span, rule))
        else:
            rewrites.append(found)
    return rewrites, sorted(refused, key=lambda each: each.source)


def _rewrite(text: str, hint: Hint) -> Rewrite | None:
    start, end = hint.span
    if hint.kind == "spoken":
        return Rewrite(start, end, _normal(hint.value), rewritten=True)
    if hint.kind == "say_as":
        said = _say_as(plain(text[start:end]), hint.value, hint.detail)
        return Rewrite(start, end, said, rewritten=True, spelled=hint.value == "characters") if said else None
    syllables = parse_pinyin(hint.value) if hint.detail in ("pinyin", "") else ()
    return Rewrite(start, end, plain(text[start:end]), rewritten=True, syllables=syllables) if syllables else None


def parse_pinyin(value: str) -> tuple[str, ...]:
    """Return syllables with tone digits, from ``hang2 ye4``, ``hang2ye4`` or ``háng yè`` (5 or 0 is the neutral tone).

    Returns:
        Syllables for :func:`yuliu.text.zh.phones.phones`; empty if any of them is not one that the voice can say.
    """
    syllables: list[str] = []
    for word in re.split(r"[\s'’\-]+", value.strip().lower().replace("u:", "ü")):
        found = _SYLLABLE.findall(word)
        syllables += found if found and "".join(found) == word else [_with_digit(word)]
    syllables = [each.replace("ü", "v").replace("0", "5") for each in syllables]
    return tuple(syllables) if all(map(_can_be_said, syllables)) else ()


def _with_digit(marked: str) -> str:
    letters = unicodedata.normalize("NFD", marked)
    tone = next((_MARKED_TONES[char] for char in letters if char in _MARKED_TONES), "5")
    bare = "".join(char for char in letters if char not in _MARKED_TONES)
    return unicodedata.normalize("NFC", bare) + tone


def _can_be_said(syllable: str) -> bool:
    try:
        initial, *rest = phones(syllable)
    except ValueError:
        return False
    return initial in INITIALS and all(phone in PHONES for phone in rest)


def _normal(text: str) -> str:
    """Return the words that the rules make of a text that stands alone."""
    return "".join(each.spoken for each in scan(text))


def _say_as(text: str, kind: str, detail: str) -> str | None:
    say = _KINDS.get(kind)
    return say(text, detail) if say else None


def _characters(text: str, _: str) -> str:
    return "".join(char.upper() if "a" <= char <= "z" else _normal(char) for char in text)


def _digits(text: str, _: str, *, one: str = "一") -> str:
    return spell_digits(re.sub(r"[^0-9]", "", text), one=one)


def _telephone(text: str, detail: str) -> str:
    plus = "加" if for_matching(text).lstrip().startswith("+") else ""
    number = _digits(text, detail, one="幺")
    return plus + number if number else ""


def _cardinal(text: str, _: str) -> str:
    number = plain_number(for_matching(text))
    return decimal(number) if number else ""


def _ordinal(text: str, _: str) -> str:
    digits = re.sub(r"[^0-9]", "", text)
    return "第" + cardinal(digits.lstrip("0") or "0") if digits else ""


def _date(text: str, order: str) -> str:
    parts = day_parts(text, order) if order else None
    if parts is None:
        return _normal(text)
    year, month, day = parts
    said = spell_digits(year) + "年" if year else ""
    said += cardinal(month.lstrip("0") or "0") + "月" if month else ""
    return said + (cardinal(day.lstrip("0") or "0") + "日" if day else "")


def _alone(text: str, _: str) -> str:
    return _normal(text)


_KINDS: dict[str, Callable[[str, str], str]] = {
    "characters": _characters,
    "digits": _digits,
    "telephone": _telephone,
    "cardinal": _cardinal,
    "ordinal": _ordinal,
    "date": _date,
    "time": _alone,
    "unit": _alone,
}
