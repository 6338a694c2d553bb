"""Numbers that count: money, percentages, measures, ranges, ordinals and bare numbers."""

from __future__ import annotations

import re
from decimal import Decimal

from yuliu.text.zh.normalise.dates import SCORE_AFTER
from yuliu.text.zh.normalise.rule import DIGIT, NUMBER, TO, MandarinRule, after, before, in_equation, rule
from yuliu.text.zh.normalise.units import DEGREES, PER, PER_UNIT, UNIT, UNITS, alternatives
from yuliu.text.zh.numbers import cardinal, count, decimal, spell_digits, takes_liang

_CURRENCIES = {
    "US$": "美元",
    "USD": "美元",
    "HK$": "港元",
    "HKD": "港元",
    "NT$": "新台币",
    "A$": "澳元",
    "C$": "加元",
    "S$": "新加坡元",
    "RMB": "元",
    "CNY": "元",
    "JPY": "日元",
    "EUR": "欧元",
    "GBP": "英镑",
    "CN¥": "元",
    "$": "美元",
    "¥": "元",
    "€": "欧元",
    "£": "英镑",
    "₩": "韩元",
    "₽": "卢布",
    "₹": "卢比",
    "฿": "泰铢",
}
_CURRENCY = alternatives(_CURRENCIES)
_MAGNITUDE = r"(?:\s?(?:百万|千万|百亿|千亿|万亿|[十百千万亿]|[kKmMbBwW](?![A-Za-z0-9])|million\b|billion\b))"
_MAGNITUDES = {"k": 10**3, "w": 10**4, "m": 10**6, "million": 10**6, "b": 10**9, "billion": 10**9}
_CURRENT = re.compile(r"电流|安培|额定|保险丝|空开|快充|充电|输出|输入|电源|插[座头]|[伏V]")
_ORDINAL = re.compile(r"第[\d、,和与及至到~\-\s第]{0,12}$")
_ORDINAL_AFTER = re.compile(r"楼|号|月|日|班|路|环|线|期|年级|单元|栋|座")
_MEASURE = (
    "[个只本斤年天台条张位名人次件块元岁周杯瓶碗盘句篇首部辆架艘座间米里吨克升遍趟回场种层页章节倍成日月号点分秒"
    "小公平万亿千百度]"
)


def _amount(number: str, magnitude: str | None) -> str:
    """Read an amount of money: 1.2万, or 1.5M as 一百五十万; final zeros as in 5.50 are not read."""
    words = (magnitude or "").strip()
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    if words.lower() in _MAGNITUDES:
        total = Decimal(number.replace(",", "")) * _MAGNITUDES[words.lower()]
        number, words = f"{total:f}".removesuffix(".0"), ""
        number = number.rstrip("0").rstrip(".") if "." in number else number
    return count(number, words or "元") + words


def _money(match: re.Match[str]) -> str:
    sign = "负" if match["sign"] else ""
    words = sign + _amount(match["a"], match["ma"])
    if match["b"]:
        words = words + "到" + _amount(match["b"], match["mb"])
    return words + _CURRENCIES[match["cur"]]


def _money_after(match: re.Match[str]) -> str:
    return _amount(match["a"], match["ma"]) + _CURRENCIES[match["cur"]]


def _percent(number: str, *, per: str = "百分之") -> str:
    sign = {"-": "负", "+": "正"}.get(number[0], "")
    number = number.lstrip("-+")
    return sign + per + ("百" if number == "100" and per == "百分之" else decimal(number))


def _percentage(match: re.Match[str]) -> str:
    return _percent(match["a"], per="千分之" if match[0].endswith("‰") else "百分之")


def _percentages(match: re.Match[str]) -> str:
    return f"{_percent(match['a'])}到{_percent(match['b'])}"


def _measured(number: str, unit: str, following: str = "") -> str:
    name = UNITS.get(unit, unit)
    if number[0] == "-":
        below = "零下" if unit in DEGREES else "负"
        return below + _measured(number[1:], unit, following)
    if unit in DEGREES or unit in "°′″":
        return decimal(number)
    return count(number, name or following)


def _measure(match: re.Match[str]) -> str | None:
    unit = match["unit"]
    if unit in ("m", "s", "v", "w", "V", "N", "J", "t", "h", "l", "L", "in") and not _stands_as_unit(match):
        return None
    return _measured(match["a"], unit) + UNITS[unit]


def _stands_as_unit(match: re.Match[str]) -> bool:
    following = after(match, 1)
    if match["unit"] in "NJ":
        return not following.isalnum() or bool(re.search(r"[力能功热]", before(match, 4) + after(match, 3)))
    return True


def _ampere(match: re.Match[str]) -> str | None:
    if not _CURRENT.search(before(match, 6) + after(match, 4)):
        return None
    return count(match["a"], "安") + "安"


