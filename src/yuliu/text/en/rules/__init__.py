"""Rules of the English front end, by subject, and the order in which they are tried."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from yuliu.text.en.rules import addresses, dates, money, names, numbers, phones, symbols, units, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from yuliu.text.en.rule import EnglishRule


def _with_digits(rules: Sequence[EnglishRule]) -> Iterator[EnglishRule]:
    return (dataclasses.replace(rule, needs_digit=True) for rule in rules)


def ordered() -> tuple[EnglishRule, ...]:
    """Return all rules; of those that match at the same place the first that does not decline wins."""
    return (
        *_with_digits(phones.RULES),
        *addresses.RULES,
        *_with_digits(dates.RULES),
        *dates.NAMES,
        *_with_digits(money.RULES),
        *_with_digits(units.RULES),
        *words.RULES,
        *_with_digits(numbers.RULES),
        *names.RULES,
        *symbols.RULES,
        *_with_digits(numbers.LAST),
        *symbols.LAST,
    )
