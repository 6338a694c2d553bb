"""The client behind a request: its key, and what the key allows. Without keys everything is allowed."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from yuliu.access.quotas import KeyUsage
from yuliu.errors import NotAllowed, Overloaded
from yuliu.types import StreamClass
from yuliu.wire.keys import CLASSES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from yuliu.stream import StreamOptions
    from yuliu.wire.keys import ApiKey
    from yuliu.wire.synthesis_options import SynthesisOptions


class Principal:
    """The client that sent one request, or opened one connection.

    Args:
        find: Returns the client's key as it is now, or None if it was revoked. Leave it out where no keys are required.
        usage: What was used of the key.
        name: Name of the key, for logs.
    """

    def __init__(
        self, find: Callable[[], ApiKey | None] | None = None, usage: KeyUsage | None = None, *, name: str = ""
    ) -> None:
        self.name = name
        self._find = find
        self._usage = usage or KeyUsage()
        self._is_paid = False

    def is_same(self, other: Principal) -> bool:
        """Return whether both have the same key, or no keys are required.

        A stream is resumed with the key that opened it.
        """
        return self._find is None or self._usage is other._usage

    def request(self) -> None:
        """Count a request. The first stream of it, or of its connection, is included.

        Raises:
            NotAllowed: The key was revoked.
            QuotaExceeded: There were too many requests.
        """
        if (key := self._key()) is not None:
            self._usage.request(key.per_minute, time.monotonic())
        self._is_paid = True

    @contextmanager
    def stream(self) -> Iterator[None]:
        """Hold one stream. Further streams of a connection count as requests of their own.

        Raises:
            NotAllowed: The key was revoked.
            QuotaExceeded: There are too many streams, or there were too many requests.
        """
        key = self._key()
        if not self._is_paid:
            self.request()
        self._is_paid = False
        self._usage.open(None if key is None else key.streams)
        try:
            yield
        finally:
            self._usage.close()

    def characters(self, num_characters: int) -> None:
        """Charge characters that are to be spoken, all or none of them.

        Raises:
            NotAllowed: The key was revoked.
            QuotaExceeded: There are too many.
        """
        if (key := self._key()) is not None:
            self._usage.characters(num_characters, key.characters, time.time())

    def give_back(self, num_characters: int) -> None:
        """Refund characters that were charged and not spoken."""
        self._usage.give_back(num_characters)

    @contextmanager
    def text(self, num_characters: int) -> Iterator[None]:
        """Charge characters that are spoken meanwhile; refund them if the server is overloaded.

        Raises:
            NotAllowed: The key was revoked.
            QuotaExceeded: There are too many.
        """
        self.characters(num_characters)
        try:
            yield
        except Overloaded:
            self.give_back(num_characters)
            raise

    def granted(self, options: StreamOptions, manner: SynthesisOptions) -> StreamOptions:
        """Return the options with the class and weight that the key grants: at most what was asked for.

        Raises:
            NotAllowed: The key was revoked.
        """
        key = self._key()
        if key is None:
            return options
        wanted = options.terms.stream_class.value
        if key.default_class is not None and manner.preset is None and "class" not in manner.overrides:
            wanted = key.default_class
        if key.highest_class is not None:
            wanted = min(wanted, key.highest_class, key=CLASSES.index)
        weight = key.weight * min(1.0, manner.weight)
        return replace(options, terms=replace(options.terms, stream_class=StreamClass(wanted), weight=weight))

    def _key(self) -> ApiKey | None:
        if self._find is None:
            return None
        key = self._find()
        if key is None:
            raise NotAllowed("this key was revoked")
        return key
