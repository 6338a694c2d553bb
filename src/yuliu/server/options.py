"""From what a request asks for to the options of its stream."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from yuliu.presets import resolve
from yuliu.scheduler.events import Terms
from yuliu.session import StreamOptions
from yuliu.types import SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.presets import Preset
    from yuliu.wire.openai import SpeechRequest


def stream_options(request: SpeechRequest, presets: Mapping[str, Preset]) -> StreamOptions:
    """The options of a stream whose text is there as a whole.

    Raises:
        InvalidRequest: There is no such preset, or what is to replace a field of it is wrong; ``param`` names it.
    """
    manner = request.manner
    preset = resolve(manner.preset, manner.overrides, known=presets)
    return StreamOptions(
        speak=SpeakOptions(speed=request.speed, seed=manner.seed),
        segmenter=preset.chunking.options(),
        terms=Terms(preset.stream_class, manner.weight, preset.max_lead_s),
        lexicon=request.lexicon,
        lexicon_entries=request.lexicon_entries,
        stall_s=math.inf,  # all of the text is there: no sentence is cut because its turn comes late
    )
