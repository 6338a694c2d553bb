"""Yuliu (语流): streaming text-to-speech in Mandarin, English and both mixed.

import yuliu

with yuliu.open() as synthesizer:
    synthesizer.speak("你好，world.").save("hello.wav")
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from yuliu.audio.chain import Effects
    from yuliu.audio.compressor import Compression
    from yuliu.errors import YuliuError
    from yuliu.explanation import Explanation, explain
    from yuliu.scheduler.policy.events import Terms
    from yuliu.segmenter import Chunking, SegmenterOptions
    from yuliu.stream import Stream, StreamLimits, StreamOptions, Timeline, options_of
    from yuliu.synthesizer import Audio, Synthesizer, open  # noqa: A004
    from yuliu.text.lexicon import Entry
    from yuliu.text.markup import MarkupOptions
    from yuliu.types import (
        Cancelled,
        Chunk,
        Coverage,
        Failed,
        Finished,
        Heard,
        Mark,
        SpeakOptions,
        StreamClass,
        Timing,
    )

# onnxruntime sends telemetry unless this is set before its import. Yuliu sends none.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

__all__ = (
    "Audio",
    "Cancelled",
    "Chunk",
    "Chunking",
    "Compression",
    "Coverage",
    "Effects",
    "Entry",
    "Explanation",
    "Failed",
    "Finished",
    "Heard",
    "Mark",
    "MarkupOptions",
    "SegmenterOptions",
    "SpeakOptions",
    "Stream",
    "StreamClass",
    "StreamLimits",
    "StreamOptions",
    "Synthesizer",
    "Terms",
    "Timeline",
    "Timing",
    "YuliuError",
    "explain",
    "open",
    "options_of",
)

_HOMES = {
    "yuliu.audio.chain": ("Effects",),
    "yuliu.audio.compressor": ("Compression",),
    "yuliu.errors": ("YuliuError",),
    "yuliu.explanation": ("Explanation", "explain"),
    "yuliu.scheduler.policy.events": ("Terms",),
    "yuliu.segmenter": ("Chunking", "SegmenterOptions"),
    "yuliu.stream": ("Stream", "StreamLimits", "StreamOptions", "Timeline", "options_of"),
    "yuliu.synthesizer": ("Audio", "Synthesizer", "open"),
    "yuliu.text.lexicon": ("Entry",),
    "yuliu.text.markup": ("MarkupOptions",),
    "yuliu.types": (
        "Cancelled",
        "Chunk",
        "Coverage",
        "Failed",
        "Finished",
        "Heard",
        "Mark",
        "SpeakOptions",
        "StreamClass",
        "Timing",
    ),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - the type depends on the name
    """Import a public name at its first use, so that ``import yuliu`` and ``yuliu --help`` load no model library."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module 'yuliu' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
