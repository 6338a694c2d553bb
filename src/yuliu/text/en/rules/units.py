"""Measures, percentages, and the counting letters behind a number (3x, 5k, 4G)."""

from __future__ import annotations

import re

from yuliu.text.en.measures import PER, UNITS, plural_of
from yuliu.text.en.number_words import number, ordinal, pairs
from yuliu.text.en.rule import EnglishRule, before, word_after, word_before
from yuliu.text.en.rules.money import NO_NOUNS, NUMBER, SCALES
from yuliu.text.en.tables import any_of, listing

_TIGHT_ONLY = frozenset(listing("in pt t mo us b lx mil g s"))
"""Units that are also words or letters: units only directly behind the number ("5in", never "5 in"), except as below.
"""
_CAPITALS = frozenset(listing("V W B J"))
_PLACES = frozenset(
    listing("room section apartment apt gate flat seat level grade step figure type chapter part unit block platform")
)
"""Words whose numbers may have a letter behind them that is not a unit."""
_PER_TAIL = rf"(?:/(?P<per>{any_of(PER)})(?![\w^]))?"
_SIGN = r"(?P<sign>(?<![\w)])[-+±])?"
_FIRST_UNIT = listing("km kg cm mm mg ml g m ft lb lbs oz L KB MB GB TB W kW V A Hz kHz MHz GHz mph")
_RANGE = (
    rf"(?:(?P<first>{NUMBER})(?: ?(?P<first_unit>%|°[CF]?|{any_of(_FIRST_UNIT)}))? ?"
    r"(?P<dash>[-–—~]|(?<![A-Za-z])to|(?<= )to|x|×) ?)?"
)
_COUNTED = frozenset(
    listing("people users dollars euros pounds tokens views records rows parameters params followers of")
)
"""Nouns counted in millions and billions."""
_TURNS = frozenset(listing("angle turn rotation bend slope tilt view arc curve lens"))
_LINES = frozenset(listing("240 360 480 576 720 1080 1440 2160 4320"))
"""Heights of pictures, read in pairs before p or i."""


def sign_words(sign: str | None) -> str:
    """Return the word for a sign before a number, with its space; empty without a sign."""
    return {"-": "minus ", "+": "plus ", "±": "plus or minus "}.get(sign or "", "")


def _first_words(match: re.Match[str]) -> str:
    """Return the first of two numbers, and the word that joins them."""
    if not match["first"]:
        return ""
    unit, by = match["first_unit"], match["dash"] in ("x", "×")
    words = number(match["first"])
    if unit and (by or match["dash"] == "to" or not match.group().endswith(unit)):
        name = UNITS.get(unit, "percent")
        words += f" {name if match['first'] == '1' or name == 'percent' else plural_of(name)}"
    return words + (" by " if by else " to ")


def _measure(match: re.Match[str]) -> str | None:
    unit = match["unit"]
    if not _plausible(match):
        return None
    name = UNITS[unit]
    if match["power"]:
        name = {"2": "square ", "3": "cubic "}[match["power"]] + name
    one = match["amount"] == "1" and not match["first"]
    words = name if one or _describes(match) else plural_of(name)
    per = f" per {PER[match['per']]}" if match["per"] else ""
    stop = "." if unit.endswith(".") and not match.string[match.end() :][:4].strip(" \"'”)") else ""
    return f"{sign_words(match['sign'])}{_first_words(match)}{number(match['amount'])} {words}{per}{stop}"


def _describes(match: re.Match[str]) -> bool:
    """Return whether the measure describes the next noun: "5-km run", "a 5 kg bag"."""
    after = word_after(match)
    if match.string[match.end() : match.end() + 1] == "-" or match["gap"] == "-":
        return True
    if match["unit"] == "°" and after in _TURNS:
        return True
    noun = after.islower() and after not in NO_NOUNS and not match["per"]
    if noun and match["unit"] in ("W", "V", "kW", "mm", "MP") and not match["gap"]:
        return True
    return noun and word_before(match) in ("a", "an", "the") and not match["unit"].endswith("h")


