"""Dates, years and times of day."""

from __future__ import annotations

import re

from yuliu.text.zh.normalise.rule import DIGIT, MandarinRule, after, before, rule
from yuliu.text.zh.numbers import cardinal, decimal, spell_digits

_YEAR = r"(?:1[0-9]|20|21)\d\d"
_MONTH = r"(?:0?[1-9]|1[0-2])"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_FEW_YEARS = re.compile(r"[多余来]|(?:的)?历史|[以之]?前(?!后)|[以之]?后|间|时间")
_SPAN_OF_YEARS = re.compile(r"(?:有|近|约|历经|距今|超过|长达|了|达|满|前后|过去|未来|再过|活)$")
_COUNTED = re.compile(r"\s?(?:[元个人米块万千亿美欧次件名克公斤平度瓦伏转字户家吨℃%]|[a-zA-Z])")
_SCORE_BEFORE = re.compile(r"(?:比分|比数|以|比分为|比分是|比|成|平)[:\s]?$")
SCORE_AFTER = re.compile(r"(?:战?胜|获胜|取胜|击败|战平|领先|落后|险胜|大胜|惜败|不敌|负于|逆转|输|赢|的?比分|的?比例)")
_LASTING_BEFORE = re.compile(
    r"(?:用时|耗时|历时|时长|全长|片长|为时|配速|成绩|倒计时|还有|还剩|剩余|长度?)(?:约|为|是|[:\s]){0,2}$"
)
_RATIO_BEFORE = re.compile(r"(?:比例尺?|配比|比值|比率|按|比|为比)(?:是|为|约)?[:\s]?$")


def _whole(text: str) -> str:
    return cardinal(text.lstrip("0") or "0")


def _date(match: re.Match[str]) -> str | None:
    year, month, day = match["y"], match["m"], match["d"]
    return f"{spell_digits(year)}年{_whole(month)}月" + (f"{_whole(day)}日" if day else "")


def _year_month(match: re.Match[str]) -> str:
    return f"{spell_digits(match['y'])}年{_whole(match['m'])}月"


def _years(match: re.Match[str]) -> str | None:
    first, last = match["a"], match["b"]
    if len(last) == 4 and (not int(first) < int(last) or _COUNTED.match(match.string, match.end())):
        return None
    if len(last) == 2 and after(match, 2) not in ("赛季", "学年", "财年", "年度"):
        return None
    return f"{spell_digits(first)}到{spell_digits(last)}"


def _year(match: re.Match[str]) -> str | None:
    digits = match[0]
    if digits.endswith("00") and (
        _FEW_YEARS.match(match.string, match.end() + 1) or _SPAN_OF_YEARS.search(before(match, 3))
    ):
        return None
    return spell_digits(digits)


def _ancient_year(match: re.Match[str]) -> str | None:
    return spell_digits(match[0]) if re.search(r"公元前?$|西元前?$", before(match, 3)) else None


def _occasion(match: re.Match[str]) -> str:
    """Read 5.1放假 as 五一, 9.18事变 as 九一八, 10.1 as 十一."""
    month, _, day = match[0].replace("·", ".").partition(".")
    if month == day and len(day) == 2:
        return "双" + cardinal(day)
    return "十" + spell_digits(day) if month == "10" else spell_digits(month + day)


def _generation(match: re.Match[str]) -> str | None:
    """Read 80后 as 八零后."""
    return None if before(match, 1) in ("第", "前", "近", "约") else spell_digits(match[0])


def _two_digit_year(match: re.Match[str]) -> str | None:
    digits = match[0]
    if before(match, 1) in ("'", "’", "‘"):
        return spell_digits(digits)
    if digits[0] not in "06789" or after(match, 2) in (
        "年代",
        "年级",
        "年后",
        "年来",
        "年前",
        "年间",
        "年的",
        "年以",
        "年期",
    ):
        return None
    if digits[0] != "0" and (
        before(match, 1) not in ("", "，", "。", "、", "（", "在", "从", "自", "到", "于", "是", "“")
    ):
        return None
    return spell_digits(digits)


def _clock(hour: str, minute: str, second: str | None, half: str | None) -> str | None:
    if int(hour) > 24:
        return None
    words = {"a": "上午", "p": "下午"}.get((half or "").lower(), "")
    words += ("零" if int(hour) == 0 else _hour(hour)) + "点"
    if minute != "00" or (second and second != "00"):
        words += ("零" if minute[0] == "0" and minute != "00" else "") + _whole(minute) + "分"
    if second and second != "00":
        words += ("零" if second[0] == "0" else "") + _whole(second) + "秒"
    return words


def _hour(hour: str) -> str:
    return "两" if int(hour) == 2 else _whole(hour)


