"""The lexicons of this machine: files that people, programs and the server read and change.

Each is a table (:mod:`yuliu.text.lexicon.tsv`) ``lexicons/NAME.tsv`` in the home folder, whose first line holds its
version. What a person has changed with an editor is seen by size and time of the file, at the next stream.
"""

from __future__ import annotations

import os
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.errors import InvalidRequest, UnknownLexicon, VersionConflict
from yuliu.logger import event_logger
from yuliu.text.lexicon import Entry, Lexicon, Words
from yuliu.text.lexicon.entry import folded
from yuliu.text.lexicon.problems import MAX_ENTRIES
from yuliu.text.lexicon.tsv import parse_tsv, write_tsv
from yuliu.voices.home import default_home, exclusive, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

_log = event_logger(__name__)

GLOBAL = "default"
"""The lexicon that holds for every stream; it need not be there."""
REQUEST = "request"
"""Name of the lexicon of entries that come with a text."""
MAX_LEXICONS = 200
MAX_NAMED = 8
"""Lexicons that one stream may name."""
MAX_REQUEST_ENTRIES = 200
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_VERSION = re.compile(rb"# yuliu lexicon, version (\d{1,15})\r?\n")
_ABSENT = (-1, -1, -1)


@dataclass(frozen=True, slots=True)
class StoredLexicon:
    """A lexicon and how often it was changed."""

    name: str
    version: int
    """1 or more; each change adds at least 1."""
    lexicon: Lexicon

    @property
    def entries(self) -> tuple[Entry, ...]:
        """In the order of the file, replaced ones left out."""
        return self.lexicon.entries


@dataclass(frozen=True, slots=True)
class _Read:
    """A lexicon as it was when its file had this stamp."""

    stamp: tuple[int, int, int]
    stored: StoredLexicon


