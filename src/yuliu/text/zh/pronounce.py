"""Readings of a clause of Chinese characters: dictionary, our own words, contexts, particles; then sandhi."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate
from types import MappingProxyType
from typing import TYPE_CHECKING

from yuliu.text.zh import sandhi
from yuliu.text.zh.words import Word, is_word, prosodic, segment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from yuliu.text.zh.lexicon import ZhLexicon

_NOTHING_GIVEN: Mapping[int, str] = MappingProxyType({})
_LEFT_WINDOW = 8
_IDIOM = 4
"""Minimum length of an idiom, whose reading in the dictionary is reliable."""
_PLAIN_ER_BEFORE = re.compile(
    r"(?:女|幼|婴|孤|少|健|宠|男|胎|患|育|托|产|生|血|侄|孙|弃|孩(?<!小孩)|妻|混|小|乳|早|娇|病|佳|生男育|鸿)$"
)
_PLAIN_ER_AFTER = re.compile(r"[子女童歌科媳时孙化郎戏茶皇]")


@dataclass(frozen=True, slots=True)
class Syllable:
    """Syllable of a clause."""

    start: int
    """Index of its character in the clause."""
    end: int
    """Index behind its last character: 花儿 is one syllable of two characters."""
    pinyin: str
    """Spoken syllable with tone digit: ``hua1``, ``huar1``."""
    mark: str
    """Mark behind it unless something else stands there: ``#0`` inside a prosodic word, ``#1`` at its end."""


@dataclass(frozen=True, slots=True)
class _Places:
    """State of the places in a clause while readings are assigned."""

    inside: set[int]
    """Places inside words of two or more characters."""
    settled: set[int]
    """Places with a final reading."""

    def admit(self, start: int, end: int) -> bool:
        """Return whether one of our words may stand there: long ones always, pairs where they cut no word nor idiom."""
        if end - start >= _IDIOM:
            return True
        free = self.settled.isdisjoint(range(start, end))
        return free and (end - start > 2 or _fits(start, end, self.inside))


def pronounce(text: str, lexicon: ZhLexicon, given: Mapping[int, str] = _NOTHING_GIVEN) -> list[Syllable]:
    """Read a clause that holds only characters of ``lexicon.characters``; roughly linear in its length.

    Args:
        text: Clause.
        lexicon: Readings of characters and words.
        given: Settled syllables by the place of their character; their neighbours take account of them.
    """
    words = segment(text)
    lengths = [len(word.text) for word in words]
    tones = _citation(text, words, lexicon)
    for place, syllable in given.items():
        tones[place] = syllable
    spoken = sandhi.apply(text, tones, lengths)
    for place, syllable in given.items():
        spoken[place] = syllable
    return _merge_rhotic(text, spoken, set(accumulate(prosodic(words))), given)


def _citation(text: str, words: Sequence[Word], lexicon: ZhLexicon) -> list[str]:
    tones = [lexicon.characters[char] for char in text]
    inside = _word_inside(words)
    settled = _apply_phrases(text, tones, lexicon, inside)
    _apply_particles(text, words, tones, lexicon)
    _apply_overrides(text, tones, lexicon, _Places(inside, settled))
    for at, char in enumerate(text):
        if char in "一不" and at not in settled:
            tones[at] = lexicon.characters[char] if tones[at][:-1] in ("yi", "bu") else tones[at]
        elif char in lexicon.contexts and at not in settled:
            tones[at] = _in_context(text, at, lexicon) or tones[at]
    return tones


def _word_inside(words: Sequence[Word]) -> set[int]:
    """Return the places inside words of two or more characters, where no phrase should begin or end."""
    inside: set[int] = set()
    start = 0
    for word in words:
        inside.update(range(start + 1, start + len(word.text)))
        start += len(word.text)
    return inside


def _apply_phrases(text: str, tones: list[str], lexicon: ZhLexicon, inside: set[int]) -> set[int]:
    """Apply the dictionary, longest phrase first, and return the places in idioms, which are final."""
    idioms: set[int] = set()
    at = 0
    while at < len(text):
        sizes = lexicon.phrases.at(text, at)
        size = next((size for size in sizes if _fits(at, at + size, inside)), 0)
        readings = lexicon.phrases.readings[text[at : at + size]] if size else None
        if readings:
            tones[at : at + size] = readings
        if size >= _IDIOM:
            idioms.update(place for place in range(at, at + size) if text[place] not in "一不")
        at += size or 1
    return idioms


def _fits(start: int, end: int, inside: set[int]) -> bool:
    """Return whether a phrase covers whole words, or lies inside one."""
    if start not in inside and end not in inside:
        return True
    return all(place in inside for place in range(start + 1, end)) and (start in inside or end in inside)


def _apply_overrides(text: str, tones: list[str], lexicon: ZhLexicon, places: _Places) -> None:
    """Apply our own words, longest first; a pair must not cut a word in two (人数 | 到 is not 数到)."""
    at = 0
    while at < len(text):
        sizes = lexicon.overrides.at(text, at)
        size = next((size for size in sizes if places.admit(at, at + size)), 0)
        readings = lexicon.overrides.readings[text[at : at + size]] if size else None
        for place, reading in enumerate(readings or (), start=at):
            if reading != "-":
                tones[place] = tones[place][:-1] + "5" if reading == "5" else reading
                places.settled.add(place)
        at += size or 1