def _plausible(match: re.Match[str]) -> bool:
    unit, gap, per = match["unit"], match["gap"] == " ", match["per"]
    if unit == "bps" and _FINANCE.search(before(match, 60)):
        return False
    if len(unit) > 2 or per or match["power"]:
        return True
    if word_before(match) in _PLACES or unit == "B":
        return False
    if unit == "A":
        return "." in match["amount"] or word_after(match) in ("fuse", "current", "circuit", "breaker", "charger")
    if gap and unit in _CAPITALS:
        return not word_after(match)[:1].isupper()
    if gap and unit in ("g", "s"):
        return unit == "g" or "." in match["amount"] or not word_after(match)
    if unit == "s":
        return "." in match["amount"] or len(match["amount"]) <= 3
    return not (gap and unit in _TIGHT_ONLY)


def _percent(match: re.Match[str]) -> str:
    mark = {"%": "percent", "‰": "per mille", "‱": "per ten thousand"}[match["mark"]]
    return f"{sign_words(match['sign'])}{_first_words(match)}{number(match['amount'])} {mark}"


def _degrees_range(match: re.Match[str]) -> str:
    scale = {"C": "degrees Celsius", "F": "degrees Fahrenheit"}.get(match["scale"] or "", "degrees")
    first = sign_words(match["sign"]) + number(match["first"])
    return f"{first} to {sign_words(match['minus'])}{number(match['amount'])} {scale}"


def _feet_and_inches(match: re.Match[str]) -> str:
    feet, inches = match["feet"], match["inches"]
    words = f"{number(feet)} {'foot' if feet == '1' else 'feet'}"
    return f"{words} {number(inches)} inch{'' if inches == '1' else 'es'}"


def _feet_inches(match: re.Match[str]) -> str:
    words = f"{number(match['feet'])} {'foot' if match['feet'] == '1' else 'feet'}"
    inches = match["inches"]
    return f"{words} {number(inches)} inch{'' if inches == '1' else 'es'}" if inches else words


def _team(match: re.Match[str]) -> str:
    """Read ``49ers`` as "forty niners"."""
    words = number(match["amount"])
    return words + ("rs" if words.endswith("e") else "ers")


def _height(match: re.Match[str]) -> str:
    return f"{number(match['feet'])} foot {number(match['inches'])}"


def _basis_points(match: re.Match[str]) -> str | None:
    if not _FINANCE.search(before(match, 60)):
        return None
    return f"{sign_words(match['sign'])}{number(match['amount'])} basis point{'' if match['amount'] == '1' else 's'}"


def _marked_dimensions(match: re.Match[str]) -> str:
    """Read ``8.5" x 11"``: inches by inches, feet by feet."""
    names = {"'": ("foot", "feet"), '"': ("inch", "inches")}[match["mark"]]
    first, last = match["first"], match["last"]
    return f"{number(first)} {names[first != '1']} by {number(last)} {names[last != '1']}"


def _bearing(match: re.Match[str]) -> str:
    """Read degrees, minutes and seconds with a point of the compass: ``40°42'N``."""
    parts = ((match["amount"], "degree"), (match["minutes"], "minute"), (match["seconds"], "second"))
    words = " ".join(f"{number(run)} {name}{'' if run == '1' else 's'}" for run, name in parts if run)
    return f"{words} {_COMPASS[match['point']]}"


def _inches(match: re.Match[str]) -> str | None:
    amount = match["amount"]
    if match.string.count('"', max(0, match.start() - 200), match.start()) % 2:
        return None  # closes a quotation
    return f"{number(amount)} inch{'' if amount == '1' or word_after(match) else 'es'}"


