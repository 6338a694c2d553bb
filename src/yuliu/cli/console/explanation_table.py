"""Explanation as a table for a terminal, in which a Chinese character takes two columns."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import click

from yuliu.cli.console.columns import num_columns_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from yuliu.explanation import Explanation
    from yuliu.explanation.values import ExplainedSegment, SkippedSpan

_LABEL_COLUMNS = 12


def described(found: Explanation, *, num_columns: int) -> str:
    """Render an explanation, segment by segment.

    Args:
        found: Explanation to show.
        num_columns: Width of the terminal, columns.
    """
    lines: list[str] = []
    if found.reader.text != found.text:
        lines += _field("clean", _wrapped(visible(found.reader.text), num_columns - _LABEL_COLUMNS))
    lines += [line for segment in found.segments for line in _segment(segment, num_columns - _LABEL_COLUMNS)]
    if not found.segments:
        lines.append("nothing to speak")
    lines += _field("warning", found.reader.warnings)
    return "\n".join(lines)


def _segment(segment: ExplainedSegment, width: int) -> Iterator[str]:
    start, end = segment.source
    head = click.style(f"{start}-{end}".ljust(_LABEL_COLUMNS) + segment.lang, bold=True)
    if segment.emitted is not None:
        at = segment.emitted
        head += f"  by {at.by} after delta {at.delta}, {at.char} characters, {at.at_ms:g} ms"
    yield head
    yield from _field("text", _wrapped(visible(segment.text), width))
    if segment.spoken.strip() != segment.text.strip():
        yield from _field("spoken", _wrapped(visible(segment.spoken), width))
    if len(segment.spans) > 1:
        cells = [f"{span.lang} {visible(span.text.strip())}" for span in segment.spans]
        yield from _field("spans", _joined(cells, width, between=" | "))
    yield from _field("pinyin", _paired([(char, syllable) for _, char, syllable in segment.pinyin], width))
    yield from _field("phonemes", _joined(segment.phonemes, width, between=" "))
    yield from _field("lexicon", [_clipped(line, width) for line in _hits(segment)])
    yield from _field("skipped", _joined(_places(segment.skipped), width, between=", "))
    yield from _field("refused", _joined(_places(segment.refused), width, between=", "))


def _hits(segment: ExplainedSegment) -> Iterator[str]:
    for hit in segment.lexicon:
        alphabet = f" ({hit.alphabet})" if hit.alphabet else ""
        yield f"{hit.source[0]}-{hit.source[1]} {hit.text} -> {hit.reading}{alphabet}, from {hit.lexicon}"


def _places(skipped: Iterable[SkippedSpan]) -> list[str]:
    return [f"{skip.source[0]}-{skip.source[1]} {skip.rule}" for skip in skipped]


def _field(label: str, lines: Iterable[str]) -> Iterator[str]:
    for index, line in enumerate(lines):
        yield ("  " + label if index == 0 else "").ljust(_LABEL_COLUMNS) + line


def visible(text: str) -> str:
    """Return a text on one line, with replacements for control and other invisible characters."""
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char == "\n":
        return "⏎"
    return "�" if unicodedata.category(char) in ("Cc", "Cs", "Cf", "Zl", "Zp") else char


def _padded(text: str, width: int) -> str:
    return text + " " * (width - num_columns_of(text))


def _clipped(text: str, width: int) -> str:
    text = visible(text)
    return text if num_columns_of(text) <= width else _wrapped(text, width - 1)[0] + "…"


def _wrapped(text: str, width: int) -> list[str]:
    """Wrap a text to ``width`` columns, at spaces and between wide characters if possible."""
    lines: list[str] = []
    line, used = "", 0
    for piece in _pieces(text.strip(), width):
        size = num_columns_of(piece)
        if line and used + num_columns_of(piece.rstrip()) > width:
            lines.append(line.rstrip())
            line, used = "", 0
        line += piece
        used += size
    return [*lines, line.rstrip()] if line.strip() else lines


def _pieces(text: str, width: int) -> Iterator[str]:
    """Yield the unbreakable pieces: words with their trailing space, and single wide characters."""
    piece = ""
    for char in text:
        ends = piece[-1:].isspace() and not char.isspace()
        if piece and (ends or num_columns_of(char) == 2 or num_columns_of(piece[-1]) == 2 or len(piece) >= width):
            yield piece
            piece = ""
        piece += char
    yield piece


def _joined(cells: Sequence[str], width: int, *, between: str) -> list[str]:
    """Join cells into lines of at most ``width`` columns, broken between cells if possible."""
    lines: list[str] = []
    line = ""
    for cell in cells:
        longer = f"{line}{between}{cell}" if line else cell
        if line and num_columns_of(longer) > width:
            lines.append(line)
            line = cell
        else:
            line = longer
    return [piece for line in [*lines, line] for piece in _wrapped(line, width)]


def _paired(pairs: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Return pairs of lines with each character above its syllable."""
    lines: list[str] = []
    upper = lower = ""
    for above, below in pairs:
        size = max(num_columns_of(above), num_columns_of(below)) + 1
        if upper and num_columns_of(upper) + size > width + 1:
            lines += [upper.rstrip(), lower.rstrip()]
            upper = lower = ""
        upper += _padded(above, size)
        lower += _padded(below, size)
    return [*lines, upper.rstrip(), lower.rstrip()] if upper else lines
