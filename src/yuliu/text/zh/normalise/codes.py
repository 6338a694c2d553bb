"""Numbers that name rather than count: telephones, documents, rooms, vehicles, models, addresses."""

from __future__ import annotations

import re

from yuliu.text.zh.normalise.rule import DIGIT, LATIN, UPPER, MandarinRule, after, before, in_equation, rule
from yuliu.text.zh.numbers import cardinal, spell_digits

_NAMED_BY = re.compile(
    r"(?:手机号?|电话|号码|账号|帐号|账户|卡号|单号|编号|编码|代码|密码|验证码|校验码|激活码|邀请码|QQ号?|qq号?|群号?|ID号?|id|"
    r"微信号?|尾号|邮编|学号|工号|证号|口令|序列号|取件码|会议号|会员号|分机号?|(?<=\d)转|提取码|识别码|房号|房间号?|门牌号?|车牌号?|热线|专线|拨打?|致电|短信|"
    r"打|客服|流水号|批号|型号|航班号?|车次)(?:是|为|叫|至|到|给|[:：\s]){0,2}$"
)
_SERVICE_LINES = "10086 12306 12315 12348 12321 12329 12366 12333 12580 11185 11183"
_SERVICE = frozenset(_SERVICE_LINES.split())
_NAMES_AFTER = re.compile(
    r"室|号?房|教室|包厢|国道|省道|[次路]?(?:公交|列车|航班|高铁)|路(?![人程口上])|事件|事变|大促|医院|中学|错误|页面|高校|"
    r"工程|计划|工作制|购物节|飞机|客机|地铁|信箱|客服|服务热线|热线|电话|报警|急救|火警|查询|投诉|大学|院校|晚会"
)
_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼使领港澳"
_AIRLINE_CODES = (
    "CA MU CZ HU FM MF ZH SC HO GS JD TV PN KN EU UQ DZ BK NS KY QW AQ GJ CX KA NX BR CI UA AA DL BA LH AF NH JL KE OZ "
    "SQ EK QR 3U 8L 9C"
)
_AIRLINES = frozenset(_AIRLINE_CODES.split())


def _telephone(match: re.Match[str]) -> str:
    return spell_digits(re.sub(r"\D", "", match[0]), one="幺")


def _international(match: re.Match[str]) -> str:
    return "加" + spell_digits(match[1], one="幺") + spell_digits(re.sub(r"\D", "", match[2]), one="幺")


def _document(match: re.Match[str]) -> str:
    digits, check = match[1], match[2]
    return spell_digits(digits, one="幺") + (check.upper() if check in "xX" else spell_digits(check, one="幺"))


def _ip(match: re.Match[str]) -> str | None:
    parts = match["ip"].split(".")
    if any(int(part) > 255 for part in parts):
        return None
    words = "点".join(spell_digits(part, one="幺") for part in parts)
    words += f"斜杠{cardinal(match['net'])}" if match["net"] else ""
    return words + (f"冒号{spell_digits(match['port'], one='幺')}" if match["port"] else "")


def _named(match: re.Match[str]) -> str | None:
    digits = match[0]
    if len(digits) >= 3 and _NAMED_BY.search(before(match, 10)):
        return None if re.match(r"[元个人次米块万]", after(match, 1)) else spell_digits(digits, one="幺")
    if digits in _SERVICE and not re.match(r"[元个人次米块万]", after(match, 1)):
        return spell_digits(digits, one="幺")
    if re.match(r"955\d\d$", digits) and not re.match(r"[元个人次米块万]", after(match, 1)):
        return spell_digits(digits, one="幺")
    return None


def _named_groups(match: re.Match[str]) -> str | None:
    return _telephone(match) if _NAMED_BY.search(before(match, 10)) else None


def _before_name(match: re.Match[str]) -> str | None:
    digits = match[0]
    if digits.endswith("00") and len(digits) == 3 and not re.match(r"室|号?房", after(match, 2)):
        return None
    return spell_digits(digits, one="幺")


def _building(match: re.Match[str]) -> str:
    return spell_digits(match[0], one="幺")


def _address(match: re.Match[str]) -> str | None:
    """Read building, unit and room: 3-2-501."""
    if in_equation(match):
        return None
    parts = match[0].split("-")
    return "杠".join(spell_digits(part, one="幺") if len(part) > 2 else cardinal(part) for part in parts)


def _vehicle(match: re.Match[str]) -> str:
    letters, digits, tail = match["letters"], match["digits"], match["tail"] or ""
    return letters + spell_digits(digits, one="幺") + tail