def _in_context(text: str, at: int, lexicon: ZhLexicon) -> str | None:
    left = text[max(0, at - _LEFT_WINDOW) : at]
    for context in lexicon.contexts[text[at]]:
        if context.left.search(left) and context.right.match(text, at + 1):
            return context.pinyin
    return None


_SURNAME_READINGS = (
    "单shan4 解xie4 查zha1 盖ge3 任ren2 曾zeng1 朴piao2 仇qiu2 区ou1 华hua4 葛ge3 翟zhai2 覃qin2 缪miao4 宁ning4 "
    "燕yan1 冼xian3 种chong2 乐yue4 纪ji3 应ying1 宿su4 折she2 那na1 过guo1 车che1 干gan1 都du1 占zhan1 於yu1 "
    "员yun4 隗wei3 郗chi1 谌chen2 牟mou2 臧zang1 秘bi4 繁po2"
)
SURNAMES = {each[0]: each[1:] for each in _SURNAME_READINGS.split()}
"""Characters with a different reading as surnames."""

_MORE_OFTEN_WORDS = frozenset("那过车干都占员应种折秘宿盖")
"""Surnames that more often begin a phrase (盖房), although the segmenter takes them for a name."""
_OFTEN_VERBS = frozenset("单解查任曾区乐宁纪繁华")
"""Surnames that need two characters behind them, or a name in the dictionary, to be read as such."""
_TITLED = re.compile(
    rf"(?:^|(?<=[姓请找问是和跟与给向对叫让]))[{''.join(sorted(SURNAMES.keys() - _MORE_OFTEN_WORDS | {'盖'}))}]"
    r"(?=先生|女士|小姐|老师|教授|医生|经理|主任|师傅|同学|局长|校长|总监|总$|某)"
)
"""Pattern of a surname before a title."""

_NOT_AFTER_ADVERB = re.compile(
    r"[的上下里内外中面区方位铁图理形势球震板址点毯带段处域质道级皮基主产盘心标狱沟窖瓜洞]|$"
)


def _apply_particles(text: str, words: Sequence[Word], tones: list[str], lexicon: ZhLexicon) -> None:
    """Read 地 after an adverbial (高兴地笑) as neutral and as a noun as di4, and surnames in names as such."""
    for titled in _TITLED.finditer(text):
        tones[titled.start()] = SURNAMES[titled[0]]
    at = 0
    for index, word in enumerate(words):
        end = at + len(word.text)
        adverb = len(word.text) > 2 and word.text[-1] == "地" and word.text[-2] == word.text[-3]
        if adverb or (word.text == "地" and index and _is_manner(words[index - 1], text, at)):
            tones[end - 1] = "de5"
        named = word.tag == "nr" and 1 < len(word.text) < 5 and word.text not in lexicon.phrases.readings
        if named and _is_name(word.text):
            tones[at] = SURNAMES.get(word.text[0], tones[at])
        at = end


def _is_name(word: str) -> bool:
    """Return whether a name found by the segmenter is one. The segmenter joins any two loose characters (查重, 曾任,
    解题)."""
    if word[0] in _MORE_OFTEN_WORDS:
        return False
    return len(word) > 2 or word[0] not in _OFTEN_VERBS or is_word(word)


def _is_manner(word: Word, text: str, at: int) -> bool:
    if _NOT_AFTER_ADVERB.match(text, at + 1):
        return False
    doubled = at >= 2 and (text[at - 1] == text[at - 2] or text[at - 2 : at] == text[max(0, at - 4) : at - 2])
    return doubled or (len(word.text) >= 2 and word.tag[:1] in "abdivlzo")


def _merge_rhotic(text: str, spoken: Sequence[str], ends: set[int], given: Mapping[int, str]) -> list[Syllable]:
    """Return the syllables with their marks; ``ends`` are the places where a prosodic word ends."""
    out: list[Syllable] = []
    at = 0
    while at < len(text):
        end = at + 1
        pinyin = spoken[at]
        if text[end : end + 1] in ("儿", "兒") and end not in given and _is_rhotic(text, end):
            pinyin = _rhotic(text, spoken, at)
            end += 1
        out.append(Syllable(at, end, pinyin, "#1" if end in ends else "#0"))
        at = end
    return out


def _is_rhotic(text: str, at: int) -> bool:
    if text[at - 1] in "儿兒":
        return False
    return not _PLAIN_ER_BEFORE.search(text[max(0, at - 3) : at]) and not _PLAIN_ER_AFTER.match(text, at + 1)


def _rhotic(text: str, spoken: Sequence[str], at: int) -> str:
    base, tone = spoken[at][:-1], spoken[at][-1]
    if at and text[at] == text[at - 1] and text[at] in "慢好早远快轻静悄渐单":
        tone = "1"
    return f"{base}{'' if base.endswith('r') else 'r'}{tone}"
