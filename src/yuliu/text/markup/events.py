"""Events of the markup reader. The sources of ``CleanText`` and ``Skipped`` tile the source, in order."""

from __future__ import annotations

from dataclasses import dataclass

from yuliu.types import Boundary, Hint, Mark, Skipped, Span, Style


@dataclass(frozen=True, slots=True)
class CleanText:
    """Clean text: that of the source, or a replacement for it."""

    text: str
    """Not empty."""
    source: Span
    """Source, not empty; as long as ``text`` where nothing was rewritten."""
    hint: Hint | None = None
    """Reading of the whole text, which must not be cut."""

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
    """End of a unit, whatever the marks before it say."""

    boundary: Boundary


@dataclass(frozen=True, slots=True)
class Pause:
    """Silence that the writer asked for, which also ends a unit."""

    pause_s: float


@dataclass(frozen=True, slots=True)
class Restyle:
    """Style of the following text."""

    style: Style


MarkupEvent = CleanText | Skipped | UnitEnd | Pause | Restyle | Mark
"""Event, in the order of the source."""
