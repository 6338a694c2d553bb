"""Unit symbols and their Mandarin names."""

from __future__ import annotations

import re

UNITS: dict[str, str] = {
    # length
    "km": "千米",
    "m": "米",
    "dm": "分米",
    "cm": "厘米",
    "mm": "毫米",
    "μm": "微米",
    "um": "微米",
    "nm": "纳米",
    "ft": "英尺",
    "in": "英寸",
    "inch": "英寸",
    "㎞": "千米",
    "㎝": "厘米",
    "㎜": "毫米",
    "㎚": "纳米",
    # area and volume
    "m²": "平方米",
    "m2": "平方米",
    "m^2": "平方米",
    "㎡": "平方米",
    "km²": "平方千米",
    "km2": "平方千米",
    "km^2": "平方千米",
    "㎢": "平方千米",
    "cm²": "平方厘米",
    "cm2": "平方厘米",
    "mm²": "平方毫米",
    "mm2": "平方毫米",
    "m³": "立方米",
    "m3": "立方米",
    "m^3": "立方米",
    "㎥": "立方米",
    "cm³": "立方厘米",
    "cm3": "立方厘米",
    "dm³": "立方分米",
    "ha": "公顷",
    "hm²": "公顷",
    "hm2": "公顷",
    "L": "升",
    "l": "升",
    "ml": "毫升",
    "mL": "毫升",
    "ML": "毫升",
    "μL": "微升",
    "cc": "毫升",
    "㏄": "毫升",
    "㎖": "毫升",
    # mass
    "kg": "千克",
    "Kg": "千克",
    "KG": "千克",
    "㎏": "千克",
    "g": "克",
    "mg": "毫克",
    "㎎": "毫克",
    "μg": "微克",
    "ug": "微克",
    "t": "吨",
    "lb": "磅",
    "oz": "盎司",
    # time
    "h": "小时",
    "hr": "小时",
    "min": "分钟",
    "s": "秒",
    "sec": "秒",
    "ms": "毫秒",
    "μs": "微秒",
    "us": "微秒",
    "ns": "纳秒",
    # electricity, energy, waves
    "V": "伏",
    "v": "伏",
    "kV": "千伏",
    "KV": "千伏",
    "mV": "毫伏",
    "mA": "毫安",
    "Ah": "安时",
    "mAh": "毫安时",
    "mah": "毫安时",
    "MAH": "毫安时",
    "W": "瓦",
    "w": "瓦",
    "kW": "千瓦",
    "KW": "千瓦",
    "kw": "千瓦",
    "MW": "兆瓦",
    "GW": "吉瓦",
    "kWh": "千瓦时",
    "KWh": "千瓦时",
    "KWH": "千瓦时",
    "kwh": "千瓦时",
    "Wh": "瓦时",
    "Ω": "欧姆",
    "kΩ": "千欧",
    "Hz": "赫兹",
    "HZ": "赫兹",
    "hz": "赫兹",
    "kHz": "千赫兹",
    "KHz": "千赫兹",
    "khz": "千赫兹",
    "MHz": "兆赫兹",
    "GHz": "吉赫兹",
    "THz": "太赫兹",
    "dB": "分贝",
    "db": "分贝",
    "DB": "分贝",
    "dBm": "分贝毫瓦",
    "J": "焦",
    "kJ": "千焦",
    "KJ": "千焦",
    "cal": "卡",
    "kcal": "千卡",
    "Kcal": "千卡",
    "N": "牛",
    "Pa": "帕",
    "hPa": "百帕",
    "kPa": "千帕",
    "KPa": "千帕",
    "MPa": "兆帕",
    "mmHg": "毫米汞柱",
    "mol": "摩尔",
    "lm": "流明",
    "lx": "勒克斯",
    "hp": "马力",
    # data and screens
    "bit": "比特",
    "KB": "千字节",
    "kB": "千字节",
    "MB": "兆字节",
    "GB": "吉字节",
    "TB": "太字节",
    "PB": "拍字节",
    "KiB": "千字节",
    "MiB": "兆字节",
    "GiB": "吉字节",
    "bps": "比特每秒",
    "kbps": "千比特每秒",
    "Kbps": "千比特每秒",
    "Mbps": "兆比特每秒",
    "Gbps": "吉比特每秒",
    "Mb": "兆比特",
    "fps": "帧每秒",
    "FPS": "帧每秒",
    "px": "像素",
    "rpm": "转每分钟",
    "mph": "英里每小时",
    "kph": "千米每小时",
    "m/s²": "米每二次方秒",
    "m/s^2": "米每二次方秒",
    "m/s2": "米每二次方秒",
    "r/min": "转每分钟",
    # angles, temperature
    "°C": "摄氏度",
    "°c": "摄氏度",
    "℃": "摄氏度",
    "°F": "华氏度",
    "℉": "华氏度",
    "°": "度",
    "′": "分",
    "″": "秒",
    "Å": "埃",
    "%": "",
}
"""Names by unit symbol. ``%`` and ``A`` have rules of their own."""

DEGREES = frozenset({"°C", "°c", "℃"})
"""Symbols before which a minus is 零下."""

_COUNTED = (
    "年 月 日 天 周 晚 夜 人 位 次 个 只 件 台 套 平 平米 平方米 立方米 平方公里 公里 千米 米 斤 公斤 千克 克 吨 "
    "小时 分钟 分 秒 季度 季 期 瓶 盒 箱 袋 包 杯 份 张 本 条 辆 户 家 间 亩 升 毫升 千瓦时 度 桶 股 场 课时 节 班 "
    "学期 学年 半年 人次 吨公里 盎司"
)
_SYMBOLS = {symbol: name for symbol, name in UNITS.items() if name and symbol not in "°′″"}
PER: dict[str, str] = _SYMBOLS | {word: word for word in _COUNTED.split()}
"""Units after a slash: 元/㎡ is 元每平方米."""


def alternatives(symbols: dict[str, str]) -> str:
    """Return a pattern for any of the symbols, longest first."""
    return "|".join(re.escape(symbol) for symbol in sorted(symbols, key=len, reverse=True))


UNIT = rf"(?:{alternatives(UNITS)})(?![A-Za-z²³])"
"""Pattern of a unit symbol that is not the head of a longer word."""

PER_UNIT = (
    rf"(?<![^A-Za-zμ\d\s][A-Za-z])(?<!\A[A-Za-z])(?<![^\d]\s[A-Za-z])/\s?(?P<per>(?:{alternatives(PER)})(?![A-Za-z²³]))"
)
"""Pattern of a slash and its unit; not between two letters that stand alone (Y/N)."""
