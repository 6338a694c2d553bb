"""Replacement of words in a spoken form, within the parts that it was made of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Protocol

    from yuliu.types import Span

    class SpokenPart(Protocol):
        """Frozen dataclass with a span of a text and its words."""

        @property
        def start(self) -> int: ...  # noqa: D102
        @property
        def end(self) -> int: ...  # noqa: D102
        @property
        def spoken(self) -> str: ...  # noqa: D102
        @property
        def rewritten(self) -> bool: ...  # noqa: D102


P = TypeVar("P", bound="SpokenPart")


def respelled(parts: Sequence[P], changes: Sequence[tuple[Span, str]], *, is_settled: Callable[[P], bool]) -> list[P]:
    """Return the parts with some words replaced.

    A rewritten part stays whole and contains the new words; of a passage only the replaced words become a part of their
    own. Parts that share a change become one.

    Args:
        parts: Parts that tile a text; passages (not ``rewritten``) have as many spoken as written characters.
        changes: Places in the joined spoken form and the new words, in order and without overlap.
        is_settled: Test for parts that must not change; changes that touch them are dropped.
    """
    pieces = list(_cut_at([edge for span, _ in changes for edge in span], parts))
    out: list[P] = []
    pending = list(changes)
    index = 0
    while index < len(pieces):
        offset, piece = pieces[index]
        first = index
        end = offset + len(piece.spoken)
        taken: list[tuple[Span, str]] = []
        while pending and pending[0][0].start < end:
            taken.append(pending.pop(0))
            while end < taken[-1][0].end:
                index += 1
                end = pieces[index][0] + len(pieces[index][1].spoken)
        index += 1
        group = [piece for _, piece in pieces[first:index]]
        out += group if not taken or any(map(is_settled, group)) else [_merged(group, offset, taken)]
    return out


def _cut_at(edges: Sequence[int], parts: Sequence[P]) -> Iterator[tuple[int, P]]:
    """Yield the parts with their offsets in the spoken form, passages cut at the edges."""
    offset = 0
    for part in parts:
        length = len(part.spoken)
        inside = [] if part.rewritten else sorted({edge - offset for edge in edges if 0 < edge - offset < length})
        for start, end in zip([0, *inside], [*inside, length], strict=True):
            fields: dict[str, Any] = {"spoken": part.spoken[start:end]}
            if inside:
                fields |= {"start": part.start + start, "end": part.start + end}
            yield offset + start, replace(part, **fields)  # type: ignore[type-var]
        offset += length


def _merged(group: Sequence[P], offset: int, changes: Sequence[tuple[Span, str]]) -> P:
    spoken = "".join(piece.spoken for piece in group)
    for span, words in reversed(changes):
        spoken = spoken[: span.start - offset] + words + spoken[span.end - offset :]
    fields: dict[str, Any] = {"end": group[-1].end, "spoken": spoken, "rewritten": True}
    return replace(group[0], **fields)  # type: ignore[type-var]
