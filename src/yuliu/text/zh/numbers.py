"""Numerals in Mandarin words: cardinals, digit strings, decimals, and the choice of 两 for 2.

All functions map text to text; digits are ASCII. They follow the usage described in GB/T 15835-2011 (writing of
numbers) and in grammars of modern Chinese.
"""

from __future__ import annotations

DIGITS = "零一二三四五六七八九"
"""Names of the digits 0 to 9."""

MAX_CARDINAL_DIGITS = 16
"""Maximum number of digits of a cardinal; longer strings are read digit by digit, since 一万亿亿 is not idiomatic."""

_MEASURES_OF_TWO = frozenset(
    "个只本斤年天台条张位名人次件块元岁周杯瓶碗盘句篇首部辆架艘座间米里吨克升毫厘秒页章节遍趟回顿场种类样项组"
    "对双套批群束朵棵株粒颗滴片根支枝把扇面幅份包盒箱袋桶罐万亿千倍成代家户口亩平立公英磅美欧日港卢光字行集轮"
    "局胜处道股阵门所边国地岸侧者小星盏匹头尾座声眼步拍圈副枚则桌碟勺壶筐篮车身封笔宗幢排列帧瓦伏安赫分千兆"
    "点晚夜餐毛角刀匙针剂届任餐节课字期度刻"
)
_NEVER_TWO_BEFORE = ("日", "地", "节", "分之", "期", "届", "任", "面体", "次方", "次元", "点几", "行列", "小节")
_TWO_EXCEPTIONS = ("日元", "地方", "地区", "节课", "分钟", "分钱", "分球", "期间", "面墙", "任丈")


def spell_digits(digits: str, *, one: str = "一") -> str:
    """Read digits one by one; ``one`` is 幺 in telephone, room and vehicle numbers."""
    return "".join(one if digit == "1" else DIGITS[int(digit)] for digit in digits)


def cardinal(digits: str) -> str:
    """Read a whole number: ``"2500"`` -> 两千五百.

    Numbers with a leading zero (``"007"``) and those beyond ``MAX_CARDINAL_DIGITS`` are read digit by digit.
    """
    if len(digits) > MAX_CARDINAL_DIGITS or (digits[0] == "0" and len(digits) > 1):
        return spell_digits(digits)
    value = int(digits)
    spoken = _below(value)
    if 10 <= _leading_group(value) < 20:
        spoken = spoken.removeprefix("一")
    return spoken


def decimal(number: str) -> str:
    """Read a number that may have a sign, thousands separators and decimals: ``"-1,234.5"``."""
    sign, number = ("负", number[1:]) if number[0] in "-−" else ("", number.removeprefix("+"))
    whole, _, fraction = number.replace(",", "").partition(".")
    spoken = cardinal(whole or "0")
    return sign + spoken + ("点" + spell_digits(fraction) if fraction else "")


def count(number: str, following: str) -> str:
    """Read ``number`` before ``following``: 2 is 两 before a measure word, 二 before 月, 楼, 号 and the like."""
    if number == "2" and takes_liang(following):
        return "两"
    return decimal(number)


def takes_liang(following: str) -> bool:
    """Return whether 2 is 两 when ``following`` comes next: 两个, 两千, but 二月, 二楼."""
    if following.startswith(_TWO_EXCEPTIONS):
        return True
    if following.startswith(_NEVER_TWO_BEFORE) or following[1:2] == "级":
        return False
    return following[:1] in _MEASURES_OF_TWO


def _below(value: int) -> str:
    """Read ``value`` below 10**16, with 一十 at its head."""
    for unit, name in ((10**8, "亿"), (10**4, "万")):
        if value >= unit:
            head, rest = divmod(value, unit)
            spoken = ("两" if head == 2 else _below(head)) + name
            return spoken + _rest(rest, unit)
    return _below_ten_thousand(value)


def _rest(rest: int, unit: int) -> str:
    if rest == 0:
        return ""
    spoken = _below(rest)
    if unit > 1000 <= rest:  # inside a number it is 一万二千, only at its head 两千
        spoken = "二" + spoken[1:] if spoken[0] == "两" and rest < 10_000 else spoken
    return ("零" if rest < unit // 10 else "") + spoken


def _below_ten_thousand(value: int) -> str:
    spoken = ""
    gap = False
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, value = divmod(value, unit)
        if digit:
            word = "两" if digit == 2 and unit == 1000 else DIGITS[digit]
            spoken += ("零" if gap and spoken else "") + word + name
            gap = False
        else:
            gap = True
    return spoken or "零"


def _leading_group(value: int) -> int:
    while value >= 10_000:
        value //= 10_000
    return value