def _flight(match: re.Match[str]) -> str | None:
    named = "航班" in before(match, 4) or re.match(r"[次航]", after(match, 1))
    return _vehicle(match) if named or match["letters"] in _AIRLINES else None


def _plate(match: re.Match[str]) -> str:
    return "".join(spell_digits(char, one="幺") if char.isdigit() else char for char in match[0] if char not in "·- ")


def _model(match: re.Match[str]) -> str | None:
    """Read digits that follow Latin letters: RTX4090, H264, i7-13700K, but iPhone 15, Top 100."""
    digits = match[0]
    if len(digits) <= 2 or (len(digits) <= 4 and digits.endswith("00") and digits[0] != "0"):
        return None
    return spell_digits(digits)


def _year_name(match: re.Match[str]) -> str:
    return spell_digits(match[0])


def _hidden(match: re.Match[str]) -> str:
    """Read 138****1234, including the number of hidden digits."""
    return "".join("星" if char == "*" else spell_digits(char, one="幺") for char in match[0])


def _roman(match: re.Match[str]) -> str | None:
    value = roman(match[0])
    return cardinal(str(value)) if value else None


_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50}


def roman(numeral: str) -> int:
    """Return the value of a Roman numeral up to 89; 0 for any other text."""
    values = [_ROMAN[letter] for letter in numeral]
    total = sum(
        -value if value < following else value for value, following in zip(values, [*values[1:], 0], strict=True)
    )
    return total if _write_roman(total) == numeral else 0


