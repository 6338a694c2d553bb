"""Telephone numbers, room numbers, ranges, fractions, scores, years and all other runs of digits."""

from __future__ import annotations

import re

from yuliu.text.en.number_words import cardinal, digits, number, pairs, whole, year
from yuliu.text.en.rule import Rule, word_after, word_before
from yuliu.text.en.rules.money import NUMBER
from yuliu.text.en.rules.units import sign_words
from yuliu.text.en.tables import listing

_ROOM = listing(
    "room rooms suite apartment apt unit flight highway route hwy interstate bus flat extension ext gate channel"
    " boeing airbus train ward studio office locker car rt exit area rtx gtx radeon ryzen model peugeot cessna rm ste"
)
_CODE = listing(
    "text code zip pin id passcode password otp dial order ticket case invoice account serial tracking sms"
    " confirmation badge passport license reference ref zipcode postcode po p.o fax ssn isbn port extension"
)
_EMERGENCY = frozenset(listing("911 999 112 411 311 211 511 811 988"))
_CALL = frozenset(listing("call dial phone ring text calling called dialed dialing to called"))
_YEAR_BEFORE = frozenset(
    listing(
        "in since by from until till before after during of the circa around year early late mid spring summer autumn"
        " fall winter back january february march april may june july august september october november december was"
        " for"
    )
)
_NOT_YEAR_AFTER = frozenset(
    listing(
        "people times points dollars euros pounds miles meters kilometers feet calories words steps pages units votes"
        " items users students soldiers men women cases tons watts hours minutes seconds bytes rows files lines"
        " characters tokens samples employees members copies bc years days"
    )
)
_DENOMINATORS = {
    2: "half", 3: "third", 4: "quarter", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth", 10: "tenth",
    12: "twelfth", 16: "sixteenth", 20: "twentieth", 32: "thirty second", 64: "sixty fourth", 100: "hundredth",
}  # fmt: skip
_YEARISH = range(1010, 2100)


def _phone(match: re.Match[str]) -> str:
    groups = re.findall(r"\d+|[A-Z]+", match.group())
    plus = "plus " if match.group().startswith("+") else ""
    return plus + ", ".join(_phone_group(group) for group in groups)


def _phone_group(group: str) -> str:
    if group in ("800", "900"):
        return f"{cardinal(int(group[0]))} hundred"
    return digits(group) if group.isdigit() else group.capitalize()


def _emergency(match: re.Match[str]) -> str | None:
    run = match.group()
    before, after = word_before(match), word_after(match)
    if run not in _EMERGENCY or before == "porsche":
        return None
    if before in _CALL or (run == "911" and not after.endswith("s")):
        return digits(run)
    return None


def _dashed_digits(match: re.Match[str]) -> str:
    return ", ".join(digits(group) for group in match.group().split("-"))


def _room(match: re.Match[str]) -> str:
    run = match["run"]
    named = match["word"] + match["gap"].replace("#", "").replace(".", "") if match["word"] else ""
    words = pairs(run) if len(run) in (3, 4) else digits(run) if len(run) > 4 else whole(run)
    return named + words


def _code(match: re.Match[str]) -> str | None:
    run = match["run"]
    gap = re.sub(r"#|\bno\.? ?", "number ", match["gap"], flags=re.IGNORECASE)
    return f"{match['word']}{gap}{', '.join(digits(group) for group in run.split('-'))}"


def _range(match: re.Match[str]) -> str | None:
    first, last = match["first"], match["last"]
    spaced = " " in match["dash"]
    if (
        spaced
        and match["dash"].strip() == "-"
        and (
            float(first.replace(",", "")) > float(last.replace(",", ""))
            or "=" in match.string[match.end() : match.end() + 4]
        )
    ):
        return f"{number(first)} minus {number(last)}"
    return f"{_plain(first)} to {_range_end(first, last)}"


def _range_end(first: str, last: str) -> str:
    if len(first) == 4 and len(last) == 2 and int(first) in _YEARISH:
        return year(int(last)) if last[0] != "0" else "oh " + cardinal(int(last))
    return _plain(last)


def _plain(run: str) -> str:
    if len(run) == 4 and run.isdigit() and int(run) in _YEARISH:
        return year(int(run))
    return number(run)


def _several(match: re.Match[str]) -> str:
    return " ".join(number(part) for part in re.split(r"[-–]", match.group()))


def _mixed_fraction(match: re.Match[str]) -> str | None:
    words = fraction_words(match["top"], match["bottom"])
    if words is None:
        return None
    one = "a" + words[3:] if words.startswith("one ") else words
    return f"{sign_words(match['sign'])}{number(match['whole'])} and {one}"


def fraction_words(top: str, bottom: str) -> str | None:
    """``3/4`` is "three quarters"; None where the denominator has no common name."""
    name = _DENOMINATORS.get(int(bottom))
    if name is None or top == "0":
        return None
    if top == "1":
        return f"one {name}"
    return f"{number(top)} {'halves' if name == 'half' else name + 's'}"


def _fraction(match: re.Match[str]) -> str | None:
    top, bottom = match["top"], match["bottom"]
    sign = sign_words(match["sign"])
    if (top, bottom) == ("9", "11"):
        return "nine eleven"
    if word_after(match) in ("stars", "star", "points") or (top == bottom and int(top) >= 5):
        return f"{number(top)} out of {number(bottom)}"
    words = fraction_words(top, bottom)
    if words and int(top) < 2 * int(bottom) and (top[0] != "0" and bottom[0] != "0"):
        return sign + words
    return f"{sign}{_plain(top)} {'over' if len(top) > 1 else 'slash'} {_plain(bottom)}"


