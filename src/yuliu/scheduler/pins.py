"""Phrases spoken ahead, and the groups of cached audio that hold them."""

from __future__ import annotations

import threading


class Pins:
    """A phrase of a voice has a group for each set of options that it was spoken with. Used from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._groups: dict[tuple[str, str], list[tuple[object, int]]] = {}

    def put(self, voice: str, phrase: str, options: object, *, group: int) -> list[int]:
        """A phrase with these options is this group from now on; the group that it was before, if any."""
        with self._lock:
            groups = self._groups.setdefault((voice, phrase), [])
            old = [other for each, other in groups if each == options]
            groups[:] = [(each, other) for each, other in groups if each != options] + [(options, group)]
            return old

    def pop(self, phrases: set[str] | None, voice: str | None) -> list[int]:
        """Forget phrases (None: all) of a voice (None: each); their groups."""
        with self._lock:
            keys = [
                (of, phrase)
                for of, phrase in self._groups
                if voice in (None, of) and (phrases is None or phrase in phrases)
            ]
            return [group for key in keys for _, group in self._groups.pop(key)]

    def by_voice(self) -> dict[str, tuple[str, ...]]:
        """All phrases, in the order in which they came."""
        found: dict[str, tuple[str, ...]] = {}
        with self._lock:
            for voice, phrase in self._groups:
                found[voice] = (*found.get(voice, ()), phrase)
        return found
