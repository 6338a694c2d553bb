"""Parts of a folded text: those spoken as written, and those with other words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.text.en.rule import rewritings
from yuliu.text.en.rules import ordered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_RULES = ordered()


@dataclass(frozen=True, slots=True)
class FormPart:
    """Characters ``start`` to ``end`` of the folded text and their spoken form."""

    start: int
    end: int
    spoken: str
    rewritten: bool
    phonemes: str = ""
    """Pronunciation of the whole part, where it is given; else its words are read."""


def spoken_parts(text: str, given: Sequence[FormPart] = ()) -> list[FormPart]:
    """Return parts that tile ``text`` in order.

    Args:
        text: Folded text.
        given: Settled parts, in order and without overlap; rules see their text, but leave it alone.
    """
    said = [
        FormPart(found.start, found.end, found.spoken, rewritten=True)
        for found in rewritings(text, _RULES, closed=[(part.start, part.end) for part in given])
    ]
    parts: list[FormPart] = []
    position = 0
    for part in sorted([*said, *given], key=lambda part: part.start):
        if part.start > position:
            parts.append(FormPart(position, part.start, text[position : part.start], rewritten=False))
        parts.append(part)
        position = part.end
    if position < len(text):
        parts.append(FormPart(position, len(text), text[position:], rewritten=False))
    return list(_spaced(parts))


def _spaced(parts: list[FormPart]) -> Iterator[FormPart]:
    """Separate words that touch a symbol or a number ("5km", "a&b")."""
    before = ""
    for index, part in enumerate(parts):
        spoken = part.spoken
        if part.rewritten:
            following = parts[index + 1].spoken[:1] if index + 1 < len(parts) else ""
            if _joins(before, spoken[:1]) or (not spoken and _joins(before, following)):
                spoken = " " + spoken
            if spoken.strip() and _joins(spoken[-1:], following):
                spoken += " "
        before = spoken[-1:] or before
        yield FormPart(part.start, part.end, spoken, part.rewritten, part.phonemes)


def _joins(left: str, right: str) -> bool:
    return (left.isalnum() or (left in tuple(".,!?;:)'\"”") and left != "")) and (right.isalnum())
