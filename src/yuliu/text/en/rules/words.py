"""Titles, abbreviations and Roman numerals."""

from __future__ import annotations

import re

from yuliu.text.en.abbreviations import ABBREVIATIONS, COUNTED, REGNAL, TITLES
from yuliu.text.en.number_words import cardinal, ordinal, roman, year
from yuliu.text.en.rule import Rule, word_before
from yuliu.text.en.tables import any_of

_TITLE_BEFORE = re.compile(
    r"\b(?:[Kk]ing|[Qq]ueen|[Pp]ope|[Ee]mperor|[Ee]mpress|[Tt]sar|[Cc]zar|[Pp]rince|[Ss]ultan|[Pp]haraoh|[Kk]aiser|[Ss]aint)\b"
)
_NUMERAL = r"(?P<numeral>(?=[IVXLCDM])M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))"
_SPEAKS_AFTER = re.compile(
    r" (?:am|have|had|will|would|think|know|can|could|should|was told|saw|love|want|guess|did|do|don't|said|met|went)\b"
)


def _title(match: re.Match[str]) -> str | None:
    name = match["title"]
    after_name = bool(re.search(r"[A-Z][a-z]+ \Z", match.string[max(0, match.start() - 24) : match.start()]))
    if (
        name in ("St", "Dr")
        and after_name
        and word_before(match)
        not in ("hi", "hello", "dear", "the", "ask", "and", "meet", "see", "call", "with", "to", "is", "was")
    ):
        street = bool(
            re.match(r" (?:[A-Z][a-z]+)? ?(?:is|and|in|at|near|was|to)?\b", match.string[match.end() - 1 :])
        ) and _house_number(match)
        if street:
            return ("Street" if name == "St" else "Drive") + " "
    return TITLES[name] + " "


def _house_number(match: re.Match[str]) -> bool:
    return bool(
        re.search(
            r"\d+ (?:[NSEW]\.? )?(?:[A-Z][a-z]+ ){1,2}\Z", match.string[max(0, match.start() - 40) : match.start()]
        )
    )


def _final(match: re.Match[str]) -> bool:
    """Whether a dot at the end of the match also ends a sentence."""
    rest = match.string[match.end() : match.end() + 3]
    return not rest.strip(" \"'”)")


def _abbreviation(match: re.Match[str]) -> str | None:
    short = match.group()
    words = ABBREVIATIONS[short]
    stopped = short.endswith(".") and (
        _final(match) or (short == "etc." and re.match(r"[\"”)]? [A-Z]", match.string[match.end() : match.end() + 3]))
    )
    return words + ("." if stopped else "")


def _numero(match: re.Match[str]) -> str:
    return {
        "No": "Number ",
        "no": "number ",
        "Nos": "Numbers ",
        "nos": "numbers ",
        "#": "number ",
        "p": "page ",
        "pp": "pages ",
        "Pp": "Pages ",
        "P": "page ",
    }[match["word"]]


def _counted(match: re.Match[str]) -> str:
    return f"{match['word']} {number_of(match['numeral'])}"


def number_of(numeral: str) -> str:
    """A Roman numeral as a cardinal."""
    return cardinal(roman(numeral))


def _regnal(match: re.Match[str]) -> str | None:
    numeral, name = match["numeral"], match["name"]
    titled = bool(_TITLE_BEFORE.search(match.string[max(0, match.start() - 24) : match.start()]))
    after = match.string[match.end() : match.end() + 12]
    if numeral == "I" and (_SPEAKS_AFTER.match(after) or not (titled or re.match(r" of |$|[.,;!?)]", after))):
        return None
    if numeral in ("X", "C", "D", "M", "L", "V") and not titled and (numeral != "V" or name in ("Malcolm", "Mary")):
        return None
    return f"{name} the {ordinal(roman(numeral))}"


def _junior(match: re.Match[str]) -> str | None:
    """A name and a numeral that no list knows: a number ("Vatican II"), not a king."""
    return f"{match['word']} {number_of(match['numeral'])}"


def _century(match: re.Match[str]) -> str:
    return ordinal(roman(match["numeral"]))


def _roman_year(match: re.Match[str]) -> str | None:
    value = roman(match["numeral"])
    return year(value) if 1500 <= value < 2100 else None


RULES = (
    Rule(
        "numero",
        re.compile(r"(?<![\w&])(?:(?P<word>Nos?|nos?|pp?|Pp?)\. ?|(?P<hash>#) ?)(?=\d)"),
        lambda match: "number " if match["hash"] else _numero(match),
    ),
    Rule("title", re.compile(rf"\b(?P<title>{any_of(TITLES)})\.? (?=[A-Z])"), _title),
    Rule(
        "title_caps",
        re.compile(r"\b(?P<title>MR|MRS|MS|DR)\. (?=[A-Z])"),
        lambda match: {"MR": "Mister ", "MRS": "Missus ", "MS": "Miz ", "DR": "Doctor "}[match["title"]],
    ),
    Rule("counted", re.compile(rf"\b(?P<word>{any_of(COUNTED)})\.? {_NUMERAL}\b(?![.'’]\w)"), _counted),
    Rule("regnal", re.compile(rf"\b(?P<name>{any_of(REGNAL)}) {_NUMERAL}\b(?![.'’][A-Za-z]{{2}})"), _regnal),
    Rule("century", re.compile(rf"\b{_NUMERAL}(?:th)?(?= [Cc]entur)"), _century),
    Rule(
        "roman_name",
        re.compile(r"\b(?P<word>[A-Z][a-z]{1,20}) (?P<numeral>(?:X{1,3})?(?:I{2,3}|I[VX]|VI{1,3}))\b(?!['’.]\w)"),
        _junior,
    ),
    Rule(
        "roman_year",
        re.compile(r"\b(?=M[CM]|MD)(?P<numeral>M{1,2}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3}))\b"),
        _roman_year,
    ),
    Rule(
        "abbreviation",
        re.compile(rf"(?<![\w.@/])(?:{any_of(ABBREVIATIONS)})(?![\w])"),
        _abbreviation,
    ),
)
