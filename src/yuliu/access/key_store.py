"""API keys of a home folder: a file that ``yuliu keys`` changes and a running server reads again.

The file holds digests by which keys are recognised (:mod:`yuliu.wire.keys`), not the keys themselves.
"""

from __future__ import annotations

import os
import secrets
import stat
import sys
import threading
from typing import TYPE_CHECKING

from yuliu.errors import InvalidRequest
from yuliu.logger import event_logger
from yuliu.voices.home import default_home, exclusive, write_whole
from yuliu.wire.keys import MAX_KEYS, PREFIX, ApiKey, digest_of, parse_keys, write_keys

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_log = event_logger(__name__)

FILE_NAME = "keys.json"
KEY_BYTES = 32
"""Random bytes in a key."""

_Stamp = tuple[int, int, int, int]


class KeyStore:
    """The keys of one home folder. Safe to share between threads; several programs may use one home at once.

    Args:
        home: The folder; None takes $YULIU_HOME, or the platform's folder for application data. It need not exist.
    """

    def __init__(self, home: Path | None = None) -> None:
        self.path: Path = (home if home is not None else default_home(os.environ)) / FILE_NAME
        """Path of the file."""
        self._lock = threading.Lock()
        self._seen: _Stamp | None = None
        self._keys: tuple[ApiKey, ...] = ()

    @property
    def keys(self) -> tuple[ApiKey, ...]:
        """Keys that :meth:`read` or :meth:`refresh` found last; touches no file."""
        return self._keys

    def read(self) -> tuple[ApiKey, ...]:
        """Return all keys in the order in which they were made; none if there is no file.

        Raises:
            InvalidRequest: The file is damaged or cannot be read, or others than its owner may write it.
        """
        with self._lock:
            return self._read()

    def refresh(self) -> None:
        """Read the file again if it has changed; on damage, log an error and keep the keys that were read before."""
        with self._lock:
            stamp = self._stamp()
            if stamp == self._seen:
                return
            try:
                self._read()
            except InvalidRequest as error:
                self._seen = stamp  # logged once
                _log.error("keys_unreadable", message=error.message)
            else:
                _log.info("keys_read", keys=len(self._keys))

    def add(self, make: Callable[[str], ApiKey]) -> str:
        """Make a key. It is shown only this once.

        Args:
            make: Returns the record of a key from its digest.

        Returns:
            The key.

        Raises:
            InvalidRequest: There is a key of that name, or there are too many.
            OSError: The file cannot be written.
        """
        shown = PREFIX + secrets.token_urlsafe(KEY_BYTES)
        added = make(digest_of(shown))

        def with_it(keys: tuple[ApiKey, ...]) -> tuple[ApiKey, ...]:
            if any(key.name == added.name for key in keys):
                raise InvalidRequest(f"there is a key named {added.name}; revoke it first", param="name")
            if len(keys) >= MAX_KEYS:
                raise InvalidRequest(f"there are {MAX_KEYS} keys, which is the limit")
            return (*keys, added)

        self._change(with_it)
        return shown

    def revoke(self, name: str) -> None:
        """Revoke a key.

        Raises:
            InvalidRequest: There is no key of that name.
            OSError: The file cannot be written.
        """

        def without_it(keys: tuple[ApiKey, ...]) -> tuple[ApiKey, ...]:
            rest = tuple(key for key in keys if key.name != name)
            if len(rest) == len(keys):
                raise InvalidRequest("there is no key of that name; see: yuliu keys list", param="name")
            return rest

        self._change(without_it)

    def _change(self, changed: Callable[[tuple[ApiKey, ...]], tuple[ApiKey, ...]]) -> None:
        with self._lock, exclusive(self.path.with_name(f".{FILE_NAME}.lock"), on_wait=lambda: None):
            write_whole(self.path, write_keys(changed(self._read())))
            self._read()

    def _read(self) -> tuple[ApiKey, ...]:
        stamp = self._stamp()
        try:
            with self.path.open("rb") as file:
                _check_mode(os.fstat(file.fileno()).st_mode)
                self._keys = parse_keys(file.read())
        except FileNotFoundError:
            self._keys = ()
        except OSError as error:
            raise InvalidRequest(f"{FILE_NAME} cannot be read: {error.strerror}") from error
        self._seen = stamp
        return self._keys

    def _stamp(self) -> _Stamp | None:
        try:
            status = self.path.stat()
        except OSError:  # reading the file raises the reason
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode


def _check_mode(mode: int) -> None:
    """Refuse a file that other users may write: they could add keys."""
    if sys.platform != "win32" and mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InvalidRequest(f"others may change {FILE_NAME}; take that from them: chmod 600")
