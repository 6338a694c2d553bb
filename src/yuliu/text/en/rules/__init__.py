"""Rules of the English front end, by subject; the order in which they are tried is in ``rules.ordered``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.text.en.rules import codes, dates, money, numbers, symbols, units, words

if TYPE_CHECKING:
    from yuliu.text.en.rule import Rule


def ordered() -> tuple[Rule, ...]:
    """All rules; of those that match at the same place the first wins."""
    phones = numbers.RULES[:6]
    return (
        *phones,
        *codes.RULES[:7],
        *dates.RULES,
        *money.RULES,
        *units.RULES,
        *words.RULES,
        *numbers.RULES[6:-1],
        *codes.RULES[7:],
        *symbols.RULES[:-2],
        numbers.RULES[-1],
        *symbols.RULES[-2:],
    )
