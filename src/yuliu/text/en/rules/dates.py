"""Dates, times, decades and weekdays."""

from __future__ import annotations

import re

from yuliu.text.en.number_words import cardinal, decade, digits, ordinal, two_digit_year, year
from yuliu.text.en.rule import EnglishRule, word_after, word_before
from yuliu.text.en.tables import any_of, listing

_MONTHS = listing(
    "January February March April May June July August September October November December"
)  # fmt: skip
_DAYS = listing("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC"
    r"|january|february|april|june|july|august|september|october|november|december)"
)
_BOOKS = listing(
    "Genesis Gen Exodus Leviticus Numbers Deuteronomy Joshua Judges Ruth Samuel Kings Chronicles Ezra Nehemiah Esther"
    " Job Psalm Psalms Ps Proverbs Prov Ecclesiastes Isaiah Jeremiah Lamentations Ezekiel Daniel Hosea Joel Amos"
    " Obadiah Jonah Micah Nahum Habakkuk Zephaniah Haggai Zechariah Malachi Matthew Matt Mark Luke John Acts Romans Rom"
    " Corinthians Galatians Ephesians Philippians Colossians Thessalonians Timothy Titus Philemon Hebrews James Peter"
    " Jude Revelation Surah Sura Quran"
)
_SHORT_MONTH = r"(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
_DAY = r"(?:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)"
_DAY_NUMBER = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?:,? (?P<year>[12]\d{3})(?![\d,.:%/-]\d|\d|[a-z%]))?"
_ZONE = r"(?:Z|[+-]\d\d:?\d\d)?"
_MERIDIEM = r"(?: ?(?P<half>[AaPp])(?:m|M|\.[Mm]\.?)(?![A-Za-z]))"
_LASTING = frozenset(listing("took take takes lasts lasted last runs ran lasting for takes duration elapsed"))
_AT = frozenset(listing("at by until till since from before after around about between to"))
_DECADE_BEFORE = frozenset(listing("the his her their my your our its early mid late to and or in mid- of"))


def month_name(text: str) -> str:
    """Return the full name of a month given in any of its short forms."""
    return next(name for name in _MONTHS if name[:3].lower() == text[:3].lower())


def _day(text: str) -> str:
    return ordinal(int(re.sub(r"\D", "", text)))


