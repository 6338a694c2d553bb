"""One stream: deltas -> reader -> segmenter -> scheduler -> joined chunks. The only place where the parts are composed.

``stream`` holds the class; ``options`` what it is told, ``intake`` the way of the text, ``hearing`` what the listener
has heard, ``patience`` when somebody took too long, ``diary`` and ``timeline`` what happened when, ``report`` what is
told of it.
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
from yuliu.stream.routes import Route
from yuliu.stream.stream import Stream
from yuliu.stream.telemetry import StreamContext
from yuliu.stream.timeline import Caller, StreamMetrics, Timeline, report_of

__all__ = (
    "MAX_LEAD_IN_MS",
    "MAX_PENDING_PARTS",
    "Caller",
    "Route",
    "Stream",
    "StreamContext",
    "StreamLimits",
    "StreamMetrics",
    "StreamOptions",
    "Timeline",
    "check_effects",
    "check_lang",
    "options_of",
    "report_of",
)
