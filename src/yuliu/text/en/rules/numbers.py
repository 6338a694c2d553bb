"""Ranges, fractions, scores, years and all other runs of digits."""

from __future__ import annotations

import re

from yuliu.text.en.measures import PER, UNITS, plural_of
from yuliu.text.en.number_words import cardinal, digits, number, ordinal, year
from yuliu.text.en.rule import EnglishRule, before, word_after, word_before
from yuliu.text.en.rules.money import NUMBER
from yuliu.text.en.rules.units import sign_words
from yuliu.text.en.tables import any_of, listing

_YEAR_BEFORE = frozenset(
    listing(
        "in since by from until till before after during of the circa around year early late mid ad spring summer"
        " autumn fall winter back january february march april may june july august september october november"
        " december was for"
    )
)
_NOT_YEAR_AFTER = frozenset(
    listing(
        "people times points dollars euros pounds miles meters kilometers feet calories words steps pages units votes"
        " items users students soldiers men women cases tons watts hours minutes seconds bytes rows files lines"
        " characters tokens samples employees members copies years days"
    )
)
_DENOMINATORS = {
    2: "half", 3: "third", 4: "quarter", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth", 10: "tenth",
    12: "twelfth", 16: "sixteenth", 20: "twentieth", 32: "thirty second", 64: "sixty fourth", 100: "hundredth",
}  # fmt: skip
_LIKELY_YEARS = range(1500, 2100)
_OUR_YEARS = range(2010, 2036)
"""Years even before a plural ("the 2024 elections"), unless the noun is countable."""
_POSSIBLE_YEARS = range(1010, 2100)
"""Years only after a word like "in"."""
_IDENTIFIER_DIGITS = 10
"""Minimum length of a run of digits that is an identifier or a telephone number, unless it ends in zeros."""
_EDGE = r"(?!\w|[-–.,:/]\d)"
_START = r"(?<![\w.,/:$-])"
_UNIT_TAIL = (
    rf"(?: ?(?P<unit>{any_of(unit for unit in UNITS if len(unit) > 1 and unit not in ('in', 'us', 'mo'))})(?!\w))?"
)
_MINUS = r"(?P<sign>(?<![\w)])-)?"


def _plain(run: str) -> str:
    if len(run) == 4 and run.isdigit() and int(run) in _POSSIBLE_YEARS:
        return year(int(run))
    return number(run)


def _range(match: re.Match[str]) -> str:
    first, last = match["first"], match["last"]
    if _subtracts(match):
        return f"{number(first)} minus {number(last)}"
    return f"{_plain(first)} to {_range_end(first, last)}"


def _subtracts(match: re.Match[str]) -> bool:
    if re.match(r" ?=", match.string[match.end() : match.end() + 2]):
        return True
    falls = float(match["first"].replace(",", "")) > float(match["last"].replace(",", ""))
    return match["dash"] == " - " and falls


def _range_end(first: str, last: str) -> str:
    short = len(first) == 4 and len(last) == 2 and first.isdigit() and last.isdigit()
    if short and int(first) in _POSSIBLE_YEARS:
        return year(int(last)) if last[0] != "0" else "oh " + cardinal(int(last))
    return _plain(last)


def _several(match: re.Match[str]) -> str:
    parts = re.split(r"[-–]", match.group())
    long = any(len(part) > 2 for part in parts)
    return ", ".join(map(digits, parts)) if long else " ".join(map(number, parts))


def _mixed_fraction(match: re.Match[str]) -> str | None:
    words = fraction_words(match["top"], match["bottom"])
    if words is None:
        return None
    one = "a" + words[3:] if words.startswith("one ") else words
    unit = f" {plural_of(UNITS[match['unit']])}" if match["unit"] else ""
    return f"{sign_words(match['sign'])}{number(match['whole'])} and {one}{unit}"


def fraction_words(top: str, bottom: str) -> str | None:
    """Read ``3/4`` as "three quarters"; None where the denominator has no common name."""
    name = _DENOMINATORS.get(int(bottom))
    if name is None or top[0] == "0" or bottom[0] == "0":
        return None
    if top == "1":
        return f"one {name}"
    return f"{number(top)} {'halves' if name == 'half' else name + 's'}"