def date_words(year_value: int | None, month: int, day: int) -> str | None:
    """Return a date such as "March fifteenth twenty twenty four"; None if there is no such day."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    words = f"{_MONTHS[month - 1]} {ordinal(day)}"
    return words if year_value is None else f"{words}, {year(year_value)}"


def _iso(match: re.Match[str]) -> str | None:
    words = date_words(int(match["y"]), int(match["m"]), int(match["d"]))
    if words and match["hour"]:
        clock = clock_words(int(match["hour"]), int(match["minute"]), half=None, second=match["second"])
        return clock and f"{words}, at {clock}"
    return words


def _full_year(text: str) -> int:
    value = int(text)
    if len(text) == 4:
        return value
    return value + (1900 if value > 40 else 2000)


def _slashed(match: re.Match[str]) -> str | None:
    first, second, last = int(match["a"]), int(match["b"]), match["y"]
    european = first > 12 or match["sep"] == "."
    month, day = (second, first) if european else (first, second)
    return date_words(_full_year(last), month, day)


def _month_day(match: re.Match[str]) -> str | None:
    month = match["month"]
    if month in ("May", "MAY", "Mar", "March") and re.match(
        r" (?:percent|people|%|times)", match.string[match.end() :]
    ):
        return None
    words = f"{month_name(month)} {_day(match['day'])}"
    if match["last"]:
        words += f" to {_day(match['last'])}"
    return words + (f", {year(int(match['year']))}" if match["year"] else "")


def _day_month(match: re.Match[str]) -> str | None:
    the = match["the"] or ("" if word_before(match) == "the" else "the ")
    last = f"to the {_day(match['last'])} " if match["last"] else ""
    words = f"{the}{_day(match['day'])} {last}of {month_name(match['month'])}"
    return words + (f", {year(int(match['year']))}" if match["year"] else "")


def _day_month_joined(match: re.Match[str]) -> str | None:
    month = 1 + next(index for index, name in enumerate(_MONTHS) if name.startswith(match["month"][:3]))
    return date_words(_full_year(match["year"]), month, int(match["day"]))


def _year_month(match: re.Match[str]) -> str | None:
    """Read ``2024/7`` as "July twenty twenty four"; ``2001/02`` is a season."""
    value, month = int(match["year"]), int(match["month"])
    if len(match["month"]) == 2 and month == (value + 1) % 100:
        return None
    return f"{_MONTHS[month - 1]} {year(value)}"


def _short_month(match: re.Match[str]) -> str:
    return month_name(match["month"]) + ("." if _ends_sentence(match) else "")


def _ends_sentence(match: re.Match[str]) -> bool:
    return match.group().endswith(".") and not match.string[match.end() :].strip(" \"'”)")


def _weekday(match: re.Match[str]) -> str:
    return next(name for name in _DAYS if name.startswith(match["weekday"][:3]))


def _months(match: re.Match[str]) -> str:
    return f"{month_name(match['first'])} to {month_name(match['last'])}"


def _weekday_list(match: re.Match[str]) -> str:
    short = re.findall(r"[A-Z][a-z]{2}", match.group())
    return ", ".join(next(name for name in _DAYS if name.startswith(day)) for day in short)


def _weekdays(match: re.Match[str]) -> str:
    first, last = (next(name for name in _DAYS if name.startswith(match[part][:3])) for part in ("first", "last"))
    return f"{first} to {last}"


def clock_words(hour: int, minute: int, *, half: str | None, second: str | None) -> str | None:
    """Return a time of day in words; ``half`` is "a", "p" or None, ``second`` digits or None."""
    if hour > 24 or minute > 59:
        return None
    words = cardinal(hour)
    if minute:
        words += f" {'oh ' if minute < 10 else ''}{cardinal(minute)}"
    elif second is None and half is None:
        words = "midnight" if hour == 0 else words + (" o'clock" if hour <= 12 else " hundred")
    if second is not None:
        words += f" and {cardinal(int(second))} second{'' if int(second) == 1 else 's'}"
    return words + (f" {half.upper()}M" if half else "")


def _verse(match: re.Match[str]) -> str:
    """Read ``John 3:16`` as "John three sixteen"."""
    last = f" to {cardinal(int(match['last']))}" if match["last"] else ""
    return f"{match['book']} {cardinal(int(match['chapter']))} {cardinal(int(match['verse']))}{last}"


def _clock_dotted(match: re.Match[str]) -> str | None:
    """Read ``10.30am``, the British spelling."""
    words = clock_words(int(match["hour"]), int(match["minute"]), half=_half(match), second=None)
    return words and words + ("." if _ends_sentence(match) else "")


def _half(match: re.Match[str]) -> str | None:
    return match["half"] and match["half"].lower()


def _lasts(match: re.Match[str]) -> bool:
    """Return whether the match is a duration: hours with seconds, unless behind "at" or with a two-digit hour."""
    if match["half"] or match["second"] is None:
        return match["hour"] == "0" and word_before(match) in _LASTING
    return word_before(match) in _LASTING or (len(match["hour"]) == 1 and word_before(match) not in _AT)


def duration_words(hours: int, minutes: int, seconds: int) -> str:
    """Return a duration such as "one hour two minutes and five seconds"; zero parts are left out."""
    counts = ((hours, "hour"), (minutes, "minute"), (seconds, "second"))
    said = [f"{cardinal(count)} {name}{'' if count == 1 else 's'}" for count, name in counts if count]
    return " ".join([*said[:-1], *(["and"] if len(said) > 1 else []), *said[-1:]]) or "zero seconds"


def _timed(match: re.Match[str]) -> str:
    """Read minutes, seconds and a fraction: ``3:59.4`` is "three fifty nine point four"."""
    low = int(match["minute"])
    seconds = f"{'oh ' if low < 10 else ''}{cardinal(low)}" if low else "oh oh"
    return f"{cardinal(int(match['hour']))} {seconds} point {digits(match['fraction'])}"


def _military(match: re.Match[str]) -> str | None:
    """Read ``0800 hours`` as "oh eight hundred", ``1900 hours`` as "nineteen hundred"."""
    hour, minute = match["hour"], int(match["minute"])
    if hour[0] != "0" and word_before(match) not in _AT:
        return None
    low = f"{'oh ' if minute < 10 else ''}{cardinal(minute)}" if minute else "hundred"
    return f"{'oh ' if hour[0] == '0' else ''}{cardinal(int(hour))} {low}"


def _clock(match: re.Match[str]) -> str | None:
    if _lasts(match):
        parts = [int(match[name] or 0) for name in ("hour", "minute", "second")]
        return duration_words(*parts) if match["second"] else duration_words(0, *parts[:2])
    words = clock_words(int(match["hour"]), int(match["minute"]), half=_half(match), second=match["second"])
    if words and words.endswith(" o'clock") and word_after(match) in ("o", "AM", "PM"):
        return words.removesuffix(" o'clock")
    return words and words + ("." if match["half"] and _ends_sentence(match) else "")


def _hour(match: re.Match[str]) -> str | None:
    hour = int(match["hour"])
    if hour > 24:
        return None
    return f"{cardinal(hour)} {match['half'].upper()}M" + ("." if _ends_sentence(match) else "")


def _hours(match: re.Match[str]) -> str | None:
    first, last = int(match["first"]), int(match["last"])
    if first > 12 or last > 12:
        return None
    return f"{cardinal(first)} to {cardinal(last)} {match['half'].upper()}M" + ("." if _ends_sentence(match) else "")


def _clock_to(match: re.Match[str]) -> str:
    return "to"


def _decade(match: re.Match[str]) -> str | None:
    value = int(match["decade"])
    short = len(match["decade"]) == 2
    sure = match["prefix"] or match["mark"] or "'" in match.group() or not short
    if not sure and word_before(match) not in _DECADE_BEFORE and word_after(match) not in _DECADE_AFTER:
        return None
    return (match["prefix"] or "").replace("-", " ") + decade(value)


def _short_year(match: re.Match[str]) -> str:
    return two_digit_year(match["year"])


def _month_slash_day(match: re.Match[str]) -> str | None:
    before = word_before(match)
    month, day = int(match["m"]), int(match["d"])
    if (month, day) == (9, 11):
        return None  # read as the name of the day
    if before in _SCORED:
        return None
    if 13 <= day <= 31 and day not in (16, 20) and month <= 12:
        return date_words(None, month, day)
    if before not in _DATE_BEFORE and not any(name.lower().startswith(before[:3]) and before for name in _DAYS):
        return None
    return date_words(None, month, day)


_DECADE_AFTER = frozenset(
    listing("rock pop music style film films movie movies fashion era kids hits show shows band bands disco hip jazz")
)
_SCORED = frozenset(listing("scored score got rated earned received gave only"))
_DATE_BEFORE = frozenset(listing("on since until till due dated"))

RULES = (
    EnglishRule(
        "date_iso",
        re.compile(
            r"(?<![\w.-])(?P<y>[12]\d{3})(?P<sep>[-/.])(?P<m>\d{1,2})(?P=sep)(?P<d>\d{1,2})"
            rf"(?:[T ](?P<hour>\d\d):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:\.\d{{1,6}})?)?{_ZONE})?(?![\w-]|\.\d)"
        ),
        _iso,
    ),
    EnglishRule(
        "date_slashed",
        re.compile(
            r"(?<![\w./-])(?P<a>\d{1,2})(?P<sep>[/.-])(?P<b>\d{1,2})(?P=sep)(?P<y>[12]\d{3}|\d\d)(?![\w/-]|\.\d)"
        ),
        _slashed,
    ),
    EnglishRule(
        "month_day",
        re.compile(
            rf"\b(?P<month>{_MONTH})\.? (?P<day>{_DAY_NUMBER})(?: ?[-–—] ?(?P<last>{_DAY_NUMBER}))?"
            r"(?![\d:%]|[.,/]\d|[A-Za-z-])" + _YEAR
        ),
        _month_day,
    ),
    EnglishRule(
        "day_month",
        re.compile(
            rf"(?<![\w.,:/$-])(?P<the>[Tt]he )?(?P<day>{_DAY_NUMBER})(?: ?[-–—] ?(?P<last>{_DAY_NUMBER}))? (?:of )?"
            rf"(?P<month>{_MONTH})\b(?:\.(?=,? [a-z\d]))?" + _YEAR
        ),
        _day_month,
    ),
    EnglishRule(
        "day_month_joined",
        re.compile(
            rf"(?<![\w.-])(?P<day>0?[1-9]|[12]\d|3[01])(?P<sep>[-/ ])(?P<month>{_SHORT_MONTH})(?P=sep)"
            r"(?P<year>[12]\d{3}|\d\d)(?![\w-])"
        ),
        _day_month_joined,
    ),
    EnglishRule(
        "year_month",
        re.compile(r"(?<![\w./-])(?P<year>[12]\d{3})/(?P<month>0?[1-9]|1[0-2])(?![\w/]|\.\d)"),
        _year_month,
    ),
    EnglishRule(
        "month_slash_day", re.compile(r"(?<![\w./-])(?P<m>\d{1,2})/(?P<d>\d{1,2})(?![\w/]|[.]\d)"), _month_slash_day
    ),
    EnglishRule(
        "timed",
        re.compile(r"(?<![\w.:/$])(?P<hour>\d{1,2}):(?P<minute>[0-5]\d)\.(?P<fraction>\d{1,3})(?![\w:]|\.\d)"),
        _timed,
    ),
    EnglishRule(
        "military",
        re.compile(r"(?<![\w.,:/$-])(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d)(?= ?(?:hours|hrs)\b)"),
        _military,
    ),
    EnglishRule(
        "clock",
        re.compile(
            rf"(?<![\w.:/$])(?P<hour>\d{{1,2}}):(?P<minute>\d\d)(?::(?P<second>\d\d))?(?![\d:]|\.\d){_MERIDIEM}?"
        ),
        _clock,
    ),
    EnglishRule(
        "hours",
        re.compile(rf"(?<![\w.:/$-])(?P<first>\d{{1,2}}) ?[-–] ?(?P<last>\d{{1,2}}){_MERIDIEM}"),
        _hours,
    ),
    EnglishRule("hour", re.compile(rf"(?<![\w.:/$])(?P<hour>\d{{1,2}}){_MERIDIEM}"), _hour),
    EnglishRule(
        "clock_to",
        re.compile(r"(?:(?<=:\d\d)|(?<=\d[AaPp][Mm])|(?<= [AaPp][Mm])|(?<=[ap]\.m\.))(?:[-–—]| [-–—] )(?=\d)"),
        _clock_to,
    ),
    EnglishRule(
        "joined",
        re.compile(r"(?:(?<=\d0s)|(?<=\dst)|(?<=\dnd)|(?<=\drd)|(?<=\dth)|(?<=noon)|(?<=[Nn]ight))(?: ?–|-) ?(?=\d)"),
        lambda match: " to ",
    ),
    EnglishRule(
        "joined_dates",
        re.compile(
            r"(?:(?<=\d)|(?<=\dst)|(?<=\dnd)|(?<=\drd)|(?<=\dth)|(?<=[ap]m)|(?<=[AP]M)|(?<=[ap]\.m\.))"
            r"(?: ?[–—] ?|-| - )"
            rf"(?=(?:{_MONTH}|{_DAY})\b\.?,? \d|noon\b|midnight\b)"
        ),
        lambda match: " to ",
    ),
    EnglishRule(
        "verse",
        re.compile(
            rf"\b(?P<book>{any_of(_BOOKS)})\.? (?P<chapter>\d{{1,3}}):(?P<verse>\d{{1,3}})"
            r"(?:[-–](?P<last>\d{1,3}))?(?![\w:])"
        ),
        _verse,
    ),
    EnglishRule(
        "clock_dotted",
        re.compile(rf"(?<![\w.:/$-])(?P<hour>1[0-2]|0?[1-9])\.(?P<minute>[0-5]\d)(?P<second>)?{_MERIDIEM}"),
        _clock_dotted,
    ),
    EnglishRule("zone", re.compile(r"\b(?P<zone>UTC|GMT) ?-(?=\d)"), lambda match: f"{match['zone']} minus "),
    EnglishRule(
        "decade",
        re.compile(
            r"(?:(?<![\w.,$-])|(?<=0s-))(?P<prefix>(?:[Mm]id|[Ee]arly|[Ll]ate|[Pp]re|[Pp]ost)-)?(?P<mark>')?"
            r"(?P<decade>(?:1[0-9]|20)\d0|(?<=[Tt]he )[1-9]00|(?<=')[1-9]0|[2-9]0)'?s(?!\w)"
        ),
        _decade,
    ),
    EnglishRule("short_year", re.compile(r"(?<!\w)'(?P<year>\d\d)(?![\w']|[.,:]\d)"), _short_year),
)
NAMES = (
    EnglishRule("months", re.compile(rf"\b(?P<first>{_MONTH})\.?[-–](?P<last>{_MONTH})\b(?:\.(?= \d))?"), _months),
    EnglishRule("short_month", re.compile(rf"\b(?P<month>{_SHORT_MONTH})(?:\.|(?= \d{{4}}\b| '\d\d\b))"), _short_month),
    EnglishRule("weekdays", re.compile(rf"\b(?P<first>{_DAY})\.?[-–](?P<last>{_DAY})\b\.?(?= |$|[,;:])"), _weekdays),
    EnglishRule("weekday_list", re.compile(rf"\b{_DAY}(?:/{_DAY}){{1,6}}\b"), _weekday_list),
    EnglishRule(
        "weekday",
        re.compile(rf"\b(?P<weekday>{_DAY})(?:\.(?=,? [A-Za-z\d])|(?=,? (?:{_MONTH}|(?:the )?\d)))"),
        _weekday,
    ),
)
"""Rules for text without digits; tried after the others."""
