"""Lag of the audio behind a text that is still being written, and the silences that a listener hears. Pure.

A segment is *complete* when its last needed character has been sent: the first character of what follows, the end of
the text, or a pause of the writer after which the server goes on without more. It *starts* when its first audio
arrives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.bench.playback import ChunkArrival, simulate_playback

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.explanation import Explanation
    from yuliu.types import Span


@dataclass(frozen=True, slots=True)
class SendTimes:
    """The times at which a text was sent, seconds on any clock."""

    tokens_s: tuple[float, ...]
    """Time of each token."""
    end_s: float
    """Time at which the text was ended."""
    stall_s: float
    """Pause after which a server goes on without more text."""


@dataclass(frozen=True, slots=True)
class PartStart:
    """The start of the audio for a part of the text."""

    source: Span
    at_s: float
    """TimedDelta of its first audio."""


@dataclass(frozen=True, slots=True)
class AudioPiece:
    """A piece of audio that arrived."""

    at_s: float
    num_bytes: int
    num_started: int
    """Parts of the text that had started with it; a pause belongs to the part behind it."""


@dataclass(frozen=True, slots=True)
class SegmentTimes:
    """The times of one segment."""

    complete_s: float
    start_s: float

    @property
    def wait_s(self) -> float:
        """Time from its last needed character to its first audio, including the wait for earlier audio."""
        return self.start_s - self.complete_s


@dataclass(frozen=True, slots=True)
class TokenLag:
    """The lag of the audio of one text."""

    segments: tuple[SegmentTimes, ...]
    """Segments that were heard, in order."""
    num_unexpected: int
    """Parts that the server did not cut as expected: the end of their text counts as their last needed character,
    which is earlier than it may have been."""
    underrun_s: float
    """Silence of a listener in real time that began when the segment after it was complete."""
    silence_s: float
    """The same, plus the time after the segment was complete of silences that began for lack of text."""

    @property
    def num_behind(self) -> int:
        """Maximum number of complete segments that had not started when one became complete, that one included."""
        moments = sorted({segment.complete_s for segment in self.segments})
        counts = (sum(segment.complete_s < now < segment.start_s for segment in self.segments) + 1 for now in moments)
        return max(counts, default=0)


def completion_times(explanation: Explanation, sent: SendTimes) -> list[tuple[Span, float]]:
    """Return each segment's place in the text and the time at which it was complete.

    Args:
        explanation: Explanation of the text as it arrives in the same tokens.
        sent: The times at which they were sent.
    """
    found = []
    for segment in explanation.segments:
        emitted = segment.emitted
        if emitted is None or not segment.spoken:
            continue
        sent_s = sent.tokens_s[emitted.delta]
        moments = {"text": sent_s, "stall": sent_s + sent.stall_s, "end": sent.end_s}
        found.append((segment.source, moments[emitted.by]))
    return found


def token_lag(
    tokens: Sequence[str],
    sent: SendTimes,
    expected: Sequence[tuple[Span, float]],
    starts: Sequence[PartStart],
    audio: Sequence[AudioPiece],
    *,
    bytes_per_s: float,
) -> TokenLag:
    """Compare the text that was sent with the audio that arrived.

    Args:
        tokens: Tokens of the text.
        sent: The times at which they were sent.
        expected: Segments as :func:`completion_times` returns them.
        starts: Starts of the parts of the text, in order.
        audio: All audio, in order.
        bytes_per_s: Bytes in a second of the audio.
    """
    found = [_segment_of(each, expected) for each in starts]
    complete_s = [
        _sent_s(each.source, tokens, sent) if segment is None else segment[1]
        for each, segment in zip(starts, found, strict=True)
    ]
    underrun_s, silence_s = _silences(complete_s, audio, bytes_per_s)
    return TokenLag(_segment_times(starts, found, complete_s), found.count(None), underrun_s, silence_s)


def _segment_of(part: PartStart, expected: Sequence[tuple[Span, float]]) -> tuple[Span, float] | None:
    """Return the segment that contains a part; None if there is none or it was not complete when the part started."""
    for span, at_s in expected:
        if span.start <= part.source.start and part.source.end <= span.end and at_s <= part.at_s:
            return span, at_s
    return None


def _sent_s(source: Span, tokens: Sequence[str], sent: SendTimes) -> float:
    """Return the time at which the last character of a part was sent."""
    num_characters = 0
    for token, at_s in zip(tokens, sent.tokens_s, strict=True):
        num_characters += len(token)
        if num_characters >= source.end:
            return at_s
    return sent.end_s


def _segment_times(
    starts: Sequence[PartStart], found: Sequence[tuple[Span, float] | None], complete_s: Sequence[float]
) -> tuple[SegmentTimes, ...]:
    """Merge the parts of one segment, such as its languages; it starts with the first of them."""
    times: list[SegmentTimes] = []
    before: tuple[Span, float] | None = None
    for part, segment, at_s in zip(starts, found, complete_s, strict=True):
        if segment is None or segment != before:
            times.append(SegmentTimes(at_s, part.at_s))
        before = segment
    return tuple(times)


def _silences(complete_s: Sequence[float], audio: Sequence[AudioPiece], bytes_per_s: float) -> tuple[float, float]:
    played = simulate_playback([ChunkArrival(piece.at_s, piece.num_bytes) for piece in audio], bytes_per_s)
    underrun_s = silence_s = 0.0
    for resumed_s, length_s in played.stalls:
        piece = next(piece for piece in audio if piece.at_s == resumed_s)
        text_s = complete_s[max(1, min(piece.num_started, len(complete_s))) - 1]
        dry_s = resumed_s - length_s
        silence_s += max(0.0, resumed_s - max(dry_s, text_s))
        underrun_s += length_s if text_s <= dry_s else 0.0
    return underrun_s, silence_s
