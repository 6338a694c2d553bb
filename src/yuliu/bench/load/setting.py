"""What all parts of a load bench share: sizes, voices, and how the server is started."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from functools import lru_cache
from typing import IO, TYPE_CHECKING

from yuliu.bench.load.engine import EngineCost, engine_cost
from yuliu.bench.load.point import Shape, Timing
from yuliu.bench.load.texts import DEFAULT_SHARES, Shares, asks
from yuliu.bench.process import SERVE, ServerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    from yuliu.bench.load.texts import Ask

MIX: Shares = (("short", 5), ("paragraph", 3))
"""What the parts ask for where nothing else is said: so short that most listeners ask more than once."""
MAX_COSTED = 60
"""Texts that the engines alone speak at most."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How a bench is run."""

    voices: tuple[str, ...] = ("baker", "heart")
    timing: Timing = field(default_factory=Timing)
    streams: int = 0
    """Capacity, where it is known; 0 has it found."""
    requests: int = 20_000
    """Of the part ``flat``."""
    serve: tuple[str, ...] = ()
    """Options of the server."""
    program: tuple[str, ...] = SERVE
    """The server, for ``python``."""
    progress: Callable[[str], None] = lambda _: None
    """Called with a line for people."""

    def server(self, *, log: IO[bytes] | int | None = None) -> ServerProcess:
        """A fresh server; its log is thrown away where nobody takes it."""
        return ServerProcess(*self.serve, program=self.program, log=log)

    def shape(self, voice: str, *, streams: int = 0, rate_per_s: float = 0.0) -> Shape:
        """A load of one voice in the usual mix."""
        return Shape((voice,), streams, rate_per_s, MIX)

    def cost(self, voice: str) -> EngineCost:
        """Of the engines of a voice, for texts in the usual mix."""
        return cost_of((voice,), MIX)


@lru_cache
def cost_of(voices: tuple[str, ...], shares: Shares = DEFAULT_SHARES) -> EngineCost:
    """What the engines alone take for texts like those that will be asked for; measured once."""
    wanted: list[Ask] = list(itertools.islice(asks(voices, "cost", shares=shares), MAX_COSTED))
    return engine_cost(wanted)
