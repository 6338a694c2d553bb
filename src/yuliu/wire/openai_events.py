"""Speech as server-sent events: the body of an answer to ``stream_format: "sse"``.

Source: OpenAI's API reference, ``speech.audio.delta`` and ``speech.audio.done``. It says neither what an error amid the
sound looks like nor how long an event may be; here

- ``{"type": "error", "error": {...}}`` is the last event of a sound that is not whole, in the envelope of all other
  errors (OpenAI's clients raise on the key ``error``); the body then has no proper end, for those who pass over it;
- ``speech.audio.done`` tells in ``skipped`` how many characters were left out, by the rules that say so: a listener
  cannot know of a sentence in a language that the voice does not speak. Counts, since places have no bound;
- an event is shorter than the 64 KiB that some readers of lines take.
"""

from __future__ import annotations

import json
import math
from base64 import b64encode
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.types import Coverage
    from yuliu.wire.problems import Problem

MEDIA_TYPE = "text/event-stream"
MAX_SOUND_BYTES = 24_000
"""Sound in one event: 32,000 characters in base64. A multiple of three, so that only the last event of a larger piece
is padded."""
TOKENS_PER_S = 20
"""A token of sound is 50 ms."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of a request. There are no tokens here, so these are counts that bills can be checked by."""

    input_tokens: int
    """Characters (code points) of the text."""
    output_tokens: int
    """Twentieths of a second of sound, rounded up."""


def usage_of(num_characters: int, audio_s: float) -> Usage:
    """Return the usage of a text and its sound."""
    return Usage(num_characters, math.ceil(round(audio_s * TOKENS_PER_S, 6)))


def skipped_characters(coverage: Coverage) -> dict[str, int]:
    """Return the number of characters of a text that were not spoken, by rule; empty if all were."""
    counts: Counter[str] = Counter()
    for skipped in coverage.skipped:
        counts[skipped.rule] += skipped.source.end - skipped.source.start
    return dict(sorted(counts.items()))


def sound_events(sound: bytes) -> bytes:
    """Return the events that carry encoded sound, in order."""
    starts = range(0, len(sound), MAX_SOUND_BYTES)
    return b"".join(_delta(sound[start : start + MAX_SOUND_BYTES]) for start in starts)


def done_event(usage: Usage, skipped: Mapping[str, int]) -> bytes:
    """Return the last event of a complete sound.

    Args:
        usage: What it took.
        skipped: What of the text is not in it: characters by rule.
    """
    total = usage.input_tokens + usage.output_tokens
    counts = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens, "total_tokens": total}
    return _event({"type": "speech.audio.done", "usage": counts, "skipped": dict(skipped)})


def error_event(problem: Problem) -> bytes:
    """Return the last event of an incomplete sound."""
    return _event({"type": "error", **json.loads(problem.body())})


def _delta(sound: bytes) -> bytes:
    return b'data: {"type":"speech.audio.delta","audio":"' + b64encode(sound) + b'"}\n\n'


def _event(value: object) -> bytes:
    return b"data: " + json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n\n"
