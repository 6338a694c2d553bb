"""What front ends and the split into languages share about hints."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from yuliu.text.frontend import RefusedHint
from yuliu.text.language_spans import LangSpan, split_languages
from yuliu.types import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.types import Hint, Lang

_ALPHABETS: dict[str, Lang] = {"pinyin": "zh", "ipa": "en", "x-misaki": "en"}
_STAND_INS: dict[Lang, str] = {"zh": "字", "en": "word"}
_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?\Z", re.ASCII)


def plain_number(text: str) -> str | None:
    """``text`` without separators and white space if it is a number in digits (``-1,234.5``), else None."""
    bare = "".join(text.split())
    return bare.replace(",", "") if _NUMBER.match(bare) else None


def day_parts(text: str, order: str) -> tuple[str, str, str] | None:
    """Year, month and day of a date in digits; ``order`` is one of ``ymd``, ``mdy``, ``dmy``, ``md``, ``dm``, ``ym``.

    Parts that are not there are empty. None if the text holds another number of parts.
    """
    parts = re.findall(r"\d+", text, re.ASCII)
    if len(parts) != len(order) or not set(order) <= set("ymd"):
        return None
    found = dict(zip(order, parts, strict=True))
    return found.get("y", ""), found.get("m", ""), found.get("d", "")


def in_place(hints: Sequence[Hint], length: int) -> tuple[list[Hint], list[RefusedHint]]:
    """Hints that lie inside a text of ``length`` characters, in order and apart; and the others."""
    placed: list[Hint] = []
    refused: list[RefusedHint] = []
    end = 0
    for hint in sorted(hints, key=lambda hint: hint.span):
        if end <= hint.span.start < hint.span.end <= length:
            placed.append(hint)
            end = hint.span.end
        else:
            refused.append(RefusedHint(hint.span, "hint_misplaced"))
    return placed, refused


def split_hinted(text: str, hints: Sequence[Hint], languages: Sequence[Lang]) -> list[LangSpan]:
    """Split ``text`` into languages as :func:`yuliu.text.language_spans.split_languages` does, hinted places as they
    are said.

    ``GPT`` that is to be said as 吉皮提 is Chinese. No span ends inside a hinted place. Hints whose phonemes are in no
    language of ``languages`` count as if they were not there.
    """
    usable = [hint for hint in in_place(hints, len(text))[0] if _is_usable(hint, languages)]
    if not usable:
        return split_languages(text, languages)
    said, ends = _as_said(text, usable)
    spans: list[LangSpan] = []
    start = 0
    for found in split_languages(said, languages):
        end = ends[found.span.end]
        if end > start:
            spans.append(found._replace(span=Span(start, end)))
            start = end
    return spans


def _is_usable(hint: Hint, languages: Sequence[Lang]) -> bool:
    return hint.kind != "phonemes" or _ALPHABETS.get(hint.detail) in languages


def _as_said(text: str, hints: Sequence[Hint]) -> tuple[str, list[int]]:
    """The text with what is said in place of what is hinted, and for each offset in it the one in ``text``."""
    parts: list[str] = []
    ends: list[int] = [0]
    done = 0
    for hint in hints:
        said = _said(text, hint)
        parts += [text[done : hint.span.start], said]
        ends += [*range(done + 1, hint.span.start + 1), *[hint.span.end] * len(said)]
        done = hint.span.end
    return "".join([*parts, text[done:]]), ends + list(range(done + 1, len(text) + 1))


def _said(text: str, hint: Hint) -> str:
    if hint.kind == "spoken" and hint.value:
        return hint.value
    if hint.kind == "phonemes":
        return _STAND_INS[_ALPHABETS[hint.detail]]
    return text[hint.span.start : hint.span.end]