def _letter(match: re.Match[str]) -> str | None:
    letter, run = match["letter"], match["amount"]
    if letter in ("bn", "mn", "tn"):
        return f"{number(run)} {SCALES[letter]}"
    if letter in "xX" and _is_unknown(match):
        return f"{number(run)} {letter.upper()}"
    if letter in "xX×":
        return f"{number(run)} times"
    if letter in "pi":
        return f"{pairs(run)} {letter.upper()}" if run in _LINES else None
    if letter in "kK" and (
        word_after(match) in ("run", "race", "walk", "video", "TV", "resolution", "display", "monitor")
    ):
        return f"{number(run)} K"
    if letter == "K" and (run in ("2", "4", "8") or (word_before(match) in ("a", "an") and not word_after(match))):
        return f"{number(run)} K"
    if letter in SCALES and _is_scale(match):
        return f"{number(run)} {SCALES[letter]}"
    if len(run) == 3 and run.isdigit():
        return f"{pairs(run)} {letter.upper()}"
    return f"{number(run)} {letter.upper()}" if len(run) <= 3 else None


def _is_unknown(match: re.Match[str]) -> bool:
    """Return whether the x behind a number stands in a formula: ``2x + 1``."""
    after = match.string[match.end() : match.end() + 3]
    return re.match(r" ?[+=^*)]| - ?\d|-\d", after) is not None or re.search(r"[=+] ?\Z", before(match, 2)) is not None


def _is_scale(match: re.Match[str]) -> bool:
    """Return whether K, M, B or T behind a number multiplies it, rather than naming a room, a firm or a model."""
    letter, run, after = match["letter"], match["amount"], word_after(match)
    if letter in "kK":
        return True
    counted = after in _COUNTED or (len(after) > 3 and after.endswith("s") and after.islower())
    return counted or "." in run or (letter in "mM" and run != "3" and word_before(match) not in _PLACES)


def _ordinal(match: re.Match[str]) -> str:
    return ordinal(int(match["amount"].replace(",", "")))


_FINANCE = re.compile(
    r"(?i:\b(?:rates?|yields?|spreads?|margins?|fed|bond|bank|hiked?|cuts?|rose|fell|rises?|falls?|basis|eased|widen\w*)\b)"
)
_COMPASS = {"N": "north", "S": "south", "E": "east", "W": "west"}
_CLOCK_UNITS = {"h": "hour", "m": "minute", "s": "second"}


def _duration(match: re.Match[str]) -> str:
    """Read ``2h 30m`` as "two hours thirty minutes"."""
    parts = re.findall(r"(\d+) ?([hms])", match.group() + ("m" if match.group()[-1].isdigit() else ""))
    return " ".join(
        f"{number(run)} {_CLOCK_UNITS[unit] if run == '1' else plural_of(_CLOCK_UNITS[unit])}" for run, unit in parts
    )


def _dimensions(match: re.Match[str]) -> str:
    inches = match["inches"] or ""
    parts = re.split(r" ?[x×] ?", match.group().removesuffix(inches))
    if "×" in match.group() and max(map(len, parts)) < 3 and not re.match(r" ?[a-z]", match.string[match.end() :][:2]):
        return " times ".join(map(number, parts))
    wide = all(len(part) in (3, 4) and part.isdigit() for part in parts)
    return " by ".join(pairs(part) if wide else number(part) for part in parts) + (" inches" if inches else "")


