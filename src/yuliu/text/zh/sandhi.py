"""Tone sandhi of 一, 不, third tones and doubled words.

The Baker corpus is annotated with spoken tones, so the voice expects them. The rules are those of any grammar of
Standard Chinese; feet for third tones follow the structure of words (Duanmu, The Phonology of Standard Chinese, 2007,
ch. 11).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from yuliu.text.zh.words import is_word

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMERALS = frozenset("零〇一二三四五六七八九十百千万亿点幺两")
_DIGITS = frozenset("零〇一二三四五六七八九幺")
_ORDINAL_BEFORE = re.compile(r"(?:第|星期|礼拜|周|初|统|唯|专|单|之|逐|其|归|月)$")
_ORDINAL_AFTER = re.compile(
    r"月(?!亮|球)|号|楼|层楼|年级|班|季度|中学|等奖|级|期工程|环|审|区|单元|栋|线城|诺千金|不二|无二"
)
_NUMERALS_BEFORE = _NUMERALS - {"两"}


def apply(text: str, tones: list[str], lengths: Sequence[int]) -> list[str]:
    """Return the spoken syllables of a clause.

    Args:
        text: Chinese characters only.
        tones: Dictionary syllable of each character, with tone digit.
        lengths: Lengths of the words of ``text``, in order.
    """
    spoken = list(tones)
    _double(text, spoken, lengths)
    for at, char in enumerate(text):
        if char == "一" and spoken[at][:-1] == "yi":
            spoken[at] = "yi" + _tone_of_one(text, spoken, at)
        elif char == "不" and spoken[at][:-1] == "bu":
            spoken[at] = "bu" + _tone_of_not(text, spoken, at)
    _third_tones(text, spoken, lengths)
    return spoken


def _tone(spoken: Sequence[str], at: int) -> str:
    return spoken[at][-1] if 0 <= at < len(spoken) else ""


def _double(text: str, spoken: list[str], lengths: Sequence[int]) -> None:
    """Make the second syllable of a doubled verb neutral: 看看, 想想, 看一看."""
    start = 0
    for length in lengths:
        if length in (2, 3) and text[start] == text[start + 1] and text[start] in _VERBS:
            _neutral(spoken, start + 1)
        start += length
    for at in range(1, len(text) - 1):
        same = text[at - 1] == text[at + 1] and text[at - 1] not in _NUMERALS
        if same and text[at] == "一" and text[max(0, at - 2)] not in "一第":
            spoken[at] = "yi5"
        elif same and text[at] == "不":
            spoken[at] = "bu5"


_VERBS = frozenset(
    "看想听说试走坐等笑聊谈问写读找帮跑跳玩休练查猜尝闻摸擦洗刷扫理动转逛学算数讲教管劝催改补修缝切炒煮泡晒吹"
    "歇躺站蹲爬游唱画念背考评比量称谢拜瞧瞅望盯品"
)


def _neutral(spoken: list[str], at: int) -> None:
    if spoken[at][-1] == "3" and _tone(spoken, at - 1) == "3":
        spoken[at - 1] = spoken[at - 1][:-1] + "2"
    spoken[at] = spoken[at][:-1] + "5"


def _tone_of_one(text: str, spoken: Sequence[str], at: int) -> str:
    if spoken[at] == "yi5":
        return "5"
    if _is_plain_one(text[max(0, at - 3) : at], text[at + 1 : at + 4]):
        return "1"
    following = _tone(spoken, at + 1)
    return "2" if following == "4" or (following == "5" and text[at + 1] == "个") else "4"


def _is_plain_one(left: str, right: str) -> bool:
    """Return whether 一 keeps its first tone: at the end, in numerals and dates, as an ordinal, in words like 统一."""
    if not right or right[0] in _DIGITS or (right[0] == "点" and right[1:2] in _DIGITS and right[1:]):
        return True
    if left[-1:] in _NUMERALS_BEFORE and left and right[0] != "刻":
        return True
    return bool(_ORDINAL_BEFORE.search(left) or _ORDINAL_AFTER.match(right))


def _tone_of_not(text: str, spoken: Sequence[str], at: int) -> str:
    if spoken[at] == "bu5":
        return "5"
    return "2" if _tone(spoken, at + 1) == "4" else "4"


def _third_tones(text: str, spoken: list[str], lengths: Sequence[int]) -> None:
    """Apply third-tone sandhi within the feet of each word first, then from foot to foot."""
    feet = _feet(text, lengths)
    start = 0
    for foot in feet:
        for at in range(start, start + foot - 1):
            _raise(spoken, at)
        start += foot
    start = 0
    for foot in feet[:-1]:
        start += foot
        _raise(spoken, start - 1)


def _raise(spoken: list[str], at: int) -> None:
    if _tone(spoken, at) == "3" and _tone(spoken, at + 1) == "3":
        spoken[at] = spoken[at][:-1] + "2"


def _feet(text: str, lengths: Sequence[int]) -> list[int]:
    """Return the sizes of the feet: halves of words, and single characters in pairs."""
    feet: list[int] = []
    loose = 0
    start = 0
    for length in lengths:
        if length == 1:
            loose += 1
        else:
            feet += _loose_feet(loose) + _word_feet(text[start : start + length])
            loose = 0
        start += length
    return feet + _loose_feet(loose)


def _loose_feet(count: int) -> list[int]:
    return [2] * (count // 2) + [1] * (count % 2)


def _word_feet(word: str) -> list[int]:
    if len(word) <= 2:
        return [len(word)]
    if len(word) == 3:
        return [1, 2] if is_word(word[1:]) and not is_word(word[:2]) else [2, 1]
    return [2, *_word_feet(word[2:])]
