"""Reading a table of TOML with errors that say which key of which file is wrong, and what is accepted. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    import re
    from collections.abc import Mapping


class TomlTable:
    """A table being read: every key is asked for once, and :meth:`finish` complains about those nobody asked for.

    Args:
        values: What the TOML parser gave.
        where: The file, for messages.
        path: Dotted path of the table in the file; empty for the whole file.
    """

    def __init__(self, values: Mapping[str, object], where: str, path: str = "") -> None:
        self._values = dict(values)
        self._where = where
        self._path = path
        self._asked: set[str] = set()

    def error(self, key: str, problem: str) -> InvalidRequest:
        """An error to raise about ``key``: "baker.toml: files[0].size is missing"."""
        full = f"{self._path}.{key}" if self._path else key
        return InvalidRequest(f"{self._where}: {full} {problem}", param=full)

    def _take(self, key: str, kind: type | tuple[type, ...], words: str) -> Any:  # noqa: ANN401 - narrowed by callers
        self._asked.add(key)
        if key not in self._values:
            raise self.error(key, f"is missing: {words} is needed")
        value = self._values[key]
        wrong_bool = isinstance(value, bool) and kind is not bool
        if wrong_bool or not isinstance(value, kind):
            raise self.error(key, f"must be {words}")
        return value

    def has(self, key: str) -> bool:
        """Whether the key is there; it still has to be asked for."""
        return key in self._values

    def text(self, key: str, *, default: str | None = None, pattern: re.Pattern[str] | None = None) -> str:
        """A string of 1 to 2000 characters without control characters, matching all of ``pattern``."""
        if default is not None and key not in self._values:
            self._asked.add(key)
            return default
        value: str = self._take(key, str, "a string")
        if not 0 < len(value) <= 2000 or not value.isprintable():
            raise self.error(key, "must be a string of 1 to 2000 printable characters on one line")
        if pattern is not None and not pattern.fullmatch(value):
            raise self.error(key, f"must match {pattern.pattern}")
        return value

    def integer(self, key: str, *, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        words = f"a whole number from {low} to {high}"
        value: int = self._take(key, int, words)
        if not low <= value <= high:
            raise self.error(key, f"must be {words}")
        return value

    def number(self, key: str, *, low: float, high: float, default: float) -> float:
        """A number from ``low`` to ``high``, both included."""
        if key not in self._values:
            self._asked.add(key)
            return default
        words = f"a number from {low} to {high}"
        value = float(self._take(key, (int, float), words))
        if not low <= value <= high:
            raise self.error(key, f"must be {words}")
        return value

    def flag(self, key: str) -> bool:
        """``true`` or ``false``."""
        return bool(self._take(key, bool, "true or false"))

    def texts(self, key: str, *, pattern: re.Pattern[str]) -> tuple[str, ...]:
        """A list of 1 to 64 different strings, each matching all of ``pattern``."""
        words = f"a list of 1 to 64 different strings that match {pattern.pattern}"
        values: list[object] = self._take(key, list, words)
        found = tuple(value for value in values if isinstance(value, str) and pattern.fullmatch(value))
        if not 0 < len(values) <= 64 or len(found) != len(values) or len(set(found)) != len(found):
            raise self.error(key, f"must be {words}")
        return found

    def table(self, key: str) -> TomlTable:
        """A table inside this one."""
        return TomlTable(self._take(key, dict, "a table"), self._where, f"{self._path}.{key}" if self._path else key)

    def tables(self, key: str, *, needed: bool) -> list[TomlTable]:
        """An array of at most 64 tables, at least one if ``needed``."""
        if not needed and key not in self._values:
            self._asked.add(key)
            return []
        values: list[object] = self._take(key, list, "an array of tables")
        if len(values) > 64 or (needed and not values):
            raise self.error(key, "must be an array of 1 to 64 tables")
        return [self._element(key, index, value) for index, value in enumerate(values)]

    def _element(self, key: str, index: int, value: object) -> TomlTable:
        if not isinstance(value, dict):
            raise self.error(f"{key}[{index}]", "must be a table")
        return TomlTable(value, self._where, f"{self._path}.{key}[{index}]" if self._path else f"{key}[{index}]")

    def names(self) -> tuple[str, ...]:
        """The keys in the order they are written; all count as asked for."""
        self._asked.update(self._values)
        return tuple(self._values)

    def finish(self) -> None:
        """Raise InvalidRequest if the table has a key that nobody asked for: a slip of the pen, most likely."""
        for key in self._values:
            if key not in self._asked:
                accepted = ", ".join(sorted(self._asked))
                raise self.error(key, f"is not known; known here: {accepted}")
