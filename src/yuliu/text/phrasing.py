"""Cuts in a clause that is too long: between two words, preferably where a phrase begins."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import rjieba

from yuliu.text.scripts import is_latin, is_wide

if TYPE_CHECKING:
    from collections.abc import Iterator


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OPENING = _words(
    "然后 但是 但 可是 不过 而且 并且 而 并 所以 因为 因此 如果 要是 虽然 即使 只要 只有 除非 或者 还是 以及 "
    "以便 从而 于是 接着 最后 其实 另外 同时 后来 我 你 您 他 她 它 我们 你们 他们 她们 它们 咱们 大家 这 那 "
    "这个 那个 这些 那些 这样 那样 在 把 被 从 对 向 跟 给 为 为了 由 按 按照 用 让 使 通过 根据 关于 当 就 也 "
    "都 还 又 再 才 先 已经 正在 一直 总是 非常 可以 需要 应该 必须 会 能 要 是 and but or because that which "
    "who when while if so than to in on at for with from of by as into about after before until then where what "
    "how without through between under over during"
)
"""Words that begin a phrase: a cut before them is least audible."""
_LEANING = _words(
    "在 把 被 从 对 向 跟 给 为 为了 由 按 用 让 使 和 与 及 或 以及 或者 不 没 没有 很 最 更 太 都 也 就 还 又 "
    "再 才 先 会 能 要 可以 这 那 这个 那个 每 该 各 某 几 两 一 一个 第 我 你 您 他 她 它 我们 你们 他们 是 有 "
    "但 但是 而 并 如果 因为 所以 的话 a an the to of in on at for with from by and or but my your his her its "
    "our their this that these those is are was were be been am i you he she we they it not no very more most as "
    "into than who which if so"
)
"""Words that belong to the next word: a cut after them is most audible."""
_CLITICS = frozenset("的了着过吗呢吧啊呀嘛们得地")
"""Clitics: they belong to the word before and never open a segment."""
_NUMERALS = frozenset("零〇一二三四五六七八九十百千万亿两几第")
_BEST, _FAIR, _POOR = 2, 1, 0
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
"""Halves of surrogate pairs, which JSON may contain and rjieba does not accept."""


def cut_between_words(text: str, *, earliest: int, latest: int) -> int | None:
    """Return the best place in ``[earliest, latest]`` to cut ``text`` between two words, or None.

    The cut is never beside a number, a mark or a clitic. Chinese words are those of rjieba. Of equally good places the
    last one is returned.
    """
    best: tuple[int, int] | None = None
    for place, quality in places_between_words(text):
        if place > latest:
            break
        if place >= earliest:
            best = max(best or (quality, place), (quality, place))
    return best[1] if best else None


def places_between_words(text: str) -> Iterator[tuple[int, int]]:
    """Yield all places where ``text`` may be cut between two words, in order, with a quality from 0 to 2."""
    for place, left, right in _places(text):
        if _parts(left[-1], right[0], spaced=text[place].isspace()):
            yield place, _quality(left.lower(), right.lower())


def _places(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the end of each word but the last, that word and the next one; white space is not a word."""
    words = []
    end = 0
    for word in rjieba.cut(_LONE_SURROGATE.sub("\ufffd", text)):
        end += len(word)
        if not word.isspace():
            words.append((end, word))
    for (place, left), (_, right) in pairwise(words):
        yield place, left, right


def _parts(left: str, right: str, *, spaced: bool) -> bool:
    """Return whether a segment may end in ``left`` and the next one begin with ``right``."""
    if not (is_wide(left) or is_latin(left)) or left in _NUMERALS:
        return False
    if right.isdecimal() or right in _CLITICS:
        return False
    return spaced or is_wide(right) or (is_wide(left) and is_latin(right))


def _quality(left: str, right: str) -> int:
    if left in _LEANING:
        return _POOR
    return _BEST if right in _OPENING else _FAIR