def _ten_thousands(match: re.Match[str]) -> str:
    """Read W as watts, unless people or things are counted: 3W人, 5w粉丝."""
    watts = match[0].endswith("W") or re.search(r"[功率灯充电耗瓦]", before(match, 6) + after(match, 4))
    counted = re.match(r"[人粉块元用次阅播多名个条赞字+]", after(match, 1))
    return count(match["a"], "万") + ("瓦" if watts and not counted else "万")


def _pressure(match: re.Match[str]) -> str:
    return f"{cardinal(match['a'])}、{cardinal(match['b'])}毫米汞柱"


def _megabyte(match: re.Match[str]) -> str:
    return count(match["a"], "兆") + "兆"


def _measures(match: re.Match[str]) -> str | None:
    first, last, unit = match["a"], match["b"], match["ub"] or ""
    left = match["ua"] or ""
    words = _measured(first, left or unit, after(match, 3)) + UNITS.get(left, "")
    return f"{words}到{_measured(last, unit, after(match, 3))}{UNITS.get(unit, '')}"


def _range(match: re.Match[str]) -> str | None:
    """Read 3-5 before a measure word and 1~2 as ranges, but not 5-3=2, 2-1 (a score), or a model's name."""
    first, last, dash = match["a"], match["b"], match["dash"]
    following = after(match, 3)
    if in_equation(match) or re.match(r"\s?[-/]", following):
        return None
    if re.search(r"比分|比数|战绩|赛", before(match, 3)) or SCORE_AFTER.match(match.string, match.end()):
        return f"{decimal(first)}比{decimal(last)}"
    if dash == "-" and not re.match(_MEASURE, following) and _value(first) >= _value(last):
        return f"{decimal(first)}杠{decimal(last)}" if len(first + last) <= 4 else None
    if _ORDINAL.search(before(match, 14)) or _ORDINAL_AFTER.match(following):
        return f"{decimal(first)}到{decimal(last)}"
    return f"{count(first, following)}到{count(last, following)}"


def _value(number: str) -> float:
    return float(number.replace(",", ""))


def _about(match: re.Match[str]) -> str | None:
    """Read 2、3个 as 两三个."""
    first, last = match["a"], match["b"]
    if int(last) != int(first) + 1 or "第" in before(match, 2):
        return None
    ten = match["ten"] or ""
    first_word = "两" if first == "2" and takes_liang(ten or after(match, 2)) else cardinal(first)
    return first_word + cardinal(last)


def _compound(match: re.Match[str]) -> str:
    """Read 1米85 and 3块5: the rest digit by digit."""
    return count(match["a"], match["unit"]) + match["unit"] + spell_digits(match["rest"])


def _minutes(match: re.Match[str]) -> str:
    return f"{count(match['a'], '分钟')}分{cardinal(match['s'])}秒"


def _thousands(match: re.Match[str]) -> str:
    """Read 8k-12k, a range of numbers with a letter; w is 万."""
    first, last, letter = match["a"], match["b"], match["letter"]
    name = "万" if letter in "wW" else letter
    return f"{count(first, name)}{name}到{count(last, name)}{name}"


def _discount(match: re.Match[str]) -> str:
    return spell_digits(match[0])


def _and_more(match: re.Match[str]) -> str:
    if after(match, 2) in ("人群", "用户", "玩家"):  # an age, not a count
        return decimal(match["a"]) + "加"
    return decimal(match["a"]) + ("多" if re.match(_MEASURE + "|[家款项所座套]", after(match, 1)) else "加")


def _fraction(match: re.Match[str]) -> str | None:
    top, bottom = int(match["a"]), int(match["b"])
    if bottom == 0 or match["b"][0] == "0":
        return None
    if (top, bottom) == (24, 7) or (top > bottom and bottom > 12):
        return f"{cardinal(match['a'])}、{cardinal(match['b'])}"
    return f"{decimal(match['b'])}分之{decimal(match['a'])}{UNITS.get(match['unit'] or '', '')}"


def _mixed_fraction(match: re.Match[str]) -> str:
    return f"{decimal(match['whole'])}又{decimal(match['b'])}分之{decimal(match['a'])}"


def _version(match: re.Match[str]) -> str:
    return "点".join(cardinal(part) for part in match[0].split("."))


def _inches(match: re.Match[str]) -> str | None:
    """Read a quotation mark after a number as inches, unless it closes a quotation."""
    return None if before(match, 60).count('"') % 2 else count(match["a"], "英寸") + "英寸"


def _number(match: re.Match[str]) -> str:
    number = match[0]
    if _ORDINAL.search(before(match, 14)):
        return decimal(number)
    head = before(match, 2)
    if number == "2" and (head.endswith(("买", "送", "点", "周", "期", "星期", "礼拜")) or head in ("年级",)):
        return "两" if re.match(r"[万亿千个只瓶件斤]", after(match, 1)) else "二"
    return count(number, after(match, 3))


