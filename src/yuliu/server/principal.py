"""Who calls: a key and what it allows. Paths ask this of the request; without keys everything is allowed."""

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

    from starlette.types import Scope

    from yuliu.stream import StreamOptions
    from yuliu.wire.keys import ApiKey
    from yuliu.wire.synthesis_options import SynthesisOptions

_STATE = "guest"


class Principal:
    """Who sent one request, or opened one connection.

    Args:
        find: Gives his key as it is now: it may be changed or revoked while he is here. None without keys.
        usage: What was used of it.
    """

    def __init__(self, find: Callable[[], ApiKey | None] | None = None, usage: KeyUsage | None = None) -> None:
        self._find = find
        self._usage = usage or KeyUsage()
        self._is_paid = False

    def is_same(self, other: Principal) -> bool:
        """Whether both have the same key, or none is wanted: streams are resumed with the key they were opened with."""
        return self._find is None or self._usage is other._usage

    def request(self) -> None:
        """Count the request; the first stream of it, or of the connection, belongs to it.

        Raises:
            NotAllowed: The key was revoked.
            QuotaExceeded: There were too many.
        """
        if (key := self._key()) is not None:
            self._usage.request(key.per_minute, time.monotonic())
        self._is_paid = True

    @contextmanager
    def stream(self) -> Iterator[None]:
        """One stream. Further ones of a connection count as requests of their own.

        Raises:
            NotAllowed: The key was revoked.
            QuotaExceeded: There are too many, or there were too many.
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
        """So many characters are to be spoken.

        Raises:
            NotAllowed: The key was revoked.
            QuotaExceeded: There are too many; none of them counts.
        """
        if (key := self._key()) is not None:
            self._usage.characters(num_characters, key.characters, time.time())

    @contextmanager
    def text(self, num_characters: int) -> Iterator[None]:
        """So many characters are spoken meanwhile; they do not count if the machine cannot carry it.

        Raises:
            NotAllowed: The key was revoked.
            QuotaExceeded: There are too many.
        """
        self.characters(num_characters)
        try:
            yield
        except Overloaded:
            self._usage.give_back(num_characters)
            raise

    def granted(self, options: StreamOptions, manner: SynthesisOptions) -> StreamOptions:
        """The options with the class and weight that the key grants: never more than was asked for or is allowed.

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


def remember(scope: Scope, guest: Principal) -> None:
    """Let the paths know who calls."""
    scope.setdefault("state", {})[_STATE] = guest


def principal_of(scope: Scope) -> Principal:
    """Who sent a request; one who may do everything where no keys are wanted."""
    guest = scope.get("state", {}).get(_STATE)
    return guest if isinstance(guest, Principal) else Principal()
