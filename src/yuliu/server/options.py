"""From what a request asks for to the options of its stream."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from yuliu.presets import resolve
from yuliu.scheduler.policy.events import Terms
from yuliu.stream import StreamLimits, StreamOptions, options_of
from yuliu.types import SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.presets import Preset
    from yuliu.server.limits import Limits
    from yuliu.wire.native.messages import Start
    from yuliu.wire.openai import SpeechRequest


def stream_options(request: SpeechRequest, presets: Mapping[str, Preset], limits: Limits) -> StreamOptions:
    """The options of a stream whose text is there as a whole.

    A reader that takes nothing is cut off by its connection, which alone sees what was sent, and which wakes whoever
    waits to send: the stream has no limit of its own for that.

    Raises:
        InvalidRequest: There is no such preset, or what is to replace a field of it is wrong; ``param`` names it.
    """
    options = _options(request, presets, StreamLimits(total_s=limits.stream_s))
    return replace(options, stall_s=math.inf)  # all of the text is there: no sentence is cut as its turn comes late


def native_options(start: Start, presets: Mapping[str, Preset], limits: Limits) -> StreamOptions:
    """The options of a stream whose text comes while it is written.

    Raises:
        InvalidRequest: There is no such preset, or what is to replace a field of it is wrong; ``param`` names it.
    """
    return _options(start, presets, StreamLimits(idle_text_s=limits.native.idle_text_s, total_s=limits.stream_s))


def _options(asked: SpeechRequest | Start, presets: Mapping[str, Preset], limits: StreamLimits) -> StreamOptions:
    manner = asked.manner
    base = StreamOptions(
        speak=SpeakOptions(speed=asked.speed, seed=manner.seed),
        terms=Terms(weight=manner.weight),
        lead_in_ms=manner.lead_in_ms,
        lang=manner.language,
        effects=manner.effects,
        limits=limits,
        lexicon=asked.lexicon,
        lexicon_entries=asked.lexicon_entries,
    )
    return options_of(resolve(manner.preset, manner.overrides, known=presets), base)
