"""Which language each part of a mixed text is in, by script and by neighbourhood.

Statistical language identification fails on the single English words that matter in mixed speech (OK, GPT, iPhone),
and no library decides whose a number is. Script decides words; a number belongs to the word it counts or names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from yuliu.text.scripts import is_han, is_hangul, is_kana, is_latin
from yuliu.types import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from yuliu.types import Lang

_LETTER = "A-Za-zÀ-ÖØ-öø-ɏḀ-ỿＡ-Ｚａ-ｚ"
_ALNUM = f"{_LETTER}0-9０-９"
_TOKEN = re.compile(
    rf"""(?P<mixed>[$¥￥€£₩₹\#@]?[{_ALNUM}]+(?:(?:[.'’\-_@&/:?=%~+\#]{{1,3}}|(?<=[0-9]),(?=[0-9]))[{_ALNUM}]+)*
                   (?:[+\#]+|°[CF]|[%‰℃℉°])?)
       |(?P<wide>[々〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U00031fff]+)
       |(?P<kana>[ぁ-ゟァ-ヺー-ヿㇰ-ㇿｦ-ﾟ]+)
       |(?P<hangul>[가-힣ᄀ-ᇿㄱ-ㆎ]+)
       |(?P<ru>[Ѐ-ԯ]+)|(?P<el>[Ͱ-Ͽ]{{2,}})|(?P<he>[֐-׿]+)|(?P<ar>[؀-ۿݐ-ݿ]+)|(?P<hi>[ऀ-ॿ]+)|(?P<th>[฀-๿]+)""",
    re.VERBOSE,
)
_UNIT_WORDS = (
    "km|cm|mm|nm|um|μm|kg|mg|ml|kb|mb|gb|tb|kbps|mbps|gbps|bps|hz|khz|mhz|ghz|kw|mw|kwh|mv|ma|mah|ms|us|ns|min|db|px|dpi"
    "|fps|rpm|pa|kpa|mpa|cal|kcal|kj|ppm|km/h|m/s|[a-z]"
)
_UNIT = re.compile(rf"(?:{_UNIT_WORDS})\Z", re.IGNORECASE)
_QUANTITY = re.compile(rf"[0-9０-９.,]+(?:{_UNIT_WORDS})\Z", re.IGNORECASE)
_SHORT = re.compile(rf"(?:[{_LETTER}][0-9]*|[0-9]+[A-Za-z])\Z")
_NUMBER = re.compile(rf"[^{_LETTER}]+(?:°[CF])?\Z")
_CLAUSE_END = re.compile(r"[，。！？；：、,!?;:「」『』“”（）()《》\n]")
_MEASURES = frozenset(
    "个元块角分年月日号点秒天次级岁米里斤克吨升度位名人台部本张条只件套家倍折层楼室路届期章节页行列字词句篇首集季成"
    "万亿千百十多余几周星小时种类项步步批份杯瓶碗盘包箱袋辆架艘间座栋扇把双对组队排圈轮局场回遍趟站口颗粒根"
)


class LangSpan(NamedTuple):
    """A stretch of text in one language."""

    span: Span
    lang: Lang | None
    """None if it is in a language that is not among those asked for."""
    name: str
    """The language (BCP 47 primary tag), also where ``lang`` is None; by script alone for scripts other than Latin."""


@dataclass(slots=True)
class _Word:
    """A word, a number or a run of one script."""

    start: int
    end: int
    kind: str
    """A language, or "number" or "short" while undecided."""
    text: str


def split_languages(text: str, languages: Sequence[Lang]) -> list[LangSpan]:
    """Split ``text`` into spans of one language; they tile it in order, neighbours differ.

    White space, punctuation, symbols and emoji go with the span before them (at the start: after them). Letters that a
    Mandarin voice says by itself (``A4``, ``K歌``) stay in the Chinese around them. Text without any word or number
    goes to ``languages[0]``.

    Args:
        text: Any text.
        languages: What can be spoken, at least one; the first is preferred where nothing decides.
    """
    if not text:
        return []
    words = list(_words(text))
    _mark_japanese(text, words)
    _decide_short(words, text)
    _decide_numbers(words, text, languages)
    return _spans(text, words, languages)


def _words(text: str) -> Iterator[_Word]:
    for match in _TOKEN.finditer(text):
        group = match.lastgroup or ""
        kind = {"wide": "zh", "kana": "ja", "hangul": "ko"}.get(group, group)
        if group == "mixed":
            kind = _kind_of_mixed(match[0])
        yield _Word(match.start(), match.end(), kind, match[0])


def _kind_of_mixed(token: str) -> str:
    if _NUMBER.match(token):
        return "number"
    if _SHORT.match(token):
        return "short"
    return "number" if _QUANTITY.match(token) else "en"


def _mark_japanese(text: str, words: list[_Word]) -> None:
    """Han in a clause that holds kana is Japanese."""
    clause: list[_Word] = []
    previous_end = 0
    for word in words:
        if _CLAUSE_END.search(text, previous_end, word.start):
            clause = []
        clause.append(word)
        if word.kind == "ja":
            for other in clause:
                other.kind = "ja" if other.kind == "zh" else other.kind
        elif word.kind == "zh" and any(other.kind == "ja" for other in clause):
            word.kind = "ja"
        previous_end = word.end


def _decide_short(words: list[_Word], text: str) -> None:
    """Single letters are Chinese in a Chinese text, unless they stand beside an English word."""
    chinese = any(word.kind == "zh" for word in words)
    for index, word in enumerate(words):
        if word.kind != "short":
            continue
        english = any(
            other.kind == "en" and _beside(text, word, other) for other in words[max(index - 1, 0) : index + 2]
        )
        word.kind = "en" if english or not chinese else "zh"


def _beside(text: str, word: _Word, other: _Word) -> bool:
    """Whether nothing but white space stands between two words."""
    first, second = (word, other) if word.start <= other.start else (other, word)
    return not text[first.end : second.start].strip()


def _decide_numbers(words: list[_Word], text: str, languages: Sequence[Lang]) -> None:
    for index, word in enumerate(words):
        if word.kind == "number":
            left = words[index - 1] if index else None
            right = words[index + 1] if index + 1 < len(words) else None
            word.kind = _number_language(text, word, left, right) or _nearest(words, index) or languages[0]


def _number_language(text: str, word: _Word, left: _Word | None, right: _Word | None) -> str | None:
    beside_left = left is not None and _beside(text, left, word)
    beside_right = right is not None and _beside(text, word, right)
    if right is not None and beside_right and right.kind in ("zh", "ja") and right.text[0] in _MEASURES:
        return right.kind
    if left is not None and left.kind == "en" and (beside_left or text[left.end : word.start] in (", ", "-", "–")):
        return "en"
    if right is not None and beside_right and right.kind == "en" and not _UNIT.match(right.text):
        return "en"
    if left is not None and beside_left and left.kind != "number":
        return left.kind
    return right.kind if right is not None and beside_right and right.kind != "number" else None


def _nearest(words: list[_Word], index: int) -> str | None:
    """The language of the nearest word, the one before where both are as near."""
    left = words[index - 1] if index else None
    right = next((word for word in words[index + 1 :] if word.kind != "number"), None)
    if left is None or right is None:
        found = left or right
        return found.kind if found else None
    near_left = words[index].start - left.end <= right.start - words[index].end
    return left.kind if near_left else right.kind


def _spans(text: str, words: list[_Word], languages: Sequence[Lang]) -> list[LangSpan]:
    spans: list[LangSpan] = []
    for word in words:
        lang, name = _spoken_as(word, languages)
        if spans and spans[-1].lang == lang and spans[-1].name == name:
            continue
        start = word.start if spans else 0
        if spans:
            spans[-1] = spans[-1]._replace(span=Span(spans[-1].span.start, start))
        spans.append(LangSpan(Span(start, len(text)), lang, name))
    return spans or [LangSpan(Span(0, len(text)), languages[0], languages[0])]


def _spoken_as(word: _Word, languages: Sequence[Lang]) -> tuple[Lang | None, str]:
    for lang in languages:
        if lang == word.kind:
            return lang, lang
    if not any(map(_is_letter, word.text)):
        return languages[0], languages[0]
    return None, word.kind


def _is_letter(char: str) -> bool:
    return is_latin(char) or is_han(char) or is_kana(char) or is_hangul(char) or char.isalpha()
