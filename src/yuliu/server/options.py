"""From what a request asks for to the options of its stream."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from yuliu.presets import resolve
from yuliu.scheduler.events import Terms
from yuliu.session import StreamLimits, StreamOptions, options_of
from yuliu.types import SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.presets import Preset
    from yuliu.server.limits import Limits
    from yuliu.wire.openai import SpeechRequest


def stream_options(request: SpeechRequest, presets: Mapping[str, Preset], limits: Limits) -> StreamOptions:
    """The options of a stream whose text is there as a whole.

    A reader that takes nothing is cut off by its connection, which alone sees what was sent, and which wakes whoever
    waits to send: the stream has no limit of its own for that.

    Raises:
        InvalidRequest: There is no such preset, or what is to replace a field of it is wrong; ``param`` names it.
    """
    manner = request.manner
    base = StreamOptions(
        speak=SpeakOptions(speed=request.speed, seed=manner.seed),
        terms=Terms(weight=manner.weight),
        lead_in_ms=manner.lead_in_ms,
        limits=StreamLimits(total_s=limits.stream_s),
        lexicon=request.lexicon,
        lexicon_entries=request.lexicon_entries,
        stall_s=math.inf,  # all of the text is there: no sentence is cut because its turn comes late
    )
    return options_of(resolve(manner.preset, manner.overrides, known=presets), base)
