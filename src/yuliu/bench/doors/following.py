"""How sound follows a text that is being written: how soon, how far behind, and where a listener waits. Pure.

Words used here: a segment is *certain* when its last needed character has been sent, be it the first one of what
follows it, or the end of the text, or when its writer has paused for so long that the server goes on without more.
It is *begun* when its first sound arrives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.bench.playback import Arrival, play

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.explanation import Explanation
    from yuliu.types import Span


@dataclass(frozen=True, slots=True)
class Written:
    """When a text was sent, seconds on any clock."""

    pieces_s: tuple[float, ...]
    """Each piece."""
    end_s: float
    """That there is no more."""
    stall_s: float
    """After such a pause a server goes on without waiting for more."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A part of the text begins to sound."""

    source: Span
    at_s: float
    """When its first sound arrived."""


@dataclass(frozen=True, slots=True)
class SoundPiece:
    """Some sound that arrived."""

    at_s: float
    num_bytes: int
    num_begun: int
    """Parts of the text that had begun with it; a pause belongs to the part behind it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One segment on its way."""

    certain_s: float
    begun_s: float

    @property
    def wait_s(self) -> float:
        """From its last needed character to its first sound; sound that waits for other sound waits longer."""
        return self.begun_s - self.certain_s


@dataclass(frozen=True, slots=True)
class Followed:
    """How the sound of one text followed it."""

    steps: tuple[Step, ...]
    """The segments that sounded, in order."""
    num_unforeseen: int
    """Parts that the server did not cut as expected: the end of what they speak counts as their last needed character,
    which is earlier than it may have been."""
    underrun_s: float
    """How long a listener who plays in real time from the first sound on stood silent for want of sound of a segment
    that was certain before that silence began."""
    silence_s: float
    """The same, with the time from when a segment was certain in a silence that had begun for want of text."""

    @property
    def num_behind(self) -> int:
        """The most segments by which sound was behind: at a moment at which segments become certain, one, and those
        of earlier moments that had not begun."""
        moments = sorted({step.certain_s for step in self.steps})
        late = (sum(step.certain_s < now < step.begun_s for step in self.steps) + 1 for now in moments)
        return max(late, default=0)


def certain_moments(explanation: Explanation, written: Written) -> list[tuple[Span, float]]:
    """Where the segments of a text are and when each was certain.

    Args:
        explanation: Of the text as it arrives in the same pieces.
        written: When they were sent.
    """
    found = []
    for segment in explanation.segments:
        emitted = segment.emitted
        if emitted is None or not segment.spoken:
            continue
        sent_s = written.pieces_s[emitted.delta]
        moments = {"text": sent_s, "stall": sent_s + written.stall_s, "end": written.end_s}
        found.append((segment.source, moments[emitted.by]))
    return found


def follow(
    pieces: Sequence[str],
    written: Written,
    expected: Sequence[tuple[Span, float]],
    begun: Sequence[Begun],
    sound: Sequence[SoundPiece],
    *,
    bytes_per_s: float,
) -> Followed:
    """Put together what was sent and what came.

    Args:
        pieces: Of the text.
        written: When they were sent.
        expected: The segments, as :func:`certain_moments` gives them.
        begun: The parts of the text that began to sound, in order.
        sound: All sound, in order.
        bytes_per_s: Of the sound.
    """
    found = [_segment_of(each, expected) for each in begun]
    certain_s = [
        _sent_s(each.source, pieces, written) if segment is None else segment[1]
        for each, segment in zip(begun, found, strict=True)
    ]
    underrun_s, silence_s = _silences(certain_s, sound, bytes_per_s)
    return Followed(_steps(begun, found, certain_s), found.count(None), underrun_s, silence_s)


def _segment_of(part: Begun, expected: Sequence[tuple[Span, float]]) -> tuple[Span, float] | None:
    """The segment that holds a part; None if none does, or if it was not certain yet when the part began to sound."""
    for span, at_s in expected:
        if span.start <= part.source.start and part.source.end <= span.end and at_s <= part.at_s:
            return span, at_s
    return None


def _sent_s(source: Span, pieces: Sequence[str], written: Written) -> float:
    """When the last character of a part was sent."""
    num_characters = 0
    for piece, at_s in zip(pieces, written.pieces_s, strict=True):
        num_characters += len(piece)
        if num_characters >= source.end:
            return at_s
    return written.end_s


def _steps(
    begun: Sequence[Begun], found: Sequence[tuple[Span, float] | None], certain_s: Sequence[float]
) -> tuple[Step, ...]:
    """Parts of one segment, such as its languages, are one step, which begins with the first of them."""
    steps: list[Step] = []
    before: tuple[Span, float] | None = None
    for part, segment, at_s in zip(begun, found, certain_s, strict=True):
        if segment is None or segment != before:
            steps.append(Step(at_s, part.at_s))
        before = segment
    return tuple(steps)


def _silences(certain_s: Sequence[float], sound: Sequence[SoundPiece], bytes_per_s: float) -> tuple[float, float]:
    played = play([Arrival(piece.at_s, piece.num_bytes) for piece in sound], bytes_per_s)
    underrun_s = silence_s = 0.0
    for went_on_s, still_s in played.stalls:
        piece = next(piece for piece in sound if piece.at_s == went_on_s)
        text_s, dry_s = certain_s[max(1, min(piece.num_begun, len(certain_s))) - 1], went_on_s - still_s
        silence_s += max(0.0, went_on_s - max(dry_s, text_s))
        underrun_s += still_s if text_s <= dry_s else 0.0
    return underrun_s, silence_s
