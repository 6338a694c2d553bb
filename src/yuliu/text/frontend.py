"""What a language's front end makes of a segment: its spoken form and the units that an engine voices.

Both keep the map back to the text they were made from, so that every unit knows which characters it speaks for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.types import Hint, Respelling, Skipped, Span

MAX_TEXTS = 512
"""Readings kept; those that were asked for longest ago are forgotten first."""
MAX_CHARS = 60
"""Longer texts are not kept: they seldom come again. Kept ones take about 5 kB each, 2.5 MB in all."""


class Remembered:
    """The readings of a front end, the latest ones kept. Safe to share between threads, as front ends are.

    Args:
        front_end: Reads what is not remembered. Its readings are values, so they can be given again.
    """

    def __init__(self, front_end: FrontEnd) -> None:
        self._front_end = front_end
        self._kept = lru_cache(MAX_TEXTS)(front_end.read)

    def read(self, text: str, hints: Sequence[Hint] = (), respelling: Respelling | None = None) -> Reading:
        """As the front end reads it. Texts with hints or a respelling are always read anew."""
        if hints or respelling is not None or len(text) > MAX_CHARS:
            return self._front_end.read(text, hints, respelling)
        return self._kept(text)


@dataclass(frozen=True, slots=True)
class Piece:
    """A span of the text and how it is read: ``25%`` becomes ``百分之二十五``.

    The pieces of a text tile it in order; joined, their ``spoken`` is its spoken form. Where nothing is
    rewritten a piece may be as long as a run of words, but a rewriting is always one piece of its own.
    """

    source: Span
    """Place in the text given to the front end."""
    spoken: str


@dataclass(frozen=True, slots=True)
class Unit:
    """One spoken unit: a Mandarin syllable or an English word."""

    source: Span
    """Characters of the text given to the front end that it speaks for. Units do not go backwards; several units
    share one span where one rewriting became several words."""
    text: str
    """What is said: the character as spoken (``百``) or the word (``dollars``)."""
    phonemes: tuple[str, ...]
    """In the voice's own names, see docs/reference/phonemes.md: Baker's initials and finals with tone
    (``("h", "ao3")``), or misaki's one-character symbols (``("h", "ə", "l", "ˈ", "O")``)."""
    after: str = ""
    """What stands between this unit and the next in the voice's alphabet: Mandarin ``#0`` (inside a word), ``#1``
    (word boundary), ``#2`` (phrase), ``#3`` (clause); English a space, a punctuation mark, or both."""
    pinyin: str | None = None
    """Mandarin: the syllable after sandhi with tone digit, 5 = neutral (``hao3``)."""


@dataclass(frozen=True, slots=True)
class RefusedHint:
    """A hint that could not be followed; its place was read as if the hint were not there."""

    source: Span
    """Place in the text given to the front end."""
    rule: str
    """Stable name: ``phonemes_unknown`` (not syllables, or the voice lacks them), ``say_as_unknown`` (the text is
    no such thing), ``hint_misplaced`` (outside the text, empty, or over another hint)."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A segment as it will be spoken."""

    pieces: tuple[Piece, ...]
    units: tuple[Unit, ...]
    skipped: tuple[Skipped, ...] = field(default=())
    """Places in the text given to the front end, and the rules that leave them out. Every character is in the
    span of a unit or of a skip, or is white space or punctuation beside them."""
    refused: tuple[RefusedHint, ...] = field(default=())
    """Hints that could not be followed, in order."""

    @property
    def spoken(self) -> str:
        """The spoken form: all pieces joined."""
        return "".join(piece.spoken for piece in self.pieces)


class FrontEnd(Protocol):
    """Reads text of one language. Pure after construction, and safe to share between threads."""

    def read(self, text: str, hints: Sequence[Hint] = (), respelling: Respelling | None = None) -> Reading:
        """Normalise ``text`` (one segment, any characters) and give its pronunciation. Never raises on any text.

        Args:
            text: What to read.
            hints: How places in it are to be read, in order and without overlap. Each becomes one piece; what stands
                beside it is read with it in view.
            respelling: What of the spoken form is to be said otherwise; hinted places stay.
        """
        ...