class LexiconStore:
    """The lexicons of one home folder. Safe to share between threads; several programs may use one home at once.

    Args:
        home: The folder; None takes $YULIU_HOME, or the platform's folder for application data. It need not exist.
    """

    def __init__(self, home: Path | None = None) -> None:
        self.folder: Path = (home if home is not None else default_home(os.environ)) / "lexicons"
        """Folder of the files."""
        self._read: dict[str, _Read] = {}
        self._damaged: dict[str, tuple[int, int, int]] = {}  # stamps that were logged
        self._versions: dict[str, int] = {}  # highest seen, so that none comes twice while this program runs
        self._lock = threading.RLock()

    def names(self) -> list[str]:
        """Return the names of all lexicons, in alphabetical order."""
        return sorted(path.stem for path in self.folder.glob("*.tsv") if _NAME.fullmatch(path.stem))

    def get(self, name: str) -> StoredLexicon:
        """Return one lexicon; read again only if its file has changed.

        Raises:
            UnknownLexicon: There is none of that name.
            InvalidRequest: The file is damaged; the message tells the lines.
        """
        stamp = self._stamp(name)
        read = self._read.get(name)
        if read is not None and read.stamp == stamp:
            return read.stored
        with self._lock:
            return self._load(name)

    def words(self, names: Sequence[str] = (), entries: Sequence[Entry] = ()) -> Words:
        """Return the lexicons of a stream: the global lexicon, named ones, entries of its own; the last wins.

        A file that has been damaged since it was read is told in the log, and holds as it was before.

        Raises:
            UnknownLexicon: There is none of that name.
            InvalidRequest: There are too many names or entries, or a file has been damaged from the start.
        """
        if len(names) > MAX_NAMED:
            raise InvalidRequest(f"at most {MAX_NAMED} lexicons may be named", param="lexicon")
        own = request_words(entries)
        found = [self._usable(name) for name in dict.fromkeys(names) if name != GLOBAL]
        if self._stamp(GLOBAL) != _ABSENT:
            found.insert(0, self._usable(GLOBAL))
        return Words((*found, *own.lexicons))

    def put(self, name: str, entries: Iterable[Entry], *, if_version: int | None = None) -> StoredLexicon:
        """Write a lexicon anew, whether it was there or not.

        Args:
            name: 1 to 64 of ``a-z 0-9 _ -``.
            entries: Of entries of the same text and scope the last stays.
            if_version: The version that is to be replaced, 0 if there should be none; None replaces any.

        Raises:
            VersionConflict: It has another version.
            InvalidRequest: The name is not allowed, or there are too many entries or lexicons.
        """
        return self._change(name, lambda _: entries, if_version)

    def add(self, name: str, entries: Iterable[Entry], *, if_version: int | None = None) -> StoredLexicon:
        """Add entries, in place of those of the same text and scope; make the lexicon if it is not there.

        Raises:
            VersionConflict: It has another version.
            InvalidRequest: As :meth:`put`.
        """
        return self._change(name, lambda old: (*old, *entries), if_version)

    def discard(self, name: str, text: str, *, if_version: int | None = None) -> tuple[StoredLexicon, int]:
        """Remove all entries for a text, whatever its case.

        Returns:
            The lexicon afterwards, and how many entries were removed; if none, nothing was written.

        Raises:
            UnknownLexicon: There is none of that name.
            VersionConflict: It has another version.
        """
        with self._locked():
            old = self.get(name)
            _match(old.version, if_version)
            kept = [entry for entry in old.entries if folded(entry.text) != folded(text)]
            removed = len(old.entries) - len(kept)
            return (self._change(name, lambda _: kept, None), removed) if removed else (old, 0)

    def delete(self, name: str, *, if_version: int | None = None) -> None:
        """Remove a lexicon.

        Raises:
            UnknownLexicon: There is none of that name.
            VersionConflict: It has another version.
        """
        with self._locked():
            _match(self.get(name).version, if_version)
            self._path(name).unlink()
            self._read.pop(name, None)

    def _usable(self, name: str) -> Lexicon:
        """Return a lexicon, as it was before if its file has been damaged since."""
        try:
            return self.get(name).lexicon
        except UnknownLexicon:
            raise
        except InvalidRequest as error:
            read = self._read.get(name)
            if read is None:
                raise
            if self._damaged.get(name) != (stamp := self._stamp(name)):
                self._damaged[name] = stamp
                _log.warning("lexicon_damaged", name=name, message=error.message)
            return read.stored.lexicon

    def _path(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise InvalidRequest("names of lexicons are 1 to 64 of a-z 0-9 _ -, a letter or digit first", param="name")
        return self.folder / f"{name}.tsv"

    def _stamp(self, name: str) -> tuple[int, int, int]:
        try:
            status = self._path(name).stat()
        except FileNotFoundError:
            return _ABSENT
        return status.st_mtime_ns, status.st_size, status.st_ino

    def _load(self, name: str) -> StoredLexicon:
        path = self._path(name)
        stamp = self._stamp(name)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise UnknownLexicon("there is no lexicon of that name; see: yuliu lexicon list", param="lexicon") from None
        try:
            entries = parse_tsv(data).checked()
        except InvalidRequest as error:
            raise InvalidRequest(f"lexicon {name}: {error.message}", param="lexicon") from None
        found = _VERSION.match(data)
        version = max(int(found[1]) if found else 1, self._versions.get(name, 0) + 1)
        return self._remember(stamp, StoredLexicon(name, version, Lexicon.of(name, entries)))

    def _remember(self, stamp: tuple[int, int, int], stored: StoredLexicon) -> StoredLexicon:
        stored.lexicon.index()  # so that no stream has to, on its event loop
        self._read[stored.name] = _Read(stamp, stored)
        self._versions[stored.name] = stored.version
        return stored

    def _change(
        self, name: str, changed: Callable[[tuple[Entry, ...]], Iterable[Entry]], if_version: int | None
    ) -> StoredLexicon:
        path = self._path(name)
        with self._locked():
            is_new = self._stamp(name) == _ABSENT
            old = None if is_new else self.get(name)
            version = old.version if old else 0
            _match(version, if_version)
            if is_new and len(self.names()) >= MAX_LEXICONS:
                raise InvalidRequest(f"there are {MAX_LEXICONS} lexicons, which is the limit", param="name")
            lexicon = Lexicon.of(name, changed(old.entries if old else ()))
            if len(lexicon.entries) > MAX_ENTRIES:
                raise InvalidRequest(f"a lexicon has at most {MAX_ENTRIES:,} entries", param="entries")
            stored = StoredLexicon(name, max(version, self._versions.get(name, 0)) + 1, lexicon)
            write_whole(path, f"# yuliu lexicon, version {stored.version}\n{write_tsv(lexicon.entries)}")
            return self._remember(self._stamp(name), stored)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock against other threads and programs."""
        with self._lock:
            if self._is_held:
                yield
                return
            with exclusive(self.folder / ".lock", on_wait=lambda: None):
                self._is_held = True
                try:
                    yield
                finally:
                    self._is_held = False

    _is_held = False


def request_words(entries: Sequence[Entry]) -> Words:
    """Return the lexicon of entries that come with a text.

    Raises:
        InvalidRequest: There are too many.
    """
    if len(entries) > MAX_REQUEST_ENTRIES:
        raise InvalidRequest(f"at most {MAX_REQUEST_ENTRIES} entries are taken at once", param="lexicon_entries")
    return Words((Lexicon.of(REQUEST, entries),) if entries else ())


def _match(version: int, wanted: int | None) -> None:
    if wanted is not None and wanted != version:
        raise VersionConflict(f"the lexicon has version {version} by now: read it again, then change that")
