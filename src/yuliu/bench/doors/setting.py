"""What all parts of the bench share: how often, which voice, which texts, and how the server is started."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from yuliu.audio.formats import FORMATS
from yuliu.bench.doors.ways import DOORS, House
from yuliu.bench.process import SERVE, ServerProcess
from yuliu.bench.text import stream_lines
from yuliu.bench.texts import short_texts
from yuliu.synthesizer import load_voice
from yuliu.synthesizer import open as open_voices
from yuliu.voices import DEFAULT_VOICE, VoiceStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from yuliu.audio.formats import FormatName
    from yuliu.bench.doors.ways import DoorName
    from yuliu.engines.api import Engine
    from yuliu.synthesizer import Synthesizer
    from yuliu.types import Lang

TICKING = ("-m", "yuliu.bench.doors.ticking")
"""A server that tells for how long its loop was held, for ``python``."""


def _engines() -> dict[Lang, Engine]:
    return load_voice(VoiceStore(), DEFAULT_VOICE)


@dataclass(frozen=True, slots=True)
class Setting:
    """How a bench is run."""

    rounds: int = 9
    """That count, of each part; those that take long have a third of them."""
    voice: str = DEFAULT_VOICE
    texts: Mapping[Lang, Mapping[str, str]] = field(default_factory=short_texts)
    """By language and nominal number of characters: 12, 64 and 172 are spoken."""
    lines: Sequence[Mapping[str, Any]] = field(default_factory=stream_lines)
    """Texts as a language model writes them."""
    doors: Sequence[DoorName] = DOORS
    formats: Sequence[FormatName] = ("pcm", *(name for name in FORMATS if name != "pcm"))
    """PCM is among them: the others are compared with it."""
    open_synthesizer: Callable[[], Synthesizer] = open_voices
    open_engines: Callable[[], Mapping[Lang, Engine]] = _engines
    program: tuple[str, ...] = SERVE
    """The server, for ``python``."""
    ticking: tuple[str, ...] = TICKING
    progress: Callable[[str], None] = lambda _: None
    """Called with a line for people."""

    @property
    def few_rounds(self) -> int:
        """Of the parts that take long."""
        return max(1, self.rounds // 3)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a part is measured: a server, and beside it the library and the engines of this process, all warm."""

    house: House
    engines: Mapping[Lang, Engine]


@contextmanager
def opened(setting: Setting) -> Iterator[Place]:
    """A fresh server, for as long as the block lasts."""
    engines = setting.open_engines()
    try:
        with setting.open_synthesizer() as synthesizer, ServerProcess(program=setting.program) as server:
            yield Place(House(server.port, synthesizer, setting.voice), engines)
    finally:
        for engine in engines.values():
            engine.close()
