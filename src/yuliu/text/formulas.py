"""Short LaTeX formulas as words that the front ends read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MANDARIN_COLUMN, ENGLISH_COLUMN = 0, 1
"""Columns of the word tables."""

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
_MAX_DEPTH = 6

_WORDS: Mapping[str, tuple[str, str]] = {
    r"\alpha": ("阿尔法", "alpha"), r"\beta": ("贝塔", "beta"), r"\gamma": ("伽马", "gamma"),
    r"\delta": ("德尔塔", "delta"), r"\epsilon": ("艾普西隆", "epsilon"), r"\varepsilon": ("艾普西隆", "epsilon"),
    r"\zeta": ("泽塔", "zeta"), r"\eta": ("伊塔", "eta"), r"\theta": ("西塔", "theta"), r"\iota": ("约塔", "iota"),
    r"\kappa": ("卡帕", "kappa"), r"\lambda": ("拉姆达", "lambda"), r"\mu": ("缪", "mu"), r"\nu": ("纽", "nu"),
    r"\xi": ("克西", "xi"), r"\pi": ("派", "pi"), r"\rho": ("柔", "rho"), r"\sigma": ("西格玛", "sigma"),
    r"\tau": ("陶", "tau"), r"\phi": ("斐", "phi"), r"\varphi": ("斐", "phi"), r"\chi": ("卡伊", "chi"),
    r"\psi": ("普西", "psi"), r"\omega": ("欧米伽", "omega"), r"\Gamma": ("伽马", "gamma"),
    r"\Delta": ("德尔塔", "delta"), r"\Theta": ("西塔", "theta"), r"\Lambda": ("拉姆达", "lambda"),
    r"\Pi": ("派", "pi"), r"\Sigma": ("西格玛", "sigma"), r"\Phi": ("斐", "phi"), r"\Psi": ("普西", "psi"),
    r"\Omega": ("欧米伽", "omega"),
    r"\times": ("乘", "times"), r"\cdot": ("乘", "times"), r"\div": ("除以", "divided by"),
    r"\pm": ("正负", "plus or minus"), r"\mp": ("负正", "minus or plus"),
    r"\leq": ("小于等于", "less than or equal to"),
    r"\le": ("小于等于", "less than or equal to"), r"\geq": ("大于等于", "greater than or equal to"),
    r"\ge": ("大于等于", "greater than or equal to"), r"\neq": ("不等于", "not equal to"),
    r"\ne": ("不等于", "not equal to"), r"\approx": ("约等于", "approximately equal to"),
    r"\sim": ("相似于", "similar to"),
    r"\equiv": ("恒等于", "equivalent to"), r"\propto": ("正比于", "proportional to"),
    r"\ll": ("远小于", "much less than"),
    r"\gg": ("远大于", "much greater than"), r"\infty": ("无穷大", "infinity"), r"\in": ("属于", "in"),
    r"\notin": ("不属于", "not in"), r"\subset": ("包含于", "subset of"), r"\subseteq": ("包含于", "subset of"),
    r"\cup": ("并", "union"), r"\cap": ("交", "intersection"), r"\emptyset": ("空集", "the empty set"),
    r"\forall": ("对任意", "for all"), r"\exists": ("存在", "there exists"), r"\to": ("趋于", "to"),
    r"\rightarrow": ("推出", "to"), r"\Rightarrow": ("推出", "implies"), r"\implies": ("推出", "implies"),
    r"\iff": ("当且仅当", "if and only if"), r"\partial": ("偏", "partial"), r"\nabla": ("梯度", "nabla"),
    r"\sum": ("求和", "the sum"), r"\prod": ("求积", "the product"), r"\int": ("积分", "the integral"),
    r"\lim": ("极限", "the limit"), r"\log": ("log", "log"), r"\ln": ("自然对数", "natural log"),
    r"\sin": ("正弦", "sine"), r"\cos": ("余弦", "cosine"), r"\tan": ("正切", "tangent"), r"\exp": ("exp", "exp"),
    r"\max": ("最大值", "max"), r"\min": ("最小值", "min"), r"\angle": ("角", "angle"),
    r"\triangle": ("三角形", "triangle"), r"\perp": ("垂直于", "perpendicular to"),
    r"\parallel": ("平行于", "parallel to"),
    r"\ldots": ("等等", "and so on"), r"\cdots": ("等等", "and so on"), r"\dots": ("等等", "and so on"),
    r"\%": ("百分之", "percent"), r"\circ": ("度", "degrees"), r"\ell": ("l", "l"), r"\hbar": ("h拔", "h bar"),
    r"\prime": ("撇", "prime"), r"\mid": ("竖线", "given"), r"\land": ("且", "and"), r"\lor": ("或", "or"),
    r"\neg": ("非", "not"), r"\&": ("和", "and"),
    "=": ("等于", "equals"), "+": ("加", "plus"), "<": ("小于", "is less than"), ">": ("大于", "is greater than"),
    "*": ("乘", "times"), "/": ("除以", "over"), "'": ("撇", "prime"), "≤": ("小于等于", "less than or equal to"),
    "≥": ("大于等于", "greater than or equal to"), "×": ("乘", "times"), "!": ("的阶乘", "factorial"),
}  # fmt: skip
_SPACING = (
    r"\left \right \big \Big \bigg \Bigg \quad \qquad \displaystyle \textstyle \limits \nolimits "
    r"\, \; \: \! \{ \} & ~ ( ) [ ] | } \ "
)
_SILENT = frozenset((*_SPACING.split(), "\\ "))
_STYLES = (
    r"\text \mathrm \mathbf \mathit \mathcal \mathbb \operatorname \boldsymbol \bm \vec \hat \bar \tilde \overline "
    r"\textbf \textit \mathsf \boxed"
)
_CONTENTS = frozenset(_STYLES.split())
_VERBATIM = frozenset((r"\text", r"\mathrm", r"\operatorname", r"\textbf", r"\textit"))
_FRACTIONS = frozenset((r"\frac", r"\dfrac", r"\tfrac"))
_RANGED = frozenset((r"\sum", r"\prod", r"\int", r"\lim"))
_POWERS: Mapping[str, tuple[str, str]] = {"2": ("的平方", "squared"), "3": ("的立方", "cubed")}


class _TooLong(ValueError):
    """The formula should not be read out."""


def spoken_formula(formula: str, *, column: int) -> str | None:
    """Return the words of a formula without its delimiters, or None for what is better not read out: environments and
    deep nesting.

    Args:
        formula: LaTeX.
        column: Language of the words: ``MANDARIN_COLUMN`` or ``ENGLISH_COLUMN``.
    """
    if r"\begin" in formula or r"\\" in formula:
        return None
    speech = _Speech(_TOKEN.findall(formula), column)
    try:
        words = speech.until_end()
    except _TooLong:
        return None
    return " ".join(words) if column == ENGLISH_COLUMN else _joined(words)


def _joined(words: list[str]) -> str:
    """Join Mandarin words, with spaces only between spelled letters."""
    text = ""
    for word in words:
        parted = text and word and text[-1].isascii() and word[0].isascii()
        text += f" {word}" if parted else word
    return text


class _Speech:
    """Single pass over the tokens of a formula."""

    def __init__(self, tokens: list[str], column: int) -> None:
        self._tokens = [token for token in tokens if not token.isspace()]
        self._at = 0
        self._column = column
        self._depth = 0

    def until_end(self, closer: str | None = None) -> list[str]:
        """Return the words up to ``closer``, which is consumed, or to the end."""
        words: list[str] = []
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            self._at += 1
            if token == closer:
                break
            words += self._words(token, is_first=not words)
        return words

    def _pick(self, zh: str, en: str) -> str:
        return (zh, en)[self._column]

    def _words(self, part: str, *, is_first: bool) -> list[str]:
        build = {"{": self._group, "^": self._power, "_": self._argument, r"\sqrt": self._root}.get(part)
        if build is not None:
            return build()
        if part in _SILENT:
            return []
        if part in _FRACTIONS:
            return self._fraction()
        if part in _RANGED:
            return self._ranged(part)
        if part in _CONTENTS:
            return self._argument(verbatim=part in _VERBATIM)
        if part == "-":
            return [self._pick("负" if is_first else "减", "minus")]
        return [_WORDS[part][self._column] if part in _WORDS else part.lstrip("\\")]

    def _group(self) -> list[str]:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _TooLong
        words = self.until_end("}")
        self._depth -= 1
        return words

    def _argument(self, *, verbatim: bool = False) -> list[str]:
        if self._at >= len(self._tokens):
            return []
        part = self._tokens[self._at]
        self._at += 1
        if part == "{":
            words = self._group()
            return ["".join(words)] if verbatim and all(len(word) == 1 for word in words) else words
        return self._words(part, is_first=True)

    def _power(self) -> list[str]:
        words = self._argument()
        if not words:
            return []
        key = words[0]
        if len(words) == 1 and key in _POWERS:
            return [_POWERS[key][self._column]]
        if len(words) == 1 and key in ("度", "degrees", "撇", "prime"):
            return words
        return ["的", *words, "次方"] if self._column == 0 else ["to the power of", *words]

    def _fraction(self) -> list[str]:
        over, under = self._argument(), self._argument()
        return [*under, "分之", *over] if self._column == 0 else [*over, "over", *under]

    def _root(self) -> list[str]:
        degree: list[str] = []
        if self._at < len(self._tokens) and self._tokens[self._at] == "[":
            self._at += 1
            degree = self.until_end("]")
        radicand = self._argument()
        if self._column == 0:
            return [*(["开", *degree, "次方根号"] if degree else ["根号"]), *radicand]
        if degree == ["3"]:
            return ["the cube root of", *radicand]
        return ["the", *degree, "root of" if degree else "square root of", *radicand]

    def _ranged(self, sign: str) -> list[str]:
        """Return the words of a sum, product, integral or limit with its bounds."""
        words = [_WORDS[sign][self._column]]
        below = self._pick("", "as") if sign == r"\lim" else self._pick("从", "from")
        limits = {"_": below, "^": self._pick("到", "to")}
        while self._at < len(self._tokens) and self._tokens[self._at] in (*limits, r"\limits"):
            place = self._tokens[self._at]
            self._at += 1
            if place in limits:
                words += [limits[place], *self._argument()]
        words.append(self._pick("，" if len(words) > 1 else "", "of"))
        return [word for word in words if word]
