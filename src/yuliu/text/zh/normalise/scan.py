"""Scanner of a segment: one pass, with the rules tried in order where one may begin and the rest passed through."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.text.zh.normalise import codes, dates, quantities, symbols
from yuliu.text.zh.normalise.fold import for_matching, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.text.zh.normalise.rule import MandarinRule

_ALL: tuple[MandarinRule, ...] = (
    *symbols.RULES[:1],
    symbols.RULES[-1],
    *codes.RULES,
    *dates.RULES,
    *quantities.RULES,
    *symbols.RULES[1:-1],
)


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Span of the segment and its words."""

    start: int
    end: int
    spoken: str
    rewritten: bool
    """False where the text is passed through, character by character (``spoken`` is then ``end - start`` long)."""
    spelled: bool = False
    """True if Latin words in it are spelled."""
    syllables: tuple[str, ...] = ()
    """Pronunciation with tone digits, where it is given; else its characters are read."""


def _by_first() -> dict[str, tuple[MandarinRule, ...]]:
    table: dict[str, list[MandarinRule]] = {}
    for each in _ALL:
        for char in dict.fromkeys(each.first):
            table.setdefault(char, []).append(each)
    return {char: tuple(rules) for char, rules in table.items()}


_BY_FIRST = _by_first()
_TRIGGER = re.compile("[" + "".join(map(re.escape, _BY_FIRST)) + "]")
_LATIN_RUN = re.compile(r"[A-Za-z]+")


def scan(text: str, given: Sequence[Rewrite] = ()) -> list[Rewrite]:
    """Tile ``text`` with rewrites and passages without one. Linear in its length; accepts any text.

    Args:
        text: Any text.
        given: Settled rewrites, in order and without overlap; rules see their text, but leave it alone.
    """
    matched, shown = for_matching(text), plain(text)
    out: list[Rewrite] = []
    position = 0
    for each in given:
        out += _scan(matched, shown, position, each.start)
        out.append(each)
        position = each.end
    return out + _scan(matched, shown, position, len(text))


def _scan(matched: str, shown: str, start: int, stop: int) -> list[Rewrite]:
    out: list[Rewrite] = []
    passed = position = start
    while (trigger := _TRIGGER.search(matched, position, stop)) is not None:
        position = trigger.start()
        found = _first_reading(matched, position, stop)
        if found is None:
            latin = _LATIN_RUN.match(matched, position, stop)
            position = latin.end() if latin else position + 1
            continue
        if passed < position:
            out.append(Rewrite(passed, position, shown[passed:position], rewritten=False))
        out.append(found)
        passed = position = found.end
    if passed < stop:
        out.append(Rewrite(passed, stop, shown[passed:stop], rewritten=False))
    return out


def _first_reading(text: str, position: int, stop: int) -> Rewrite | None:
    for each in _BY_FIRST[text[position]]:
        match = each.pattern.match(text, position)
        if match is None or not position < match.end() <= stop:
            continue
        spoken = each.read(match)
        if spoken is not None:
            return Rewrite(position, match.end(), spoken, rewritten=True, spelled=each.spelled)
    return None
