"""One stream: deltas -> markup -> segmenter -> scheduler -> joined chunks. The only place where these are composed.

``stream`` holds the class and ``options`` its options; ``text_pipeline`` turns text into parts, ``routes`` finds their
engines, ``joiner`` makes one audio of them; ``playback`` tracks the listener, ``timeouts`` and ``timer`` the time
limits, ``coverage`` the fate of each character, ``timeline`` and ``telemetry`` the history of the stream.
"""

from yuliu.stream.options import (
    MAX_LEAD_IN_MS,
    MAX_PENDING_PARTS,
    StreamLimits,
    StreamOptions,
    check_effects,
    check_lang,
    options_of,
)
from yuliu.stream.routes import VoiceRoute
from yuliu.stream.stream import Stream
from yuliu.stream.telemetry import StreamContext
from yuliu.stream.timeline import Caller, StreamMetrics, Timeline, report_of

__all__ = (
    "MAX_LEAD_IN_MS",
    "MAX_PENDING_PARTS",
    "Caller",
    "Stream",
    "StreamContext",
    "StreamLimits",
    "StreamMetrics",
    "StreamOptions",
    "Timeline",
    "VoiceRoute",
    "check_effects",
    "check_lang",
    "options_of",
    "report_of",
)