_PLACE = rf"(?P<a>{NUMBER})"

RULES: tuple[MandarinRule, ...] = (
    rule(
        "".join(sorted({currency[0] for currency in _CURRENCIES} | {"-"})),
        rf"(?P<sign>-)?(?P<cur>{_CURRENCY})\s?(?P<more>-)?(?P<a>{NUMBER})(?P<ma>{_MAGNITUDE})?"
        rf"(?:\s?[-~]\s?(?:{_CURRENCY})?(?P<b>{NUMBER})(?P<mb>{_MAGNITUDE})?)?(?:[美欧日港]元|英镑|元)?",
        _money,
    ),
    rule(
        DIGIT,
        rf"{_PLACE}(?P<ma>{_MAGNITUDE})?\s?(?P<cur>USD|RMB|CNY|HKD|EUR|JPY|GBP|[$€£¥])(?![A-Za-z\d])",
        _money_after,
    ),
    rule(DIGIT + "-+", rf"(?<![\dA-Za-z])(?P<a>[-+]?{NUMBER})\s?%?\s?[-~]\s?(?P<b>-?{NUMBER})\s?%", _percentages),
    rule(DIGIT, rf"(?<![A-Za-z])(?P<a>{NUMBER})\s?%?\s?[-~]\s?(?P<b>-?{NUMBER})\s?%", _percentages),
    rule(DIGIT, rf"(?P<a>{NUMBER})\s?[%‰]", _percentage),
    rule("-+", rf"(?<![\dA-Za-z])(?P<a>[-+]{NUMBER})\s?[%‰]", _percentage),
    rule(
        DIGIT + "-",
        rf"(?<![\dA-Za-z])(?P<a>-?{NUMBER})\s?(?P<ua>{UNIT})?\s?[-~]\s?(?P<b>-?{NUMBER})\s?(?P<ub>{UNIT})",
        _measures,
    ),
    rule(DIGIT, rf"(?<![A-Za-z]){_PLACE}[kKwW]?{TO}(?P<b>{NUMBER})(?P<letter>[kKwW])(?![A-Za-z\d])", _thousands),
    rule(DIGIT, rf"(?<![A-Za-z]){_PLACE}[wW](?![A-Za-z\d])", _ten_thousands),
    rule(DIGIT, rf"(?:(?<![A-Za-z])|(?<=\d[hms]))(?P<a>{NUMBER})\s?(?P<unit>{UNIT})", _measure),
    rule("-", rf"(?<![A-Za-z\d])(?P<a>-{NUMBER})\s?(?P<unit>{UNIT})", _measure),
    rule(DIGIT, r"(?P<a>\d{1,3})['′](?P<s>\d{1,2})(?:\"|″|'')", _minutes),
    rule(DIGIT, r"(?P<a>\d{2,3})/(?P<b>\d{2,3})\s?mmHg", _pressure),
    rule(DIGIT, rf"{_PLACE}A(?![A-Za-z])", _ampere),
    rule(DIGIT, rf"{_PLACE}M(?![A-Za-z\d])", _megabyte),
    rule(DIGIT, r"(?P<a>[1-9])、(?P<b>[2-9])(?P<ten>(?=十|百|千|万)|(?=" + _MEASURE + "))", _about),
    rule(DIGIT, r"(?P<a>\d{1,3})(?P<unit>[米块])(?P<rest>\d{1,2})(?![\d.毛角分厘元公%])", _compound),
    rule(DIGIT, r"\d{2}(?=折)", _discount),
    rule(DIGIT, rf"{_PLACE}\+(?![\dA-Za-z+])", _and_more),
    rule(DIGIT, r"(?P<whole>\d{1,4})\s?又\s?(?P<a>\d{1,4})/(?P<b>\d{1,4})(?![\d/])", _mixed_fraction),
    rule(DIGIT, rf"(?P<a>\d{{1,4}})/(?P<b>\d{{1,4}})(?![\d/])(?P<unit>{UNIT})?", _fraction),
    rule(DIGIT, rf"(?<![A-Za-z]){_PLACE}\s?(?P<dash>[-~])\s?(?P<b>{NUMBER})(?!\d)", _range),
    rule(DIGIT, r"\d{1,4}(?:\.\d{1,4}){2,5}(?!\d)", _version),
    rule(DIGIT, rf"{_PLACE}\"(?![\dA-Za-z])", _inches),
    rule(DIGIT, r"(?:996|985)(?![\d.,个人元次米年天块分度公万千])", lambda match: spell_digits(match[0])),
    rule(DIGIT, NUMBER, _number),
    rule(".", r"(?<![\w.])\.\d{1,12}(?![\d.])", lambda match: decimal("0" + match[0])),
    rule("/", PER_UNIT, lambda match: "每" + PER[match["per"]]),
)
"""Rules in the order in which they are tried."""