def _fraction(match: re.Match[str]) -> str | None:
    top, bottom = match["top"], match["bottom"]
    if (top, bottom) == ("9", "11"):
        return "nine eleven"
    if _is_share(top, bottom):
        return f"{number(top)} {number(bottom)}"
    if len(top) == 4 and len(bottom) == 2 and int(bottom) == (int(top[2:]) + 1) % 100:
        return f"{_plain(top)} to {_range_end(top, bottom)}"
    if _is_mark(match):
        return f"{number(top)} out of {number(bottom)}"
    sign = sign_words(match["sign"])
    if re.match(r" ?=", match.string[match.end() : match.end() + 2]):
        return f"{sign}{number(top)} divided by {number(bottom)}"
    words = fraction_words(top, bottom) if "." not in top and int(top) < 2 * int(bottom) else None
    if words and match["unit"]:
        words += f" {UNITS[match['unit']]}"
    if words:
        return sign + words
    unit = f" {plural_of(UNITS[match['unit']])}" if match["unit"] else ""
    return f"{sign}{_plain(top)} {'over' if len(top) > 1 else 'slash'} {_plain(bottom)}{unit}"


def _is_share(top: str, bottom: str) -> bool:
    """Return whether the match divides a whole: ``60/40``."""
    return top.isdigit() and min(len(top), len(bottom)) == 2 and int(top) + int(bottom) == 100


def _is_mark(match: re.Match[str]) -> bool:
    """Return whether the match is a score out of a maximum: "4.5/5 stars", "8/10"."""
    top, bottom = match["top"], match["bottom"]
    if (
        "." in top
        or word_before(match) in ("scored", "score", "got", "rated")
        or word_after(match) in ("stars", "star", "points")
        or (top == bottom and len(bottom) > 1)
    ):
        return True
    return (
        bottom in ("10", "100")
        and word_after(match) not in ("of", "inch", "mile", "cup", "second", "in")
        and top != "1"
    )


def _always(match: re.Match[str]) -> str:
    return " ".join(number(part) for part in re.split(r"[/–-]", match.group()))


def _parts_of(match: re.Match[str]) -> str | None:
    """Read a fraction with a written ending: ``2/3rds``, ``1/60th``."""
    top, bottom = match["top"], match["bottom"]
    words = fraction_words(top, bottom)
    if words is None:
        words = f"{number(top)} {ordinal(int(bottom))}{'' if top == '1' else 's'}"
    return words


def _hundredths(match: re.Match[str]) -> str:
    return ordinal(int(match["bottom"])) + "s"


def _thousands(match: re.Match[str]) -> str | None:
    """Read thousands separated by spaces, apostrophes or underscores, except in telephone numbers."""
    if word_before(match) in ("call", "dial", "ring", "phone", "text", "tel", "fax", "number", "no", "code"):
        return None
    return sign_words(match["sign"]) + number(re.sub(r"[ '_]", "", match["run"]))


def _power_of_ten(match: re.Match[str]) -> str:
    base, sign = match["base"], match["minus"]
    words = f"{number(base)} times ten to the {'minus ' if sign else ''}{number(match['power'])}"
    if not match["unit"]:
        return words
    per = f" per {PER[match['per']]}" if match["per"] else ""
    return f"{words} {plural_of(UNITS[match['unit']])}{per}"


def _hex(match: re.Match[str]) -> str:
    return "zero X " + spelled(match["run"])


def spelled(run: str) -> str:
    """Return letters and digits one by one."""
    return " ".join(digits(char) if char.isdigit() else char.upper() for char in run)


def _ratio(match: re.Match[str]) -> str:
    return f"{number(match['first'])} to {number(match['last'])}"


def _scientific(match: re.Match[str]) -> str:
    minus = "minus " if match["minus"] == "-" else ""
    return f"{sign_words(match['sign'])}{number(match['base'])} times ten to the {minus}{cardinal(int(match['power']))}"


def _continental(match: re.Match[str]) -> str:
    """Read points between thousands and a comma before decimals."""
    return number(match.group().replace(".", "").replace(",", "."))


def _year_or_number(match: re.Match[str]) -> str:
    run, sign = match["run"], match["sign"]
    if run.isdigit() and len(run) == 4 and not sign and _is_year(match):
        return year(int(run))
    if len(run) in (5, 6) and run.isdigit() and re.search(r"\b[Tt]ext\b", before(match, 40)):
        return digits(run)
    if len(run) >= _IDENTIFIER_DIGITS and run.isdigit() and not run.endswith("000"):
        return digits(run)
    return sign_words(sign) + number(run)


