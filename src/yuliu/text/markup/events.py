"""What the reader makes of a text. The sources of ``CleanText`` and ``Skipped`` tile the source, in order."""

from __future__ import annotations

from dataclasses import dataclass

from yuliu.types import Boundary, Hint, Mark, Skipped, Span, Style


@dataclass(frozen=True, slots=True)
class CleanText:
    """Clean text: what stands in the source, or what is said for it."""

    text: str
    """Not empty."""
    source: Span
    """What it speaks for; not empty. As long as ``text`` where nothing was rewritten."""
    hint: Hint | None = None
    """How all of it is to be read; its span is the whole text. Such a text must not be cut."""

    @property
    def origins(self) -> range | list[int]:
        """Source offset of each character; a rewriting is spread over its source."""
        start, end = self.source
        length, wide = len(self.text), end - start
        if length == wide:
            return range(start, end)
        return [start + index * wide // length for index in range(length)]


@dataclass(frozen=True, slots=True)
class UnitEnd:
    """A unit ends here, whatever the marks before it say."""

    boundary: Boundary


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence that the writer asked for; a unit ends here."""

    pause_s: float


@dataclass(frozen=True, slots=True)
class Restyle:
    """What follows is spoken in this style."""

    style: Style


MarkupEvent = CleanText | Skipped | UnitEnd | Pause | Restyle | Mark
"""In the order of the source."""
