"""Output of a language's front end for a segment: its spoken form and the units that an engine voices.

Both map back to the source text, so that every unit knows the characters that it stands for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.types import Hint, Respelling, Skipped, Span

MAX_TEXTS = 512
"""Maximum number of readings kept; the least recently used are dropped first."""
MAX_CHARS = 60
"""Maximum length of a text whose reading is kept: longer texts rarely repeat. Readings take about 5 kB each, 2.5 MB in
total."""


class Remembered:
    """Front end that caches the readings of another one. Safe to share between threads, as front ends are.

    Args:
        front_end: Front end that is cached. Its readings are values, so they can be reused.
    """

    def __init__(self, front_end: FrontEnd) -> None:
        self._front_end = front_end
        self._kept = lru_cache(MAX_TEXTS)(front_end.read)

    def read(self, text: str, hints: Sequence[Hint] = (), respelling: Respelling | None = None) -> Reading:
        """Return the front end's reading. Texts with hints or a respelling bypass the cache."""
        if hints or respelling is not None or len(text) > MAX_CHARS:
            return self._front_end.read(text, hints, respelling)
        return self._kept(text)


@dataclass(frozen=True, slots=True)
class Piece:
    """Span of the text and its reading: ``25%`` becomes ``百分之二十五``.

    The pieces of a text tile it in order; joined, their ``spoken`` is its spoken form. A piece without a rewriting may
    be as long as a run of words; a rewriting is always a piece of its own.
    """

    source: Span
    """Place in the text given to the front end."""
    spoken: str


@dataclass(frozen=True, slots=True)
class Unit:
    """Spoken unit: a Mandarin syllable or an English word."""

    source: Span
    """Characters of the front end's input that it stands for. Units do not go backwards; several units share one span
    where one rewriting became several words."""
    text: str
    """Spoken text: the character (``百``) or the word (``dollars``)."""
    phonemes: tuple[str, ...]
    """Phonemes in the voice's own names, see docs/en/reference/phonemes.md: Baker's initials and finals with tone
    (``("h", "ao3")``), or misaki's one-character symbols (``("h", "ə", "l", "ˈ", "O")``)."""
    after: str = ""
    """Mark between this unit and the next in the voice's alphabet: Mandarin ``#0`` (inside a word), ``#1`` (word
    boundary), ``#2`` (phrase), ``#3`` (clause); English a space, a punctuation mark, or both."""
    pinyin: str | None = None
    """Mandarin syllable after sandhi with tone digit; 5 is neutral (``hao3``)."""


@dataclass(frozen=True, slots=True)
class RefusedHint:
    """Hint that could not be followed; its place was read without it."""

    source: Span
    """Place in the front end's input."""
    rule: str
    """Stable name: ``phonemes_unknown`` (not syllables, or missing from the voice), ``say_as_unknown`` (the text does
    not have that form), ``hint_misplaced`` (outside the text, empty, or overlapping another hint)."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Reading of a segment."""

    pieces: tuple[Piece, ...]
    units: tuple[Unit, ...]
    skipped: tuple[Skipped, ...] = field(default=())
    """Places in the front end's input that are not spoken, and the rules that skip them. Every character belongs to a
    unit or a skip, or is white space or punctuation beside them."""
    refused: tuple[RefusedHint, ...] = field(default=())
    """Hints that could not be followed, in order."""

    @property
    def spoken(self) -> str:
        """Spoken form: all pieces joined."""
        return "".join(piece.spoken for piece in self.pieces)


class FrontEnd(Protocol):
    """Reader of one language. Pure after construction, and safe to share between threads."""

    def read(self, text: str, hints: Sequence[Hint] = (), respelling: Respelling | None = None) -> Reading:
        """Normalise ``text`` (one segment, any characters) and return its pronunciation. Accepts any text.

        Args:
            text: Text to read.
            hints: Readings of places in it, in order and without overlap. Each becomes one piece, and its neighbours
                are read with it in view.
            respelling: Replacements in the spoken form; hinted places are left alone.
        """
        ...