def _is_year(match: re.Match[str]) -> bool:
    value, last, after = int(match["run"]), word_before(match), word_after(match)
    if value not in _POSSIBLE_YEARS or after in _NOT_YEAR_AFTER:
        return False
    if last in _YEAR_BEFORE or after in ("AD", "BC", "CE", "BCE"):
        return True
    plural = len(after) > 3 and after.endswith("s") and after.islower()
    hyphened = match.string[match.end() : match.end() + 1] == "-"
    return value in _LIKELY_YEARS and (hyphened or not plural or value in _OUR_YEARS)


RULES = (
    EnglishRule(
        "beats",
        re.compile(rf"{_START}(?P<top>\d{{1,2}})/(?P<bottom>2|4|8|16)(?= (?:time|meter|signature|beat)\b)"),
        lambda match: f"{number(match['top'])} {number(match['bottom'])}",
    ),
    EnglishRule("hex", re.compile(r"(?<!\w)0[xX](?P<run>[0-9A-Fa-f]{1,16})(?!\w)"), _hex),
    EnglishRule(
        "thousands",
        re.compile(
            rf"{_START}{_MINUS}(?P<run>[1-9]\d{{0,2}}(?:(?: \d{{3}}){{2,4}}|(?:['_]\d{{3}}){{1,4}})(?:\.\d{{1,9}})?)"
            r"(?!\w|[-:/]\d| \d)"
        ),
        _thousands,
    ),
    EnglishRule(
        "power_of_ten",
        re.compile(
            rf"{_START}(?P<base>\d{{1,6}}(?:\.\d{{1,12}})?) ?[×x·*] ?10\^(?P<minus>-)?(?P<power>\d{{1,3}})"
            rf"(?: ?(?P<unit>{any_of(UNITS)})(?:/(?P<per>{any_of(PER)}))?(?![\w/^]))?(?!\w)"
        ),
        _power_of_ten,
    ),
    EnglishRule(
        "parts_of", re.compile(rf"{_START}(?P<top>\d{{1,2}})/(?P<bottom>\d{{1,3}})(?:st|nd|rd|th)s?(?!\w)"), _parts_of
    ),
    EnglishRule("hundredths", re.compile(rf"{_START}(?P<bottom>\d{{1,4}})(?:ths|rds)(?!\w)"), _hundredths),
    EnglishRule(
        "scientific",
        re.compile(
            rf"{_START}(?P<sign>(?<![\w)])[-+])?(?P<base>\d{{1,20}}(?:\.\d{{1,20}})?)[eE](?P<minus>[-+])?"
            r"(?P<power>\d{1,3})(?!\w|\.\d)"
        ),
        _scientific,
    ),
    EnglishRule("always", re.compile(rf"{_START}(?:24/7(?:/365)?|50/50|20/20|50[-–]50|20[-–]20){_EDGE}"), _always),
    EnglishRule(
        "mixed_fraction",
        re.compile(
            rf"{_START}{_MINUS}(?P<whole>\d{{1,6}})(?: |-| and )(?P<top>\d{{1,2}})/(?P<bottom>\d{{1,3}})"
            rf"{_UNIT_TAIL}{_EDGE}"
        ),
        _mixed_fraction,
    ),
    EnglishRule(
        "fraction",
        re.compile(rf"{_START}{_MINUS}(?P<top>\d{{1,4}}(?:\.\d)?)/(?P<bottom>\d{{1,4}}){_UNIT_TAIL}{_EDGE}"),
        _fraction,
    ),
    EnglishRule("several", re.compile(rf"{_START}\d{{1,8}}(?:[-–]\d{{1,8}}){{2,7}}{_EDGE}"), _several),
    EnglishRule(
        "range",
        re.compile(rf"{_START}(?P<first>{NUMBER})(?P<dash> ?[-–—] ?)(?P<last>{NUMBER})(?!\w|[-–:/]\d|[.,]\d)"),
        _range,
    ),
    EnglishRule(
        "ratio",
        re.compile(rf"{_START}(?P<first>\d{{1,4}}) ?: ?(?P<last>\d{{1,3}}(?:,\d{{3}}){{1,2}}|\d{{1,4}}){_EDGE}"),
        _ratio,
    ),
    EnglishRule(
        "continental",
        re.compile(
            rf"{_START}(?:\d{{1,3}}(?:\.\d{{3}}){{2,6}}(?:,\d{{1,2}})?|\d{{1,3}}\.\d{{3}},\d{{1,2}}|\d{{1,3}},\d{{1,2}}){_EDGE}"
        ),
        _continental,
    ),
)
LAST = (
    EnglishRule("number", re.compile(rf"(?P<sign>(?<![\w)\].%])[-+±](?=[\d.]))?(?P<run>{NUMBER})"), _year_or_number),
)
"""Rules for all remaining digits."""
