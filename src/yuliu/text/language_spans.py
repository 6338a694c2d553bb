"""Which language each part of a mixed text is in, by script and by neighbourhood.

Statistical language identification fails on the single English words that matter in mixed speech (OK, GPT, iPhone),
and no library decides whose a number is. Script decides words; a number belongs to the word it counts or names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from yuliu.text.abbreviations import NUMBERED
from yuliu.types import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.types import Lang

_LETTER = "A-Za-zÀ-ÖØ-öø-ɏḀ-ỿＡ-Ｚａ-ｚ\ufb00-\ufb06\U0001d400-\U0001d6a5"
_ALNUM = f"{_LETTER}0-9０-９"
_TOKEN = re.compile(
    rf"""(?P<mixed>[$¥￥€£₩₹\#@]?[{_ALNUM}]+(?:(?:[.'’\-_@&/:?=%~+\#]{{1,3}}|(?<=[0-9]),(?=[0-9]))[{_ALNUM}]+)*
                   (?:[+\#]+|°[CF]|[%‰℃℉°])?)
       |(?P<wide>[々〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U00031fff]+)
       |(?P<kana>[ぁ-ゟァ-ヺー-ヿㇰ-ㇿｦ-ﾟ]+)
       |(?P<hangul>[가-힣ᄀ-ᇿㄱ-ㆎ]+)
       |(?P<ru>[Ѐ-ԯ]+)|(?P<el>[Ͱ-Ͽ]{{2,}})|(?P<he>[֐-׿]+)|(?P<ar>[؀-ۿݐ-ݿ]+)|(?P<hi>[ऀ-ॿ]+)|(?P<th>[฀-๿]+)
       |(?P<und>[^\W\d_Ͱ-Ͽ])""",
    re.VERBOSE,
)
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
"""What a Mandarin voice says letter by letter: letters that stand alone (``A4``, ``v2.0.1``, ``A/B``), a flight."""
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

_NOT_JAPANESE = frozenset(
    "们这吗呢吧么还说个为时间问谁很哪你她它咱啊呀欢见观过进远运动对开关车东长门马鸟鱼风飞习书买卖头实让认识话语课谈请谢"
    "读谁该详误调谓预领题颜额顾颗页项顺须饭馆馒饮饼钱铁银错锅键镜队阳阴际陆险难预难鸡鸭龙齐龄龟么怎从众优伤伟传净几"
    "凤击刘刚创别务劳势华单卫厂历压厅县发变叹听启员响哟唤喷团园围图圆场坏块坚坛垫复够夺奋奖妈妇娱孙宁审宽宾"
    "爱乐亲师张杨陈吴赵钟钢锁链闻闹闪闲阅阔韩频类驾骑骂验鲁鲜鸣盐监种稳穷笔简纪纯纸级线练组细织终经结给络统继续维绿编"
    "罗职联脑脸节苏药获萨虽虾补规视览觉订计训议讲许论设访证评诉词译试诗诚询诺贝负财责败货质贩购贵贴费贺资赏赛赢跃转轮"
    "软轻载较辆输边达迁迟适选递逻遗邮邻酱释针钓铃销镇雾"
)
"""Characters of simplified Chinese, and of its commonest function words, that Japanese does not write."""

_NOT_WITHOUT_HIRAGANA = frozenset("我的了是在想去看有和都也就要会能到不很吃买")
"""Common Chinese words that Japanese writes only beside hiragana, if at all."""


_PRONOUNS = re.compile(
    r"[我你您]们?(?![々慢流等輩家国社欲執達])[\u4e00-\u9fff]"
    r"|[他她]们?(?![人社国者方界校県府店事言意力])[\u4e00-\u9fff]"
)
"""A pronoun with a Chinese word right behind it; Japanese puts a particle there."""


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
    is_shared: bool
    """Whether either language can say it: numbers, single letters."""


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
    words = _words(text)
    _decide_japanese(text, words)
    _decide_short(text, words, languages[0])
    _decide_numbers(text, words, languages[0])
    return _spans(text, words, languages)


def _words(text: str) -> list[_Word]:
    words: list[_Word] = []
    for match in _TOKEN.finditer(text):
        word = _word(match)
        last = words[-1] if words else None
        if (
            last
            and last.kind == "number"
            and word.kind == "en"
            and _UNIT.match(word.text)
            and _beside(text, last, word)
        ):
            last.end, last.text = word.end, text[last.start : word.end]  # "96 ms" is said in one language
        else:
            words.append(word)
    return words


def _word(match: re.Match[str]) -> _Word:
    group, token = match.lastgroup or "", match[0]
    kind = {"wide": "zh", "kana": "ja", "hangul": "ko"}.get(group, group)
    if group == "mixed":
        kind = _kind_of_mixed(token)
    elif group == "und" and not token.isalpha():
        kind = "number"  # "Ⅲ", "½"
    return _Word(match.start(), match.end(), kind, token, kind in ("number", "short"))


def _kind_of_mixed(token: str) -> str:
    if _NUMBER.match(token) or _QUANTITY.match(token):
        return "number"
    return "short" if _SHORT.match(token) else "en"


def _beside(text: str, first: _Word, second: _Word) -> bool:
    """Whether nothing but white space stands between two words."""
    return not text[first.end : second.start].strip()


def _decide_japanese(text: str, words: list[_Word]) -> None:
    """Han in a clause that holds kana is Japanese, unless the clause holds characters that only Chinese has."""
    clauses: list[list[_Word]] = [[]]
    previous_end = 0
    for word in words:
        if _CLAUSE_END.search(text, previous_end, word.start):
            clauses.append([])
        clauses[-1].append(word)
        previous_end = word.end
    for clause in clauses:
        kana = "".join(word.text for word in clause if word.kind == "ja")
        han = [word for word in clause if word.kind == "zh"]
        if not kana or not han:
            continue
        chinese = _shows_chinese("".join(word.text for word in han), kana)
        for word in _between_kana(clause) if chinese else han:
            word.kind = "ja"


def _between_kana(clause: list[_Word]) -> list[_Word]:
    """Han that kana joins on both sides: 焼 in たこ焼き is Japanese in a Chinese clause too."""
    return [
        word
        for left, word, right in zip(clause, clause[1:], clause[2:], strict=False)
        if word.kind == "zh"
        and left.kind == right.kind == "ja"
        and left.end == word.start
        and word.end == right.start
        and not _shows_chinese(word.text, left.text + right.text)
        and not _is_without_hiragana(left.text + right.text)
    ]


def _shows_chinese(han: str, kana: str) -> bool:
    """Whether the Han characters beside ``kana`` are plainly not Japanese."""
    if not _NOT_JAPANESE.isdisjoint(han) or _PRONOUNS.search(han):
        return True
    return _is_without_hiragana(kana) and not _NOT_WITHOUT_HIRAGANA.isdisjoint(han)


def _is_without_hiragana(kana: str) -> bool:
    """Whether ``kana`` is what a Chinese text may hold in names: katakana, or の alone."""
    return kana == "の" or min(kana) > "ゟ"


def _decide_short(text: str, words: list[_Word], preferred: Lang) -> None:
    """Single letters are Chinese in a Chinese text, unless they stand beside an English word (``vitamin C``)."""
    kinds = {word.kind for word in words}
    others = "zh" if "zh" in kinds else "en" if "en" in kinds else preferred
    for index, word in enumerate(words):
        if word.kind == "short":
            left = words[index - 1] if index else None
            right = words[index + 1] if index + 1 < len(words) else None
            word.kind = "en" if _in_english(text, word, left, right) else others


def _in_english(text: str, word: _Word, left: _Word | None, right: _Word | None) -> bool:
    if right and right.kind == "zh" and word.end == right.start and word.text[0].isdecimal():
        return False  # "2D绘图", whatever stands before it
    beside_left = left is not None and left.kind == "en" and _beside(text, left, word)
    return beside_left or (right is not None and right.kind == "en" and _beside(text, word, right))


def _decide_numbers(text: str, words: list[_Word], preferred: Lang) -> None:
    following: list[_Word | None] = [None] * len(words)  # the next word that is no number
    for index in range(len(words) - 2, -1, -1):
        after = words[index + 1]
        following[index] = following[index + 1] if after.kind == "number" else after
    for index, word in enumerate(words):
        if word.kind == "number":
            left = words[index - 1] if index else None
            right = words[index + 1] if index + 1 < len(words) else None
            kind = _by_neighbours(text, word, left, right) or _by_distance(word, left, following[index])
            word.kind = kind or preferred


def _by_neighbours(text: str, word: _Word, left: _Word | None, right: _Word | None) -> str | None:
    """The language of a number that stands beside a word: the one that it counts, or the one that it names."""
    before = text[left.end : word.start] if left else "."
    counted = right if right and right.kind != "number" and _beside(text, word, right) else None
    if counted and counted.kind in ("zh", "ja") and _is_measure(counted.text):
        return counted.kind
    if left and left.kind == "en" and (not before.strip() or before in (", ", "-", "–") or _is_numbering(left, before)):
        return "en"
    if counted and counted.kind == "en":
        return "en"
    if left and not before.strip():
        return left.kind
    return counted.kind if counted else None


def _is_numbering(word: _Word, after: str) -> bool:
    """``No. 5``, ``Fig. 2``."""
    return after.strip() == "." and word.text.lower() in NUMBERED


def _is_measure(text: str) -> bool:
    return text[0] in _MEASURES or text.startswith(_LONG_MEASURES)


def _by_distance(word: _Word, left: _Word | None, right: _Word | None) -> str | None:
    """The language of the nearest word, the one before where both are as near."""
    if left and right:
        return left.kind if word.start - left.end <= right.start - word.end else right.kind
    found = left or right
    return found.kind if found else None


def _spans(text: str, words: list[_Word], languages: Sequence[Lang]) -> list[LangSpan]:
    spans: list[LangSpan] = []
    for word in words:
        lang, name = _spoken_as(word, languages)
        if not spans:
            spans.append(LangSpan(Span(0, len(text)), lang, name))
        elif (spans[-1].lang, spans[-1].name) != (lang, name):
            spans[-1] = spans[-1]._replace(span=Span(spans[-1].span.start, word.start))
            spans.append(LangSpan(Span(word.start, len(text)), lang, name))
    return spans or [LangSpan(Span(0, len(text)), languages[0], languages[0])]


def _spoken_as(word: _Word, languages: Sequence[Lang]) -> tuple[Lang | None, str]:
    for lang in languages:
        if lang == word.kind:
            return lang, lang
    if word.is_shared and word.kind in ("zh", "en"):
        return languages[0], languages[0]
    return None, word.kind
