"""English number words, without "and" and without hyphens ("one hundred twenty three").

Each word is read on its own, as the voice's training data read numbers, so words are joined by spaces.
"""

from __future__ import annotations

from yuliu.text.en.tables import listing

_ONES = listing(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_TENS = listing("_ ten twenty thirty forty fifty sixty seventy eighty ninety")
_SCALES = listing(
    "_ thousand million billion trillion quadrillion quintillion sextillion septillion octillion nonillion decillion"
)
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_LONGEST_CARDINAL = 15
"""Maximum number of digits of a cardinal; a longer run without separators is an identifier and is read digit by digit.
"""
_LONGEST_GROUPED = 3 * len(_SCALES)
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def _below_hundred(value: int) -> list[str]:
    if value < 20:
        return [_ONES[value]]
    tens, ones = divmod(value, 10)
    return [_TENS[tens], *([_ONES[ones]] if ones else [])]


def _below_thousand(value: int) -> list[str]:
    hundreds, rest = divmod(value, 100)
    words = [_ONES[hundreds], "hundred"] if hundreds else []
    return words + (_below_hundred(rest) if rest or not hundreds else [])


def cardinal(value: int) -> str:
    """Return the words of a number from 0 to below 10^36: ``1234`` is "one thousand two hundred thirty four"."""
    if value == 0:
        return "zero"
    groups: list[str] = []
    scales = iter(_SCALES)
    while value:
        value, group = divmod(value, 1000)
        scale = next(scales)
        if group:
            words = _below_thousand(group)
            groups.insert(0, " ".join(words if scale == "_" else [*words, scale]))
    return " ".join(groups)


def digits(run: str, *, zero: str = "zero") -> str:
    """Return the digits one by one, without any other characters."""
    return " ".join(zero if char == "0" else _ONES[int(char)] for char in run if char in "0123456789")


def ordinal(value: int) -> str:
    """Return an ordinal: ``21`` is "twenty first"."""
    head, _, last = cardinal(value).rpartition(" ")
    last = _ORDINALS.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")
    return f"{head} {last}" if head else last


def whole(run: str) -> str:
    """Return the words of a run of digits with or without thousands separators: a cardinal, or single digits where it
    looks like an identifier (leading zero, more than 15 digits)."""
    plain = run.replace(",", "")
    longest = _LONGEST_GROUPED if plain != run else _LONGEST_CARDINAL
    if len(plain) > longest or (len(plain) > 1 and plain[0] == "0"):
        return digits(plain)
    return cardinal(int(plain))


def number(run: str) -> str:
    """Return the words of a number with optional separators and decimals: ``1,234.50`` is "one thousand two hundred
    thirty four point five zero"; ``.5`` is "point five"."""
    head, point, fraction = run.partition(".")
    words = whole(head) if head.strip(",") else ""
    if point and fraction:
        words = f"{words} point {digits(fraction)}"
    return words.strip()


def pairs(run: str) -> str:
    """Return three or four digits as rooms and models are read: "three oh two", "twelve oh four", "forty ninety"."""
    value = int(run)
    high, low = divmod(value, 100)
    if run[0] == "0" or len(run) > 4:
        return digits(run)
    if high == 0 or value % 1000 == 0:
        return cardinal(value)
    if low == 0:
        return cardinal(high) + " hundred"
    return f"{cardinal(high)} {'oh ' if low < 10 else ''}{cardinal(low)}"


def year(value: int) -> str:
    """Return a year: ``1905`` is "nineteen oh five", ``2005`` "two thousand five", ``2024`` "twenty twenty four"."""
    high, low = divmod(value, 100)
    if high == 0 or high >= 100 or (high % 10 == 0 and low < 10):
        return cardinal(value)
    return pairs(str(value))


def two_digit_year(run: str) -> str:
    """Return a year of two digits: ``05`` is "oh five", ``99`` "ninety nine"."""
    return "oh " + _ONES[int(run)] if run[0] == "0" else cardinal(int(run))


def plural(words: str) -> str:
    """Return the plural of a number word: "nineties", "hundreds", "sixes"."""
    if words.endswith("y"):
        return words[:-1] + "ies"
    return words + ("es" if words.endswith("x") else "s")


def decade(value: int) -> str:
    """Return a decade: ``1990`` is "nineteen nineties", ``1900`` "nineteen hundreds", ``2000`` "two thousands", ``90``
    "nineties"."""
    return plural(year(value))


def roman(letters: str) -> int:
    """Return the value of a Roman numeral in capitals."""
    values = [_ROMAN[letter] for letter in letters]
    following = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, following, strict=True))
