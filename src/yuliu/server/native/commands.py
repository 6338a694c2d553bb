"""What is to be done with the text of one stream: taken as it comes, within bounds, and done in its turn."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from yuliu.errors import InvalidRequest
from yuliu.presets import parse_chunking
from yuliu.server.pushing import push_text
from yuliu.stream import check_effects, check_lang
from yuliu.wire.native import messages as said

if TYPE_CHECKING:
    from collections.abc import Collection

    from yuliu.audio.chain import Effects
    from yuliu.server.capacity import BodyReservation
    from yuliu.server.principal import Principal
    from yuliu.stream import Stream
    from yuliu.types import Lang
    from yuliu.wire.native.messages import Config, ForText


CONFIG_NUM_CHARACTERS = 100
"""As so many characters counts a change; whatever else has no text counts as one."""
MESSAGE_NUM_BYTES, CONFIG_NUM_BYTES = 128, 1024
"""What a message takes while it waits, beside its text."""


class CommandQueue:
    """Messages about the text, in order.

    Args:
        max_characters: That are taken.
        effects: What is done to the sound at first.
        languages: That the voice speaks.
        guest: Whose characters they are.
        room: What holds them.
    """

    def __init__(
        self,
        max_characters: int,
        effects: Effects,
        languages: Collection[Lang],
        *,
        guest: Principal,
        room: BodyReservation,
    ) -> None:
        self.num_characters: int = 0
        """Of the text, as it arrived."""
        self.text_ended: bool = False
        """Whether no more may come."""
        self._max_characters = max_characters
        self._effects, self._languages = effects, languages
        self._guest, self._room = guest, room
        self._waiting: asyncio.Queue[ForText] = asyncio.Queue()
        self._num_items = 0

    def check(self, config: Config) -> None:
        """Whether a change can be made.

        Raises:
            InvalidRequest: It cannot.
        """
        if config.chunking is not None:
            parse_chunking(config.chunking)
        check_effects(replace(self._effects, **config.effects))
        check_lang(None if config.language == "auto" else config.language, self._languages)

    def put(self, message: ForText) -> None:
        """One more.

        Raises:
            InvalidRequest: There are too many.
            NotAllowed: The guest's key was revoked.
            QuotaExceeded: It is more than the guest may have spoken.
            Overloaded: There is no room for it.
        """
        text = message.text if isinstance(message, said.TextDelta) else ""
        self.num_characters += len(text)
        self._num_items += CONFIG_NUM_CHARACTERS if isinstance(message, said.Config) else max(1, len(text))
        self.text_ended |= isinstance(message, said.End)
        if self._num_items > self._max_characters:
            reason = f"a context takes at most {self._max_characters} characters; open another"
            raise InvalidRequest(reason, param="text")
        self._guest.characters(len(text))
        self._room.take(len(text.encode()) + _num_bytes(message))
        self._waiting.put_nowait(message)

    async def empty_into(self, stream: Stream) -> None:
        """Do all of it, until the text has ended.

        Raises:
            Closed: The stream is over.
            YuliuError: What else a stream may say of it.
        """
        while not self.text_ended or not self._waiting.empty():
            message = await self._waiting.get()
            self._room.give_back(_num_bytes(message))
            await self._do(stream, message)

    async def _do(self, stream: Stream, wanted: ForText) -> None:
        match wanted:
            case said.TextDelta(text=text):
                await push_text(stream, text)
            case said.Flush():
                stream.flush()
            case said.Config(chunking=chunking, speed=speed, language=lang):
                cut = None if chunking is None else parse_chunking(chunking)
                self._effects = replace(self._effects, **wanted.effects)
                stream.configure(chunking=cut, speed=speed, lang=lang, effects=self._effects)
            case said.End():
                await stream.end()


def _num_bytes(message: ForText) -> int:
    return CONFIG_NUM_BYTES if isinstance(message, said.Config) else MESSAGE_NUM_BYTES
