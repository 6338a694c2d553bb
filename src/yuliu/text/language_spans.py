"""Language of each part of a mixed text, by script and by neighbourhood.

Statistical language identification fails on the single English words that matter in mixed speech (OK, GPT, iPhone), and
no library decides the language of a number. Words follow their script; a number follows the word that it counts or
names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from yuliu.text.abbreviations import NUMBERED
from yuliu.text.languages import language_of
from yuliu.text.languages.mandarin import is_plainly_chinese
from yuliu.text.scripts import SCRIPTS
from yuliu.types import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from yuliu.text.languages import Language
    from yuliu.types import Lang

_LETTER = SCRIPTS["Latn"]
_ALNUM = f"{_LETTER}0-9０-９"
_TOKEN = re.compile(
    rf"""(?P<Latn>[$¥￥€£₩₹\#@]?[{_ALNUM}]+(?:(?:[.'’\-_@&/:?=%~+\#]{{1,3}}|(?<=[0-9]),(?=[0-9]))[{_ALNUM}]+)*
                   (?:[+\#]+|°[CF]|[%‰℃℉°])?)
       |(?P<Hani>[{SCRIPTS["Hani"]}]+)|(?P<Kana>[{SCRIPTS["Kana"]}]+)|(?P<Hang>[{SCRIPTS["Hang"]}]+)
       |(?P<Cyrl>[{SCRIPTS["Cyrl"]}]+)|(?P<Grek>[{SCRIPTS["Grek"]}]{{2,}})|(?P<Hebr>[{SCRIPTS["Hebr"]}]+)
       |(?P<Arab>[{SCRIPTS["Arab"]}]+)|(?P<Deva>[{SCRIPTS["Deva"]}]+)|(?P<Thai>[{SCRIPTS["Thai"]}]+)
       |(?P<other>[^\W\d_Ͱ-Ͽ])""",
    re.VERBOSE,
)
_USUAL: Mapping[str, str] = {
    "Latn": "en", "Hani": "zh", "Kana": "ja", "Hang": "ko", "Cyrl": "ru", "Grek": "el", "Hebr": "he", "Arab": "ar",
    "Deva": "hi", "Thai": "th",
}  # fmt: skip
"""Language assumed for a script that none of the wanted languages uses."""
_NO_LANGUAGE = "und"
_UNIT_WORDS = (
    "km|cm|mm|nm|um|μm|kg|mg|ml|kb|mb|gb|tb|kbps|mbps|gbps|bps|hz|khz|mhz|ghz|kw|mw|kwh|mv|ma|mah|ms|us|ns|min|db|px|dpi"
    "|fps|rpm|pa|kpa|mpa|cal|kcal|kj|ppm|km/h|m/s"
)
_UNIT = re.compile(rf"(?:{_UNIT_WORDS})\Z", re.IGNORECASE)
_QUANTITY = re.compile(rf"[0-9０-９.,]+(?:{_UNIT_WORDS})\Z", re.IGNORECASE)
_NUMBER = re.compile(rf"[^{_LETTER}]+(?:°[CF])?\Z")
_SHORT = re.compile(
    rf"(?:[{_LETTER}]/)*(?:[{_LETTER}](?![{_LETTER}])|[0-9]|(?<=[0-9])\.(?=[0-9])|-(?=[0-9])|[=+](?=[0-9A-Za-z]))+\+?\Z|[A-Z]{{1,2}}[0-9]{{3,}}\Z"
)
"""Tokens that a Mandarin voice spells: letters that stand alone (``A4``, ``v2.0.1``, ``A/B``) and flight numbers."""
_CLAUSE_END = re.compile(r"[，。！？；：、,!?;:「」『』“”（）()《》\n]")
_MEASURES = frozenset(
    "个元块角分年月日号点秒天次级岁米里斤克吨升度位名人台部本张条只件套家倍折层楼室路届期章节页行列字词句篇首集季成"
    "万亿千百十多余几周星小时种类项步步批份杯瓶碗盘包箱袋辆架艘间座栋扇把双对组队排圈轮局场回遍趟站口颗粒根寸尺亩磅股顿"
)
_LONG_MEASURES = (
    "公里",
    "公斤",
    "公分",
    "公顷",
    "英里",
    "英寸",
    "平方",
    "立方",
    "毫米",
    "厘米",
    "毫秒",
    "毫升",
    "摄氏",
)

_NOT_WITHOUT_HIRAGANA = frozenset("我的了是在想去看有和都也就要会能到不很吃买")
"""Common Chinese words that Japanese writes only beside hiragana, if at all."""


class LangSpan(NamedTuple):
    """Part of a text in one language."""

    span: Span
    lang: Lang | None
    """Language, or None if it is not one of the wanted languages."""
    name: str
    """Language (BCP 47 primary tag) even where ``lang`` is None; by script alone for scripts other than Latin."""


@dataclass(frozen=True, slots=True)
class _Owners:
    """Language of each script, given the wanted languages."""

    by_script: Mapping[str, str]
    """Owner of each script that words are matched by."""
    latin: str
    """Language of words in Latin letters."""
    han: str
    """Language of Chinese characters without kana beside them."""
    kana: str
    """Language of kana and of Chinese characters beside them."""
    others: tuple[tuple[re.Pattern[str], Lang], ...]
    """Letters of further scripts, each with its language."""
    rivals: tuple[tuple[str, Lang, Callable[[str], bool]], ...]
    """Owner of a script, another language that uses it, and the test for that language."""

    def of_letter(self, char: str) -> str:
        """Return the language of a letter of a further script."""
        return next((lang for letters, lang in self.others if letters.match(char)), _NO_LANGUAGE)


@lru_cache(maxsize=64)
def _owners(languages: tuple[Language, ...]) -> _Owners:
    """Give each script to the first language that writes it."""
    first: dict[str, Lang] = {}
    rivals: list[tuple[str, Lang, Callable[[str], bool]]] = []
    for language in languages:
        for script in language.scripts:
            owner = first.setdefault(script, language.lang)
            if owner != language.lang and language.recognise is not None:
                rivals.append((owner, language.lang, language.recognise))
    others = [(re.compile(f"[{SCRIPTS[script]}]"), lang) for script, lang in first.items() if script not in _USUAL]
    by_script = {script: str(first.get(script, usual)) for script, usual in _USUAL.items()}
    latin, han, kana = by_script["Latn"], by_script["Hani"], by_script["Kana"]
    return _Owners(by_script, latin, han, kana, others=tuple(others), rivals=tuple(rivals))


@dataclass(slots=True)
class _Word:
    """Word, number or run of one script."""

    start: int
    end: int
    kind: str
    """Language, or "number" or "short" while undecided."""
    text: str
    is_shared: bool
    """True for numbers and single letters, which either language can say."""


def split_languages(text: str, languages: Sequence[Lang]) -> list[LangSpan]:
    """Split ``text`` into spans of one language; they tile it in order, and neighbours differ.

    White space, punctuation, symbols and emoji belong to the span before them, or at the start to the one after them.
    Letters that a Mandarin voice can say (``A4``, ``K歌``) stay in the Chinese around them. Text without any word or
    number belongs to ``languages[0]``.

    Args:
        text: Any text.
        languages: Languages that can be spoken, at least one; the first is preferred where nothing decides.
    """
    if not text:
        return []
    owners = _owners(tuple(map(language_of, languages)))
    words = _words(text, owners)
    _decide_shared_scripts(text, words, owners)
    _decide_short(text, words, owners, preferred=languages[0])
    _decide_numbers(text, words, owners, preferred=languages[0])
    return _spans(text, words, owners, languages)


def _words(text: str, owners: _Owners) -> list[_Word]:
    words: list[_Word] = []
    for match in _TOKEN.finditer(text):
        word = _word(match, owners)
        last = words[-1] if words else None
        if (
            last
            and last.kind == "number"
            and word.kind == owners.latin
            and _UNIT.match(word.text)
            and _beside(text, last, word)
        ):
            last.end, last.text = word.end, text[last.start : word.end]  # "96 ms" is spoken in one language
        else:
            words.append(word)
    return words


def _word(match: re.Match[str], owners: _Owners) -> _Word:
    script, token = match.lastgroup or "", match[0]
    if script == "Latn":
        kind = _kind_of_latin(token, owners)
    elif script == "other":
        kind = owners.of_letter(token) if token.isalpha() else "number"  # "Ⅲ", "½"
    else:
        kind = owners.by_script[script]
    return _Word(match.start(), match.end(), kind, token, kind in ("number", "short"))


def _kind_of_latin(token: str, owners: _Owners) -> str:
    if _NUMBER.match(token) or _QUANTITY.match(token):
        return "number"
    return "short" if _SHORT.match(token) else owners.latin


def _beside(text: str, first: _Word, second: _Word) -> bool:
    """Return whether only white space separates two words."""
    return not text[first.end : second.start].strip()


def _decide_shared_scripts(text: str, words: list[_Word], owners: _Owners) -> None:
    """Decide between the languages that share a script, clause by clause."""
    has_kana = owners.han != owners.kana and any(word.kind == owners.kana for word in words)
    if not words or not (has_kana or owners.rivals):
        return
    for clause in _clauses(text, words):
        if has_kana:
            _decide_japanese(clause, owners)
        _decide_rivals(text[clause[0].start : clause[-1].end], clause, owners)


def _clauses(text: str, words: list[_Word]) -> Iterator[list[_Word]]:
    clause: list[_Word] = []
    previous_end = 0
    for word in words:
        if clause and _CLAUSE_END.search(text, previous_end, word.start):
            yield clause
            clause = []
        clause.append(word)
        previous_end = word.end
    yield clause


def _decide_rivals(written: str, clause: list[_Word], owners: _Owners) -> None:
    for owner, rival, recognise in owners.rivals:
        if recognise(written):
            for word in clause:
                if word.kind == owner:
                    word.kind = rival


def _decide_japanese(clause: list[_Word], owners: _Owners) -> None:
    """Give the Han of a clause with kana to Japanese, unless the clause has characters that only Chinese uses."""
    kana = "".join(word.text for word in clause if word.kind == owners.kana)
    han = [word for word in clause if word.kind == owners.han]
    if not kana or not han:
        return
    is_chinese = _shows_chinese("".join(word.text for word in han), kana)
    for word in _between_kana(clause, owners) if is_chinese else han:
        word.kind = owners.kana


def _between_kana(clause: list[_Word], owners: _Owners) -> list[_Word]:
    """Return the Han words that kana join on both sides: 焼 in たこ焼き is Japanese in a Chinese clause too."""
    return [
        word
        for left, word, right in zip(clause, clause[1:], clause[2:], strict=False)
        if word.kind == owners.han
        and left.kind == right.kind == owners.kana
        and left.end == word.start
        and word.end == right.start
        and not _shows_chinese(word.text, left.text + right.text)
        and not _is_without_hiragana(left.text + right.text)
    ]


def _shows_chinese(han: str, kana: str) -> bool:
    """Return whether the Han characters beside ``kana`` are plainly not Japanese."""
    return is_plainly_chinese(han) or (_is_without_hiragana(kana) and not _NOT_WITHOUT_HIRAGANA.isdisjoint(han))


def _is_without_hiragana(kana: str) -> bool:
    """Return whether ``kana`` may stand in a Chinese text as a name: katakana, or の alone."""
    return kana == "の" or min(kana) > "ゟ"


def _decide_short(text: str, words: list[_Word], owners: _Owners, *, preferred: Lang) -> None:
    """Give single letters to the Chinese of a text, unless they stand beside an English word (``vitamin C``)."""
    kinds = {word.kind for word in words}
    fallback = owners.han if owners.han in kinds else owners.latin if owners.latin in kinds else preferred
    for index, word in enumerate(words):
        if word.kind == "short":
            left = words[index - 1] if index else None
            right = words[index + 1] if index + 1 < len(words) else None
            word.kind = owners.latin if _is_latin(text, word, (left, right), owners) else fallback


def _is_latin(text: str, word: _Word, beside: tuple[_Word | None, _Word | None], owners: _Owners) -> bool:
    left, right = beside
    if right and right.kind == owners.han and word.end == right.start and word.text[0].isdecimal():
        return False  # "2D绘图", whatever stands before it
    beside_left = left is not None and left.kind == owners.latin and _beside(text, left, word)
    return beside_left or (right is not None and right.kind == owners.latin and _beside(text, word, right))


def _decide_numbers(text: str, words: list[_Word], owners: _Owners, *, preferred: Lang) -> None:
    following: list[_Word | None] = [None] * len(words)  # the next word that is not a number
    for index in range(len(words) - 2, -1, -1):
        after = words[index + 1]
        following[index] = following[index + 1] if after.kind == "number" else after
    for index, word in enumerate(words):
        if word.kind == "number":
            left = words[index - 1] if index else None
            right = words[index + 1] if index + 1 < len(words) else None
            kind = _by_neighbours(text, word, (left, right), owners) or _by_distance(word, left, following[index])
            word.kind = kind or preferred


def _by_neighbours(
    text: str, word: _Word, neighbours: tuple[_Word | None, _Word | None], owners: _Owners
) -> str | None:
    """Return the language of a number beside a word: that of the word that it counts or names."""
    left, right = neighbours
    before = text[left.end : word.start] if left else "."
    counted = right if right and right.kind != "number" and _beside(text, word, right) else None
    if counted and counted.kind in (owners.han, owners.kana) and _is_measure(counted.text):
        return counted.kind
    is_named = not before.strip() or before in (", ", "-", "–")
    if left and left.kind == owners.latin and (is_named or _is_numbering(left, before)):
        return owners.latin
    if counted and counted.kind == owners.latin:
        return owners.latin
    if left and not before.strip():
        return left.kind
    return counted.kind if counted else None


def _is_numbering(word: _Word, after: str) -> bool:
    """Return whether a word introduces a number: ``No. 5``, ``Fig. 2``."""
    return after.strip() == "." and word.text.lower() in NUMBERED


def _is_measure(text: str) -> bool:
    return text[0] in _MEASURES or text.startswith(_LONG_MEASURES)


def _by_distance(word: _Word, left: _Word | None, right: _Word | None) -> str | None:
    """Return the language of the nearest word, preferring the one before."""
    if left and right:
        return left.kind if word.start - left.end <= right.start - word.end else right.kind
    found = left or right
    return found.kind if found else None


def _spans(text: str, words: list[_Word], owners: _Owners, languages: Sequence[Lang]) -> list[LangSpan]:
    spans: list[LangSpan] = []
    for word in words:
        lang, name = _spoken_as(word, owners, languages)
        if not spans:
            spans.append(LangSpan(Span(0, len(text)), lang, name))
        elif (spans[-1].lang, spans[-1].name) != (lang, name):
            spans[-1] = spans[-1]._replace(span=Span(spans[-1].span.start, word.start))
            spans.append(LangSpan(Span(word.start, len(text)), lang, name))
    return spans or [LangSpan(Span(0, len(text)), languages[0], languages[0])]


def _spoken_as(word: _Word, owners: _Owners, languages: Sequence[Lang]) -> tuple[Lang | None, str]:
    for lang in languages:
        if lang == word.kind:
            return lang, lang
    if word.is_shared and word.kind in (owners.han, owners.latin):
        return languages[0], languages[0]
    return None, word.kind