def _write_roman(value: int) -> str:
    text = ""
    for unit, letters in ((50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        text += letters * (value // unit)
        value %= unit
    return text


_WEB_SIGNS = {
    ".": "点",
    "@": "艾特",
    "/": "斜杠",
    ":": "冒号",
    "-": "杠",
    "_": "下划线",
    "?": "问号",
    "=": "等于",
    "&": "和",
    "#": "井号",
    "%": "百分号",
    "~": "波浪号",
    "+": "加",
}


def _web(match: re.Match[str]) -> str:
    address = match["address"].rstrip("/")
    return "".join(_WEB_SIGNS.get(char, spell_digits(char) if char.isdigit() else char) for char in address)


def _number_of(match: re.Match[str]) -> str:
    return "第" + cardinal(match[1])


_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9\-]{0,61}[A-Za-z0-9])?"
_TLD = r"(?i:com|cn|net|org|edu|gov|io|ai|co|me|tv|cc|top|info|dev|app|xyz|hk|tw|jp|uk|us|de|fr)(?![A-Za-z0-9])"
_ENDING = (
    r"(?i:csv|txt|pdf|docx?|xlsx?|pptx?|zip|rar|tar|gz|mp[34]|wav|flac|mkv|avi|jpe?g|png|gif|json|xml|html?|md|py|js|exe|log)"
    r"(?![A-Za-z0-9])"
)
"""Extensions of file names."""
_HOST = rf"(?:{_LABEL}\.){{1,6}}{_TLD}"
_PATH = r"(?::\d{2,5})?(?:/[A-Za-z0-9\-._~%/?=&#+]{0,200})?(?<![.?])"

RULES: tuple[MandarinRule, ...] = (
    rule(LATIN + DIGIT, rf"(?P<address>[A-Za-z0-9._%+\-]{{1,64}}@{_HOST})", _web, spelled=True),
    rule("hHfF", rf"(?:https?|ftp)://(?P<address>(?:{_LABEL}\.){{0,6}}{_LABEL}{_PATH})", _web, spelled=True),
    rule(LATIN + DIGIT, rf"(?<![A-Za-z0-9@.\-])(?P<address>{_HOST}{_PATH})", _web, spelled=True),
    rule(DIGIT, r"\d{17,}(?![xX\d])", lambda match: spell_digits(match[0], one="幺")),
    rule(DIGIT, r"(\d{17})([\dXx])(?![\dA-Za-z])", _document),
    rule(DIGIT, r"\d{17,}", lambda match: spell_digits(match[0], one="幺")),
    rule(DIGIT, r"1[3-9]\d([- ]?)\d{4}\1\d{4}(?!\d)", _telephone),
    rule("+(", r"\(?\+(\d{1,3})\)?[- ]?(\d{2,4}(?:[- ]?\d{3,4}){1,3})(?!\d)", _international),
    rule(DIGIT, r"0\d{2,3}[- ]\d{3,4}[- ]?\d{4}(?:-\d{1,6})?(?!\d)", _telephone),
    rule("(（", r"[(（]0\d{2,3}[)）]\s?\d{3,4}[- ]?\d{4}(?!\d)", _telephone),
    rule(DIGIT, r"[48]00[- ]\d{3}[- ]?\d{4}(?!\d)|[48]00[- ]\d{4}[- ]\d{3}(?!\d)|[48]00\d{7}(?!\d)", _telephone),
    rule(
        DIGIT,
        r"(?P<ip>\d{1,3}(?:\.\d{1,3}){3})(?![\d.]\d)(?:/(?P<net>\d{1,2})(?!\d))?(?::(?P<port>\d{2,5})(?!\d))?",
        _ip,
    ),
    rule(DIGIT, r"\d{3,4}(?:[ -]\d{3,4}){1,5}(?![\d.,])", _named_groups),
    rule(DIGIT, r"\d{3,16}(?![\d.,]\d|\d)", _named),
    rule(DIGIT, rf"\d{{3,5}}(?=\s?(?:{_NAMES_AFTER.pattern}))", _before_name),
    rule(
        DIGIT,
        r"(?<=单元|楼栋)\d{3,4}(?!\d)|(?<=[栋座幢])\d{3,4}(?!\d)|(?<=号楼)\d{3,4}(?!\d)|(?<=\d楼)\d{3,4}(?![\d个元米人层])|(?<=波音|空客)\d{3}(?!\d)",
        _building,
    ),
    rule(
        "GDCZTKYSL",
        r"(?<![A-Za-z])(?P<letters>[GDCZTKYSL])(?P<digits>\d{1,4})(?P<tail>)(?=次|列车|高铁|动车)",
        _vehicle,
    ),
    rule(
        UPPER + "3589",
        r"(?<![A-Za-z0-9])(?P<letters>[A-Z]{2}|\d[A-Z]|[A-Z]\d)(?P<digits>\d{3,4})(?P<tail>)(?![A-Za-z0-9])",
        _flight,
    ),
    rule(
        _PROVINCES,
        rf"[{_PROVINCES}][A-Z][·\- ]?(?=[A-Z0-9]{{0,6}}\d)"
        r"(?:[A-Z0-9]{5,6}|[A-Z0-9]{4}(?=[警学挂领使]))(?![A-Za-z0-9])",
        _plate,
    ),
    rule("N", r"(?<![A-Za-z])N[oO]\.?\s?(\d{1,4})(?![\d.])", _number_of),
    rule("№", r"№\s?(\d{1,6})", _number_of),
    rule(
        "IVXL",
        r"(?<![A-Za-z])(?!X{1,4}L号)[IVXL]{2,6}(?![A-Za-z0-9])(?=[章节部卷期级型类世代度集号等区段阶]|\b)",
        _roman,
    ),
    rule("IVX", r"(?<=第)[IVX](?![A-Za-z0-9])|(?<![A-Za-z0-9])I(?=[期级类]\w)", _roman),
    rule(
        DIGIT,
        r"(?<=[A-Za-z])(?<!\d[xX])\d{1,16}(?![\d.]\d|\d)|(?:(?<=[A-Za-z]-)|(?<=[A-Za-z]\d-)|(?<=_)|(?<=[A-Z]\.))\d{3,8}(?!\d)",
        _model,
    ),
    rule(DIGIT, r"(?<=[A-Za-z] )(?:19|20)\d\d(?![\d.,年])", _year_name),
    rule(DIGIT, r"\d{3}\*{2,8}\d{2,4}(?!\d)", _hidden),
    rule(DIGIT, r"(?<=[A-Z] )\d{3,5}(?![\d.,]\d|\d)(?!\s?[一-鿿])", _model),
    rule(DIGIT, r"\d{3,4}(?=[pPiI](?![A-Za-z]))", lambda match: spell_digits(match[0])),
    rule(DIGIT, r"\d{1,2}·\d{1,2}(?!\d)", lambda match: spell_digits(match[0].replace("·", ""))),
    rule(".", r"(?<=[A-Za-z])\.(?=\d)|(?<=[A-Za-z]{2})\.(?=[A-Za-z]{2,4}(?![A-Za-z.]))", "点"),
    rule(".", rf"(?<=\d)\.(?={_ENDING})", "点"),
    rule("_", r"(?<=[A-Za-z\d])_(?=[A-Za-z\d])", "下划线"),
    rule(DIGIT, r"(?<![A-Za-z\d])\d{1,3}(?:-\d{1,4}){2,5}(?![\d\-])|\d{1,2}-\d{3,4}(?=室|号|房)", _address),
)
"""Rules in the order in which they are tried."""
