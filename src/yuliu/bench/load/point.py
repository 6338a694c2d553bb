"""One point: a load of some shape against a server for some time, and its figures."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from yuliu.bench.load.crowd import Crowd, arrival_times, closed_loop, open_loop
from yuliu.bench.load.figures import Window, cpu_ratio, crowd_figures
from yuliu.bench.load.gauge import Gauge
from yuliu.bench.load.texts import DEFAULT_SHARES, Shares
from yuliu.bench.load.texts import asks as draw_asks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.bench.load.engine import EngineCost
    from yuliu.bench.load.listener import Outcome
    from yuliu.bench.load.texts import Ask
    from yuliu.bench.process import Running

T = TypeVar("T")
Drive = Callable[[Crowd, float], Awaitable[None]]
"""Lets a crowd ask until a moment by :func:`time.perf_counter`."""


@dataclass(frozen=True, slots=True)
class Timing:
    """How long a load lasts."""

    seconds: float = 15.0
    """That count."""
    warm_up_s: float = 5.0
    """Before it: the listeners come one after the other, and nothing counts."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a load is made of: so many players (``streams``), or so many arrivals a second (``rate``)."""

    voices: tuple[str, ...]
    streams: int = 0
    rate_per_s: float = 0.0
    shares: Shares = DEFAULT_SHARES
    stream_class: str | None = None
    paced: bool = True
    """Whether players ask again when they have played what they got, or as soon as it has arrived."""
    seed: str = "load"

    def drive(self, timing: Timing) -> Drive:
        """The load as something that can be let loose."""

        async def players(crowd: Crowd, until_s: float) -> None:
            wanted = [self.asks(f"{self.seed} {self.streams} {number}") for number in range(self.streams)]
            await closed_loop(crowd, wanted, ramp_s=timing.warm_up_s, until_s=until_s, paced=self.paced)

        async def arrivals(crowd: Crowd, until_s: float) -> None:
            moments = arrival_times(self.rate_per_s, timing.warm_up_s + timing.seconds, self.seed)
            await open_loop(crowd, self.asks(f"{self.seed} {self.rate_per_s}"), moments, until_s=until_s)

        return players if self.streams else arrivals

    def asks(self, seed: str) -> Iterator[Ask]:
        """What a listener asks for, one after the other."""
        return draw_asks(self.voices, seed, shares=self.shares, stream_class=self.stream_class)


@dataclass(frozen=True, slots=True)
class Observed:
    """What was seen while crowds asked a server."""

    window: Window
    machine: dict[str, Any]
    """Figures of :class:`Gauge` over the window."""
    outcomes: Mapping[str, list[Outcome]]
    """By the name of the crowd."""

    def figures(self, name: str) -> dict[str, Any]:
        """Of one crowd."""
        return crowd_figures(self.outcomes[name], self.window)


def observe(server: Running, timing: Timing, drives: Mapping[str, Drive]) -> Observed:
    """Let crowds loose on a server and watch it meanwhile."""
    return run(_observe(server, timing, drives, Gauge(server.pid)))


async def _observe(server: Running, timing: Timing, drives: Mapping[str, Drive], gauge: Gauge) -> Observed:
    crowds = {name: Crowd(server.port) for name in drives}
    until_s = time.perf_counter() + timing.warm_up_s + timing.seconds
    watching = asyncio.create_task(gauge.watch())
    async with asyncio.TaskGroup() as tasks:
        for name, drive in drives.items():
            tasks.create_task(_awaited(drive(crowds[name], until_s)))
        await asyncio.sleep(timing.warm_up_s)
        start = await asyncio.to_thread(gauge.read)
        await asyncio.sleep(max(0.0, until_s - time.perf_counter()))
        end = await asyncio.to_thread(gauge.read)
    watching.cancel()
    outcomes = {name: crowd.outcomes for name, crowd in crowds.items()}
    return Observed(Window(start.at_s, end.at_s), gauge.between(start, end), outcomes)


async def _awaited(driving: Awaitable[None]) -> None:
    await driving


def measure_point(server: Running, shape: Shape, timing: Timing, cost: EngineCost) -> dict[str, Any]:
    """A load of some shape, and what came of it: the figures that ``--json`` promises."""
    observed = observe(server, timing, {"load": shape.drive(timing)})
    felt = observed.figures("load")
    machine = observed.machine
    return {
        "streams": shape.streams,
        "rate_per_s": round(shape.rate_per_s, 3),
        "voices": list(shape.voices),
        **machine,
        **felt,
        "engine_cpu_s_per_audio_s": round(cost.alone, 5),
        "engine_cpu_s_per_audio_s_all_cores": round(cost.all_cores, 5),
        "cpu_ratio": cpu_ratio(machine["server_cpu_s"], felt["audio_s"], cost.alone),
        "cpu_ratio_all_cores": cpu_ratio(machine["server_cpu_s"], felt["audio_s"], cost.all_cores),
    }


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run on the lightest event loop that there is: the load generator shares the cores with the server."""
    try:
        from uvloop import new_event_loop
    except ImportError:  # there is none for Windows
        return asyncio.run(work)
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        return runner.run(work)