RULES = (
    EnglishRule(
        "ordinal",
        re.compile(r"(?<![\w.,$-])(?P<amount>\d{1,3}(?:,\d{3}){1,4}|\d{1,15}) ?(?:st|nd|rd|th|ST|ND|RD|TH)(?!\w)"),
        _ordinal,
    ),
    EnglishRule(
        "percent", re.compile(rf"(?<![\w.,$]){_SIGN}{_RANGE}(?P<amount>{NUMBER})[ -]?(?P<mark>[%‰‱])"), _percent
    ),
    EnglishRule(
        "bearing",
        re.compile(
            rf"(?<![\w.,$])(?P<amount>{NUMBER}) ?°(?: ?(?P<minutes>\d{{1,2}})'"
            r"(?: ?(?P<seconds>\d{1,2}(?:\.\d{1,3})?)(?:\"|''))?)? ?(?P<point>[NSEW])(?!\w)"
        ),
        _bearing,
    ),
    EnglishRule(
        "degrees",
        re.compile(
            rf"(?<![\w.,$]){_SIGN}(?P<first>{NUMBER})°?[CF]? ?(?:[-–—~]|to) ?"
            rf"(?P<minus>-)?(?P<amount>{NUMBER}) ?° ?(?P<scale>[CF])?(?!\w)"
        ),
        _degrees_range,
    ),
    EnglishRule(
        "feet_and_inches",
        re.compile(r"(?<![\w.,])(?P<feet>\d{1,3}) ?(?:ft|feet)\.? (?P<inches>\d{1,2}(?:\.\d)?) ?in\b(?:\.(?= [a-z]))?"),
        _feet_and_inches,
    ),
    EnglishRule(
        "duration",
        re.compile(
            r"(?<![\w.,$/^-])(?:\d{1,3} ?h ?\d{1,2} ?m(?:in)?(?: ?\d{1,2} ?s)?"
            r"|\d{1,2}h[0-5]\d|\d{1,3} ?m ?\d{1,2} ?s)(?!\w)"
        ),
        _duration,
    ),
    EnglishRule(
        "measure",
        re.compile(
            rf"(?<![\w.,$^])(?<!(?<![A-Za-z])/){_SIGN}{_RANGE}(?P<amount>{NUMBER})(?P<gap>[ -]?)"
            rf"(?P<unit>{any_of(UNITS)})(?:\^?(?P<power>[23])(?!\d))?{_PER_TAIL}(?![\w'^]|/[A-Za-z_]|-\d)"
        ),
        _measure,
    ),
    EnglishRule("aperture", re.compile(r"(?<![\w/])[fF]/(?=\d)"), lambda match: "F "),
    EnglishRule(
        "exposure",
        re.compile(r"(?<![\w.,/$-])1/(?P<amount>\d{2,4}) ?s(?:ec(?:onds?)?)?(?!\w)"),
        lambda match: f"one {ordinal(int(match['amount']))} of a second",
    ),
    EnglishRule("team", re.compile(r"(?<![\w.,-])(?P<amount>\d{1,3})ers(?!\w)"), _team),
    EnglishRule("height", re.compile(r"(?<![\w.,'])(?P<feet>[3-8])'(?P<inches>\d{1,2})(?![\w'\"]|\.\d)"), _height),
    EnglishRule(
        "inch_mark",
        re.compile(r"(?:(?<=\d/\d)|(?<=\d/\d\d))\"(?=[ -][a-z]|[.,;)]|$)"),
        lambda match: " inch",
    ),
    EnglishRule("basis_points", re.compile(rf"(?<![\w.,$]){_SIGN}(?P<amount>{NUMBER}) ?bps?(?!\w)"), _basis_points),
    EnglishRule(
        "marked_dimensions",
        re.compile(
            r"(?<![\w.,\"'])(?P<first>\d{1,4}(?:\.\d{1,3})?)(?P<mark>[\"'])"
            r" ?[x×] ?(?P<last>\d{1,4}(?:\.\d{1,3})?)(?P=mark)"
        ),
        _marked_dimensions,
    ),
    EnglishRule(
        "feet_inches",
        re.compile(r"(?<![\w.,'])(?P<feet>\d{1,2})' ?(?:(?P<inches>\d{1,2})(?:\"|'')|(?=[ ,.]|$))"),
        _feet_inches,
    ),
    EnglishRule(
        "inches", re.compile(r"(?<![\w.,\"])(?P<amount>\d{1,3}(?:\.\d{1,2})?)\"(?=[ -][a-z]|[,.;)]|$)"), _inches
    ),
    EnglishRule(
        "dimensions",
        re.compile(
            r"(?<![\w.,$])(?!0[xX])\d{1,5}(?:\.\d{1,3})?(?: ?[x×] ?\d{1,5}(?:\.\d{1,3})?){1,3}(?![\w.]\w|[\d^])"
            r"(?P<inches> in(?=[.,;)]|$))?"
        ),
        _dimensions,
    ),
    EnglishRule(
        "letter",
        re.compile(rf"(?<![\w.,$-])(?P<amount>{NUMBER})(?P<letter>[mbt]n|[kKmMbBtTxX×GDPpiCF])(?![\w'/+#])"),
        _letter,
    ),
)
