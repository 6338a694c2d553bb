"""What was said of a text, in order, so that what a lost connection did not deliver is said again. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_TEXT_CHARACTERS = 8_192
"""In one message: even if each character takes twelve bytes of JSON it is shorter than the server reads."""


@dataclass(frozen=True, slots=True)
class Item:
    """One message about the text."""

    kind: str
    """``text``, ``flush``, ``config`` or ``end``."""
    at: int
    """Characters of text before it."""
    text: str = field(default="", repr=False)
    values: Mapping[str, object] = field(default_factory=dict)
    """The fields of a ``config``."""

    @property
    def until(self) -> int:
        """Characters of text with it."""
        return self.at + len(self.text)

    @property
    def fields(self) -> dict[str, object]:
        """Those of the message beside its kind and context."""
        return {"text": self.text} if self.kind == "text" else dict(self.values)


class ResendBuffer:
    """All that was said about one text, and how much of it was sent."""

    def __init__(self) -> None:
        self.num_characters: int = 0
        """Of the text."""
        self.ended: bool = False
        """Whether no more may come."""
        self._items: list[Item] = []
        self._next = 0

    def text(self, text: str) -> None:
        """More text, cut where it is too long for one message."""
        for at in range(0, len(text), MAX_TEXT_CHARACTERS):
            piece = text[at : at + MAX_TEXT_CHARACTERS]
            self._items.append(Item("text", self.num_characters, piece))
            self.num_characters += len(piece)

    def say(self, kind: str, **values: object) -> None:
        """Something else about the text, at this place."""
        self._items.append(Item(kind, self.num_characters, values=values))
        self.ended |= kind == "end"

    def next(self) -> Item | None:
        """What is to be sent next, which then counts as sent; None if there is nothing."""
        if self._next == len(self._items):
            return None
        item = self._items[self._next]
        self._next += 1
        return item

    def rewind(self, num_characters: int = 0, *, text_ended: bool = False) -> None:
        """Send again what did not arrive.

        A flush or a change behind all that arrived may have arrived as well: it is said again, which does no harm.

        Args:
            num_characters: Of the text, that arrived.
            text_ended: Whether its end did.
        """
        if text_ended:
            self._next = len(self._items)
            return
        self._next = next(
            (n for n, each in enumerate(self._items) if _is_missing(each, num_characters)), len(self._items)
        )
        if self._next < len(self._items) and (first := self._items[self._next]).at < num_characters:
            num_head = num_characters - first.at
            parts = [replace(first, text=first.text[:num_head])]
            parts.append(replace(first, at=num_characters, text=first.text[num_head:]))
            self._items[self._next : self._next + 1] = parts
            self._next += 1


def _is_missing(item: Item, num_characters: int) -> bool:
    return item.until > num_characters if item.kind == "text" else item.at >= num_characters
