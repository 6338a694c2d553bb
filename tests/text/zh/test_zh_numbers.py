"""Numerals."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.text.zh.numbers import cardinal, count, decimal, spell_digits

_VALUES = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}


def _value(words: str) -> int:
    """Read a numeral back; the inverse of ``cardinal``."""
    for name, unit in (("亿", 10**8), ("万", 10**4)):
        head, found, tail = words.rpartition(name)
        if found:
            return _value(head) * unit + (_value(tail) if tail else 0)
    total = digit = 0
    for char in words:
        if char in _UNITS:
            total += (digit or 1) * _UNITS[char]
            digit = 0
        else:
            digit = _VALUES[char]
    return total + digit


@given(st.integers(min_value=0, max_value=10**16 - 1))
def test_cardinals_can_be_read_back(value: int) -> None:
    """A spoken number means the number that was written."""
    assert _value(cardinal(str(value))) == value


@given(st.integers(min_value=0, max_value=10**16 - 1))
def test_cardinals_hold_no_doubled_or_final_zero(value: int) -> None:
    """零 stands once for any run of zeros and never at the end of a longer number."""
    words = cardinal(str(value))
    assert "零零" not in words
    assert words == "零" or not re.search(r"零(?:$|[十百千万亿])", words)


@pytest.mark.parametrize(
    ("digits", "words"),
    [
        ("0", "零"),
        ("10", "十"),
        ("110", "一百一十"),
        ("1005", "一千零五"),
        ("2200", "两千二百"),
        ("10010", "一万零一十"),
        ("100000", "十万"),
        ("20002", "两万零二"),
        ("1412000000", "十四亿一千二百万"),
        ("007", "零零七"),
        ("12345678901234567", "一二三四五六七八九零一二三四五六七"),
    ],
)
def test_cardinal(digits: str, words: str) -> None:
    """Groups of four digits, one zero for a gap, 两 at the head of thousands, digits beyond 10**16."""
    assert cardinal(digits) == words


@pytest.mark.parametrize(
    ("number", "words"),
    [("3.14", "三点一四"), ("-1,234.5", "负一千二百三十四点五"), ("0.05", "零点零五"), ("+5", "五")],
)
def test_decimal(number: str, words: str) -> None:
    """The decimals are said one by one."""
    assert decimal(number) == words


@pytest.mark.parametrize(
    ("following", "word"),
    [
        ("个人", "两"),
        ("台", "两"),
        ("年", "两"),
        ("月", "二"),
        ("号楼", "二"),
        ("年级", "二"),
        ("分之一", "二"),
        ("", "二"),
    ],
)
def test_two_is_liang_before_measure_words_only(following: str, word: str) -> None:
    """两个, 两年, but 二月, 二年级, 二分之一."""
    assert count("2", following) == word


def test_one_may_be_yao() -> None:
    """In telephone numbers 1 is 幺."""
    assert spell_digits("110", one="幺") == "幺幺零"
