"""Text on its way into a stream: accepted as it comes, within limits, and pushed in order."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal

from yuliu.errors import InvalidRequest
from yuliu.stream import check_effects, check_lang

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from yuliu.access import Principal
    from yuliu.audio.chain import Effects
    from yuliu.delivery.capacity import BodyReservation
    from yuliu.segmenter import Chunking
    from yuliu.stream import Stream
    from yuliu.types import Lang

PIECE_NUM_CHARS = 512
"""Characters that are pushed at a time: about 5 ms of work, during which no other connection is served."""
CHANGE_NUM_CHARACTERS = 100
"""Characters that a change of settings counts for; any other item without text counts for one."""
ITEM_NUM_BYTES, CHANGE_NUM_BYTES = 128, 1024
"""Memory that a waiting item takes beside its text."""


@dataclass(frozen=True, slots=True)
class SpeakingChange:
    """New settings for the text that follows; None leaves a setting as it is."""

    speed: float | None = None
    chunking: Chunking | None = None
    language: Lang | Literal["auto"] | None = None
    """Language that the text is read as; ``auto`` decides by script."""
    effects: Mapping[str, Any] = field(default_factory=dict)
    """Fields of :class:`yuliu.audio.chain.Effects` and their new values."""


class _Mark(Enum):
    FLUSH = "flush"
    END = "end"


QueuedText = str | SpeakingChange | _Mark


class TextQueue:
    """Text, flushes and changes of one stream, in order.

    Args:
        max_characters: Maximum length of the text; None sets no limit.
        effects: Effects that the stream starts with.
        languages: Languages of the voice.
        principal: Client that the characters count for.
        held: Memory that the text is counted in.
    """

    def __init__(
        self,
        max_characters: int | None,
        effects: Effects,
        languages: Collection[Lang],
        *,
        principal: Principal,
        held: BodyReservation,
    ) -> None:
        self.num_characters: int = 0
        """Length of the text so far, code points."""
        self.num_charged: int = 0
        """Characters that were charged to the principal."""
        self.text_ended: bool = False
        """True once no more text may come."""
        self._max_characters = max_characters
        self._effects, self._languages = effects, languages
        self._principal, self._held = principal, held
        self._waiting: asyncio.Queue[QueuedText] = asyncio.Queue()
        self._num_items = 0

    def check(self, change: SpeakingChange) -> None:
        """Refuse a change that cannot be made.

        Raises:
            InvalidRequest: An effect is not installed, or the voice does not speak the language.
        """
        check_effects(replace(self._effects, **change.effects))
        check_lang(None if change.language == "auto" else change.language, self._languages)

    def write(self, text: str) -> None:
        """Add text.

        Raises:
            InvalidRequest: The text is too long.
            NotAllowed: The principal's key was revoked.
            QuotaExceeded: The principal may not have so many characters spoken.
            Overloaded: There is no memory left for text.
        """
        self.num_characters += len(text)
        self._put(text, len(text), ITEM_NUM_BYTES)

    def flush(self) -> None:
        """Speak the text before this point without waiting for more. Raises as :meth:`write` does."""
        self._put(_Mark.FLUSH, 0, ITEM_NUM_BYTES)

    def change(self, change: SpeakingChange) -> None:
        """Change settings from this point on. Raises as :meth:`write` does."""
        self._put(change, CHANGE_NUM_CHARACTERS, CHANGE_NUM_BYTES)

    def end(self) -> None:
        """End the text. Raises as :meth:`write` does."""
        self.text_ended = True
        self._put(_Mark.END, 0, ITEM_NUM_BYTES)

    async def push_into(self, stream: Stream) -> None:
        """Push all items into a stream, until the text has ended.

        Raises:
            Closed: The stream is over.
            YuliuError: The stream refused an item.
        """
        while not self.text_ended or not self._waiting.empty():
            item = await self._waiting.get()
            self._held.give_back(CHANGE_NUM_BYTES if isinstance(item, SpeakingChange) else ITEM_NUM_BYTES)
            await self._push(stream, item)

    def _put(self, item: QueuedText, weight: int, num_bytes: int) -> None:
        self._num_items += max(1, weight)
        if self._max_characters is not None and self._num_items > self._max_characters:
            reason = f"a stream takes at most {self._max_characters} characters; open another"
            raise InvalidRequest(reason, param="text")
        if isinstance(item, str):
            self._principal.characters(len(item))
            self.num_charged += len(item)
            num_bytes += len(item.encode())
        self._held.take(num_bytes)
        self._waiting.put_nowait(item)

    async def _push(self, stream: Stream, item: QueuedText) -> None:
        match item:
            case str():
                await _push_text(stream, item)
            case SpeakingChange():
                self._effects = replace(self._effects, **item.effects)
                stream.configure(chunking=item.chunking, speed=item.speed, lang=item.language, effects=self._effects)
            case _Mark.FLUSH:
                stream.flush()
            case _Mark.END:
                await stream.end()


async def _push_text(stream: Stream, text: str) -> None:
    """Push a text in pieces, and let other connections have their turn between them."""
    for at in range(0, len(text), PIECE_NUM_CHARS):
        await stream.push(text[at : at + PIECE_NUM_CHARS])
        await asyncio.sleep(0)
