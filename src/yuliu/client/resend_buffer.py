"""Messages about a text, in order, so that those lost with a connection can be sent again. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_TEXT_CHARACTERS = 8_192
"""Maximum text in one message: even at twelve bytes of JSON per character it stays below the server's limit."""


@dataclass(frozen=True, slots=True)
class ResendItem:
    """One message about a text."""

    kind: str
    """``text``, ``flush``, ``config`` or ``end``."""
    at: int
    """Characters of text before the message."""
    text: str = field(default="", repr=False)
    values: Mapping[str, object] = field(default_factory=dict)
    """Fields of a ``config``."""

    @property
    def until(self) -> int:
        """Characters of text up to and including the message."""
        return self.at + len(self.text)

    @property
    def fields(self) -> dict[str, object]:
        """Fields of the message besides its type and context."""
        return {"text": self.text} if self.kind == "text" else dict(self.values)


class ResendBuffer:
    """All messages about one text, and how many of them have been sent."""

    def __init__(self) -> None:
        self.num_characters: int = 0
        """Characters of text so far."""
        self.ended: bool = False
        """True if the text has ended."""
        self._items: list[ResendItem] = []
        self._next = 0

    def text(self, text: str) -> None:
        """Add text, split where it is too long for one message."""
        for at in range(0, len(text), MAX_TEXT_CHARACTERS):
            piece = text[at : at + MAX_TEXT_CHARACTERS]
            self._items.append(ResendItem("text", self.num_characters, piece))
            self.num_characters += len(piece)

    def say(self, kind: str, **values: object) -> None:
        """Add another message about the text at this place."""
        self._items.append(ResendItem(kind, self.num_characters, values=values))
        self.ended |= kind == "end"

    def next(self) -> ResendItem | None:
        """Return the next message to send and count it as sent; None if there is none."""
        if self._next == len(self._items):
            return None
        item = self._items[self._next]
        self._next += 1
        return item

    def rewind(self, num_characters: int = 0, *, text_ended: bool = False) -> None:
        """Go back to the first message that did not arrive.

        A ``flush`` or ``config`` right after the received text may have arrived as well; it is sent again, which does
        no harm.

        Args:
            num_characters: Characters of text that arrived.
            text_ended: Whether the end of the text arrived.
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


def _is_missing(item: ResendItem, num_characters: int) -> bool:
    return item.until > num_characters if item.kind == "text" else item.at >= num_characters