def _always(match: re.Match[str]) -> str:
    return " ".join(number(part) for part in match.group().split("/"))


def _ratio(match: re.Match[str]) -> str:
    return f"{number(match['first'])} to {number(match['last'])}"


def _bc(match: re.Match[str]) -> str:
    return _plain(match["run"])


def _scientific(match: re.Match[str]) -> str:
    base, sign, power = match["base"], match["minus"], match["power"]
    return (
        f"{sign_words(match['sign'])}{number(base)} times ten to the {'minus ' if sign == '-' else ''}{number(power)}"
    )


def _year_or_number(match: re.Match[str]) -> str:
    run, sign = match["run"], match["sign"]
    plain = run.isdigit() and len(run) == 4 and not sign
    if plain and int(run) in _YEARISH and not _counts(match):
        return year(int(run))
    if plain and run[0] != "0" and word_before(match) in _ROOM:
        return pairs(run)
    return sign_words(sign) + number(run)


def _counts(match: re.Match[str]) -> bool:
    after = word_after(match)
    if after in _NOT_YEAR_AFTER:
        return True
    if match.string[match.end() : match.end() + 1] == "-":
        return False
    before = word_before(match)
    return after.endswith("s") and after.islower() and before not in _YEAR_BEFORE and len(after) > 3


_EDGE = r"(?![\w]|[-–.,:/]\d)"
_START = r"(?<![\w.,/:$-])"

RULES = (
    Rule(
        "phone",
        re.compile(
            r"(?<![\w.-])(?:\+\d{1,3}[ .-]?)?(?:1[ .-])?"
            r"(?:\(\d{3}\) ?\d{3}[ .-]\d{4}|\d{3}([-.])\d{3}\1\d{4}|(?<=1[ .-])\d{3}[ .-]\d{3}[ .-]\d{4}"
            r"|(?<=1-)\d{3}-[A-Z]{3,9}|(?<=1-)\d{3}-\d{3}-[A-Z]{4}|\d{3}-\d{4})(?![\w-]|\.\d)"
        ),
        _phone,
    ),
    Rule("phone_plain", re.compile(r"(?<![\w.,+-])\d{3} \d{3} \d{4}(?![\w-]|[.,]\d)"), _phone),
    Rule("phone_abroad", re.compile(r"(?<![\w])\+\d{1,3}(?:[ .-]?\(?\d{1,5}\)?){2,6}(?![\w-]|[.,]\d)"), _phone),
    Rule("phone_run", re.compile(r"(?<![\w])\+\d{7,15}(?!\w)"), _phone),
    Rule("social", re.compile(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])"), _dashed_digits),
    Rule("card", re.compile(r"(?<![\w-])\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?![\w-])"), _phone),
    Rule("emergency", re.compile(r"(?<![\w.,$-])\d{3}(?![\w]|[.,:/-]\w|%)"), _emergency),
    Rule(
        "code",
        re.compile(
            rf"(?i:\b(?P<word>{'|'.join(_CODE)}))(?P<gap>(?i: code| number| no\.?| is|:| #|#){{0,2}} ?)"
            rf"(?P<run>\d{{2,12}}(?:-\d{{3,8}})*)(?![\w%]|[.,:/-]\d)"
        ),
        _code,
    ),
    Rule(
        "room",
        re.compile(
            rf"(?i:\b(?P<word>{'|'.join(_ROOM)}))(?P<gap>\.? (?:[Nn]umber |#)?)(?P<run>\d{{3,7}})(?![\w%]|[.,:/]\d|-\d)"
        ),
        _room,
    ),
    Rule(
        "scientific",
        re.compile(
            rf"{_START}(?P<sign>(?<![\w)])[-+])?(?P<base>\d{{1,20}}(?:\.\d{{1,20}})?)[eE](?P<minus>[-+])?(?P<power>\d{{1,3}})(?!\w|\.\d)"
        ),
        _scientific,
    ),
    Rule("always", re.compile(rf"{_START}(?:24/7(?:/365)?|50/50|20/20){_EDGE}"), _always),
    Rule(
        "mixed_fraction",
        re.compile(
            rf"{_START}(?P<sign>(?<![\w)])-)?(?P<whole>\d{{1,6}})(?: |-|(?: and ))"
            rf"(?P<top>\d{{1,2}})/(?P<bottom>\d{{1,3}}){_EDGE}"
        ),
        _mixed_fraction,
    ),
    Rule(
        "fraction",
        re.compile(rf"{_START}(?P<sign>(?<![\w)])-)?(?P<top>\d{{1,4}})/(?P<bottom>\d{{1,4}}){_EDGE}"),
        _fraction,
    ),
    Rule("several", re.compile(rf"{_START}\d{{1,4}}(?:[-–]\d{{1,4}}){{2,6}}{_EDGE}"), _several),
    Rule("fifty", re.compile(rf"{_START}(?:50-50|20-20){_EDGE}"), _several),
    Rule(
        "range",
        re.compile(rf"{_START}(?P<first>{NUMBER})(?P<dash> ?[-–—] ?)(?P<last>{NUMBER})(?![\w]|[-–:/]\d|[.,]\d)"),
        _range,
    ),
    Rule("ratio", re.compile(rf"{_START}(?P<first>\d{{1,4}}) ?: ?(?P<last>\d{{1,4}}){_EDGE}"), _ratio),
    Rule("number", re.compile(rf"(?P<sign>(?<![\w)\].%])[-+±](?=[\d.]))?(?P<run>{NUMBER})"), _year_or_number),
)