def _time(match: re.Match[str]) -> str | None:
    around = before(match, 6)
    if match["s"] is None and match["half"] is None:
        if _SCORE_BEFORE.search(around) or _RATIO_BEFORE.search(around):
            return None
        if SCORE_AFTER.match(match.string, match.end()):
            return None
    return _clock(match["h"], match["m"], match["s"], match["half"])


def _lasting(match: re.Match[str]) -> str | None:
    """Read the duration in 用时2:03:59; of two numbers the first are minutes."""
    if not _LASTING_BEFORE.search(before(match, 7)):
        return None
    hours, minutes, seconds = match["h"], match["m"], match["s"]
    if seconds is None:
        hours, minutes, seconds = "", hours, minutes
    words = f"{_hour(hours)}小时" if hours.strip("0") else ""
    words += f"{_sixtieths(minutes, inside=bool(words))}分" if words or minutes.strip("0") else ""
    return words + (f"{_sixtieths(seconds, inside=bool(words))}秒" if seconds != "00" or not words else "")


def _sixtieths(number: str, *, inside: bool) -> str:
    return ("零" if inside and number[0] == "0" and len(number) == 2 and number != "00" else "") + _whole(number)


def _half_day(match: re.Match[str]) -> str | None:
    if not 1 <= int(match["h"]) <= 12:
        return None
    return ("上午" if match["half"] in "aA" else "下午") + _hour(match["h"]) + "点"


def _ratio(match: re.Match[str]) -> str:
    return "比".join(decimal(part) for part in re.split(r"\s?:\s?", match[0]))


_OCCASIONS = "劳动节|假期|放假|小?长假|国庆|晚会|事变|事件|惨案|大?地震|大促|购物节|运动|起义|讲话|期间"
_HALF = r"(?:\s?(?P<half>[aApP])\.?[mM](?![A-Za-z])\.?)"

RULES: tuple[MandarinRule, ...] = (
    rule(DIGIT, rf"(?<![vV.\d])(?P<y>{_YEAR})(?P<sep>[-/.])(?P<m>{_MONTH})(?P=sep)(?P<d>{_DAY})(?![\d.]\d|\d)", _date),
    rule(DIGIT, rf"(?P<m>{_MONTH})/(?P<d>{_DAY})/(?P<y>{_YEAR})(?![\d/])", _date),
    rule("T", r"(?<=\d)T(?=\d\d:\d\d)", " "),
    rule("Z", r"(?<=:\d\d)Z\b", ""),
    rule(DIGIT, rf"(?P<a>{_YEAR})年?\s?[-~]\s?(?P<b>{_YEAR}|\d\d(?=[赛学财年]))(?![\d\-/.])", _years),
    rule(DIGIT, rf"(?P<a>{_YEAR})/(?P<b>\d\d)(?=赛季|学年|财年|年度)", _years),
    rule(DIGIT, rf"(?P<y>{_YEAR})[-/](?P<m>0[1-9]|1[0-2])(?![\d\-/.])", _year_month),
    rule(DIGIT, rf"{_YEAR}(?=\s?(?:年|Q[1-4]|届|新?款|版(?!本)|高考|春晚|世界杯|奥运|欧洲杯|亚运))", _year),
    rule(DIGIT, r"(?:1[0-9]|20)[0-9]0[sS](?![A-Za-z])", lambda match: spell_digits(match[0][:4]) + "年代"),
    rule(DIGIT, rf"\d{{1,2}}[.·]\d{{1,2}}(?={_OCCASIONS})", _occasion),
    rule(DIGIT, r"[0-9][05](?=后(?![面来天边方卫备期续半悔退勤院台]))", _generation),
    rule(DIGIT, r"\d{3}(?=年)", _ancient_year),
    rule(DIGIT, r"\d{2}(?=年)", _two_digit_year),
    rule(DIGIT, r"0[1-9](?=[月日号时]|点)", lambda match: _whole(match[0])),
    rule(DIGIT, r"(?P<h>\d{1,3}):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d))?(?![\d:])", _lasting),
    rule(DIGIT, rf"(?P<h>\d{{1,2}}):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d))?(?!\d|:){_HALF}?", _time),
    rule(DIGIT, rf"(?P<h>\d{{1,2}}){_HALF}", _half_day),
    rule(DIGIT, r"\d{1,6}(?:\.\d{1,4})?(?:\s?:\s?\d{1,6}(?:\.\d{1,4})?){1,5}(?![\d:])", _ratio),
    rule("-~", r"(?:(?<=\d[/.-]\d)|(?<=\d[/.-]\d\d))\s?[-~]\s?(?=\d{4}[/.-]\d)", "到"),
    rule("-~", r"(?<=:\d\d)\s?[-~]\s?(?=\d{1,2}:\d\d|[次翌]日|凌晨|[早晚]|[上下]午)", "到"),
)
"""Rules in the order in which they are tried."""
