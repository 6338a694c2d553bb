"""Rules of the English front end, by subject, and the order in which they are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.text.en.rules import addresses, dates, money, names, numbers, phones, symbols, units, words

if TYPE_CHECKING:
    from yuliu.text.en.rule import Rule


def ordered() -> tuple[Rule, ...]:
    """All rules; of those that match at the same place the first that does not decline wins."""
    return (
        *phones.RULES,
        *addresses.RULES,
        *dates.RULES,
        *money.RULES,
        *units.RULES,
        *words.RULES,
        *numbers.RULES,
        *names.RULES,
        *symbols.RULES,
        *numbers.LAST,
        *symbols.LAST,
    )
