"""Mathematical signs and other symbols that are read; symbols without a spoken meaning are left alone."""

from __future__ import annotations

import re

from yuliu.text.zh.normalise.rule import NUMBER, MandarinRule, in_equation, rule
from yuliu.text.zh.numbers import cardinal, decimal, spell_digits

_SUPER = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SUB = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_CIRCLED = {
    **{chr(0x2460 + n): n + 1 for n in range(20)},
    **{chr(0x2474 + n): n + 1 for n in range(20)},
    **{chr(0x2488 + n): n + 1 for n in range(20)},
    **{chr(0x2776 + n): n + 1 for n in range(10)},
    **{chr(0x2160 + n): n + 1 for n in range(12)},
    **{chr(0x2170 + n): n + 1 for n in range(12)},
    **{chr(0x3220 + n): n + 1 for n in range(10)},
}
_PARTS = {
    "½": "二分之一",
    "⅓": "三分之一",
    "⅔": "三分之二",
    "¼": "四分之一",
    "¾": "四分之三",
    "⅕": "五分之一",
    "⅛": "八分之一",
}
_BETWEEN = {
    "×": "乘",
    "÷": "除以",
    "=": "等于",
    "≠": "不等于",
    "≈": "约等于",
    "≤": "小于等于",
    "≥": "大于等于",
    "⩽": "小于等于",
    "⩾": "大于等于",
    "≦": "小于等于",
    "≧": "大于等于",
    "±": "正负",
    "∞": "无穷大",
    "√": "根号",
    "π": "派",
    "∑": "求和",
    "∈": "属于",
    "∵": "因为",
    "∴": "所以",
    "∩": "交",
    "∪": "并",
    "∠": "角",
    "△": "三角形",
    "⊥": "垂直于",
    "∥": "平行于",
    "‰": "千分号",
    "℃": "摄氏度",
    "㎡": "平方米",
}
_RANGE_AFTER = "元年月日号点分时楼层室章节页级岁米天度斤克万亿千百℃%$"


def _power(exponent: str) -> str:
    if exponent == "2":
        return "的平方"
    if exponent == "3":
        return "的立方"
    return f"的{decimal(exponent)}次方"


def _minus(match: re.Match[str]) -> str | None:
    return "减" if in_equation(match) else None


def _scientific(match: re.Match[str]) -> str:
    return f"{decimal(match['a'])}乘十的{decimal(match['n'])}次方"


RULES: tuple[MandarinRule, ...] = (
    rule("0123456789", rf"(?<![A-Za-z\d.])(?P<a>{NUMBER})[eE](?P<n>[-+]?\d{{1,3}})(?![\dA-Za-z])", _scientific),
    rule("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]{1,6}", lambda match: _superscript(match)),
    rule("₀₁₂₃₄₅₆₇₈₉", r"[₀₁₂₃₄₅₆₇₈₉]{1,6}", lambda match: spell_digits(match[0].translate(_SUB))),
    rule("^", r"(?<=[\dA-Za-z)）])\^\s?[({]?(-?\d{1,4}|[a-z])[)}]?", lambda match: _caret(match)),
    rule("".join(_CIRCLED), "[" + "".join(_CIRCLED) + "]", lambda match: cardinal(str(_CIRCLED[match[0]]))),
    rule("".join(_PARTS), "[" + "".join(_PARTS) + "]", lambda match: _PARTS[match[0]]),
    rule("".join(_BETWEEN), "[" + "".join(_BETWEEN) + "]", lambda match: _BETWEEN[match[0]]),
    rule("≥>", r">=", "大于等于"),
    rule("<", r"<=", "小于等于"),
    rule(">", r">(?=\s?[\dA-Za-z\-一-鿿])", "大于"),
    rule("<", r"<(?=\s?[\dA-Za-z\-一-鿿])", "小于"),
    rule("+", r"(?<=[\dA-Za-z)）²³⁰-⁹])\s?\+(?=\s?[\dA-Za-z(（π√])|(?<=[A-Za-z])\+|(?<=[A-Za-z]\+)\+", "加"),
    rule("+", r"(?<=[万亿千百])\+(?=[人个家款次名条位])", "多"),
    rule("+", r"(?<=[一-鿿])\+(?=[\dA-Za-z一-鿿])|(?<=[万亿千百岁])\+", "加"),
    rule("+", r"\+(?=\d)", "正"),
    rule("*xX", r"(?<=[\d)）²³a-zA-Z\s])[*](?=\s?[\d(（a-zA-Z])|(?<=\d)[xX](?=\d)", "乘"),
    rule("-", r"(?<=[\dA-Za-z)）²³])\s?-(?=\s?[\dA-Za-z(（])", _minus),
    rule("-", r"(?<![\dA-Za-z\-歼轰直运教舟征娥宫问风旗龙号型])-(?=\d)(?<![" + _RANGE_AFTER + r"]-)", "负"),
    rule("-~", rf"(?<=[{_RANGE_AFTER}])\s?[-~]\s?(?=[\d$¥])", "到"),
    rule("-~", r"(?<=[周期拜][一二三四五六日天])[-~](?=[周星礼])", "到"),
    rule("-~", r"(?<=[一二三四五六七八九十])[-~](?=[一二三四五六七八九十])", "到"),
    rule("~", r"~(?=\d)", "约"),
    rule("/", r"(?<=\d)/(?=\d)", "斜杠"),
    rule("@", r"@(?=\w)", "艾特"),
    rule("#", r"(?<=[CF])#", "井"),
    rule("&", r"&(?=\s?[\w一-鿿])", "和"),
    rule(
        "0123456789",
        r"\d{1,2}(?=[vV][sS]?\d{1,2}(?!\d|\s?[aA](?![a-zA-Z])))",
        lambda match: cardinal(match[0].lstrip("0") or "0"),
    ),
)
"""Rules in the order in which they are tried."""


def _superscript(match: re.Match[str]) -> str | None:
    exponent = match[0].translate(_SUPER)
    return _power(exponent) if re.fullmatch(r"-?\d+", exponent) else None


def _caret(match: re.Match[str]) -> str:
    exponent = match[1]
    return f"的{exponent}次方" if exponent.isalpha() else _power(exponent)
