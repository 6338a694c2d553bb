"""Words of a run of Chinese characters, from rjieba (MIT), with corrected numerals and unknown names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import rjieba

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMERAL = re.compile(
    r"(?:[零〇一二三四五六七八九十百千万亿两幺]|点(?=[零〇一二三四五六七八九幺])){3,}"
    r"(?:年(?!级|轻)|月(?!亮)|日(?!本)|号|岁|时(?![间候])|分(?![钟之析数])|秒)?"
)
_NUMERAL_CHARACTERS = frozenset("零〇一二三四五六七八九十百千万亿两幺点")
_MAGNITUDES = frozenset("十百千万亿")
_FUNCTION = frozenset(
    "的了着过地得是在有和与及或而且但也都就还又再才只很太更最真好不没别要会能可想去来到从向往对把被让给使用由于以为因"
    "所这那哪每各某此其他她它我你您咱们谁什么怎几多少两一二三四五六七八九十百千万亿零个只本条张件位名次年月日天号点分"
    "上下里外前后中内间左右大小高低长短吗呢吧啊呀哦嘛啦说看听做吃喝买卖走跑打开关叫问写读想知请帮送拿放找等住坐站"
    "书人家水车门手头心事话路钱国城山树花鸟鱼猫狗茶酒饭菜肉"
)


_SUFFIXES = frozenset("化性者率型式感们")
_NAME_PREFIXES = frozenset("小老阿")


_PARTICLES = frozenset("的了着吗呢吧啊呀哇嘛啦们")
_SHORT = 2
"""Maximum length of a word that a single character before it joins."""


@dataclass(frozen=True, slots=True)
class Word:
    """Word and its part of speech in the tag set of ICTCLAS (n noun, v verb, a adjective, d adverb ...)."""

    text: str
    tag: str


def segment(text: str) -> list[Word]:
    """Cut a run of Chinese characters into words; joined, they are ``text``."""
    out: list[Word] = []
    done = 0
    for numeral in _NUMERAL.finditer(text):
        out += _known(text[done : numeral.start()])
        out += [Word(group, "m") for group in _numeral_groups(numeral[0])]
        done = numeral.end()
    return out + _known(text[done:])


def prosodic(words: Sequence[Word]) -> list[int]:
    """Return the lengths of the prosodic words: particles lean on the word before, a single character on a short word
    behind."""
    leaning: list[int] = []
    for word in words:
        if leaning and word.text in _PARTICLES:
            leaning[-1] += 1
        else:
            leaning.append(len(word.text))
    out: list[int] = []
    open_head = False
    for length in leaning:
        if open_head and length <= _SHORT:
            out[-1] += length
            open_head = False
        else:
            out.append(length)
            open_head = length == 1
    return out


def is_word(text: str) -> bool:
    """Return whether the dictionary of the segmenter has ``text``."""
    return bool(rjieba.has_word(text))


def _known(text: str) -> list[Word]:
    """Cut by the dictionary alone; remaining single characters may be a name that the model recognises."""
    if not text:
        return []
    words = _with_affixes([Word(word, tag) for word, tag in rjieba.tag(text, False)])
    loose = sum(_is_loose(word) for word in words)
    return _with_names(text, words) if loose > 1 else words


def _with_affixes(words: list[Word]) -> list[Word]:
    """Join suffixes to words (正则化) and 小, 老, 阿 to the name after them (小明)."""
    out: list[Word] = []
    for word in words:
        last = out[-1] if out else None
        suffix = word.text in _SUFFIXES and last is not None and len(last.text) > 1
        named = last is not None and last.text in _NAME_PREFIXES and _is_loose(word)
        if last is not None and (suffix or named):
            out[-1] = Word(last.text + word.text, "n")
        else:
            out.append(word)
    return out


def _is_loose(word: Word) -> bool:
    return len(word.text) == 1 and word.text not in _FUNCTION


def _with_names(text: str, words: list[Word]) -> list[Word]:
    """Join two or three loose characters where the hidden Markov model of the segmenter joins exactly them."""
    joined = {(start, end) for _, start, end in _placed(rjieba.cut(text, True)) if end - start in (2, 3)}
    out: list[Word] = []
    start = index = 0
    while index < len(words):
        size = next((size for size in (3, 2) if _joins(words[index : index + size], start, size, joined)), 1)
        word = words[index] if size == 1 else Word("".join(each.text for each in words[index : index + size]), "nr")
        out.append(word)
        start += len(word.text)
        index += size
    return out


def _joins(words: list[Word], start: int, size: int, joined: set[tuple[int, int]]) -> bool:
    return len(words) == size and all(map(_is_loose, words)) and (start, start + size) in joined


def _placed(words: list[str]) -> list[tuple[str, int, int]]:
    placed, start = [], 0
    for word in words:
        placed.append((word, start, start + len(word)))
        start += len(word)
    return placed


def _numeral_groups(numeral: str) -> list[str]:
    """Group a numeral as it is spoken: after 万 and 亿, and digit strings as 3-4-4 or by fours."""
    if numeral[-1] not in _NUMERAL_CHARACTERS:
        *groups, last = _numeral_groups(numeral[:-1])
        return [*groups, last + numeral[-1]]
    if not _MAGNITUDES.isdisjoint(numeral):
        return re.findall(r"[^万亿点]{1,8}[万亿]{0,2}|[万亿]+|点.{1,6}|.", numeral)
    if "点" in numeral:
        return re.findall(r"[^点]+|点[^点]{1,6}", numeral)
    if len(numeral) == 11:
        return [numeral[:3], numeral[3:7], numeral[7:]]
    size = 3 if len(numeral) % 4 in (1, 2) and len(numeral) % 3 != 1 else 4
    return [numeral[at : at + size] for at in range(0, len(numeral), size)]
