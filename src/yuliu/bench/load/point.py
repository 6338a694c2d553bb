"""One point: a load of some shape on a server for some time, and its figures."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import IO, TYPE_CHECKING, Any

from yuliu.bench.client import run
from yuliu.bench.engine_cost import EngineCost, engine_cost
from yuliu.bench.load.figures import MeasurementWindow, cpu_ratio, load_figures
from yuliu.bench.load.generator import LoadGenerator, arrival_times, closed_loop, open_loop
from yuliu.bench.load.monitor import ResourceMonitor
from yuliu.bench.report import started_report
from yuliu.bench.server_process import SERVE, ServerProcess
from yuliu.bench.texts import DEFAULT_SHARES, LengthShares, LoadRequest, draw_requests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.bench.client import HttpResult
    from yuliu.bench.server_process import ServerHandle

MIX: LengthShares = (("short", 5), ("paragraph", 3))
"""Texts of the searches: short enough that clients usually send more than one request."""
MAX_COSTED = 60
"""Maximum number of texts for which the engines are measured alone."""
LoadDriver = Callable[[LoadGenerator, float], Awaitable[None]]
"""Drives a generator until a time by :func:`time.perf_counter`."""


@dataclass(frozen=True, slots=True)
class LoadTiming:
    """Duration of a load."""

    seconds: float = 15.0
    """Measured time."""
    warm_up_s: float = 5.0
    """Time before it in which the clients start one after the other and nothing is measured."""


@dataclass(frozen=True, slots=True)
class LoadShape:
    """A number of players (``streams``), or a rate of arrivals (``rate_per_s``)."""

    voices: tuple[str, ...]
    streams: int = 0
    rate_per_s: float = 0.0
    shares: LengthShares = DEFAULT_SHARES
    stream_class: str | None = None
    paced: bool = True
    """True if players send the next request once the audio has been played, false if as soon as it has arrived."""
    seed: str = "load"

    def driver(self, timing: LoadTiming) -> LoadDriver:
        """Return the load as a driver."""

        async def players(generator: LoadGenerator, until_s: float) -> None:
            requests = [self.requests(f"{self.seed} {self.streams} {number}") for number in range(self.streams)]
            await closed_loop(generator, requests, ramp_s=timing.warm_up_s, until_s=until_s, paced=self.paced)

        async def arrivals(generator: LoadGenerator, until_s: float) -> None:
            moments = arrival_times(self.rate_per_s, timing.warm_up_s + timing.seconds, self.seed)
            await open_loop(generator, self.requests(f"{self.seed} {self.rate_per_s}"), moments, until_s=until_s)

        return players if self.streams else arrivals

    def requests(self, seed: str) -> Iterator[LoadRequest]:
        """Yield the requests of a client."""
        return draw_requests(self.voices, seed, shares=self.shares, stream_class=self.stream_class)


@dataclass(frozen=True, slots=True)
class LoadConfig:
    """Voices, duration and server of a measurement under load."""

    voices: tuple[str, ...] = ("baker", "heart")
    timing: LoadTiming = field(default_factory=LoadTiming)
    serve: tuple[str, ...] = ()
    """Options of the server."""
    program: tuple[str, ...] = SERVE
    """Server to start, as arguments of ``python``."""
    progress: Callable[[str], None] = lambda _: None
    """Receives lines for people."""

    def server(self, *, log: IO[bytes] | int | None = None) -> ServerProcess:
        """Return a fresh server; without a destination its log is discarded."""
        return ServerProcess(*self.serve, program=self.program, log=log)

    def shape(self, voice: str, *, streams: int = 0, rate_per_s: float = 0.0) -> LoadShape:
        """Return a load of one voice in the usual mix."""
        return LoadShape((voice,), streams, rate_per_s, MIX)

    def cost(self, voice: str) -> EngineCost:
        """Return the cost of a voice's engines for texts in the usual mix."""
        return cost_of((voice,), MIX)


@lru_cache
def cost_of(voices: tuple[str, ...], shares: LengthShares = DEFAULT_SHARES) -> EngineCost:
    """Return the cost of the engines alone for texts like those of the load; measured once."""
    requests: list[LoadRequest] = list(itertools.islice(draw_requests(voices, "cost", shares=shares), MAX_COSTED))
    return engine_cost(requests)


@dataclass(frozen=True, slots=True)
class LoadObservation:
    """Results and resource usage of some loads on one server."""

    window: MeasurementWindow
    machine: dict[str, Any]
    """Figures of :class:`ResourceMonitor` over the window."""
    results: Mapping[str, list[HttpResult]]
    """Results by the name of the load."""

    def figures(self, name: str) -> dict[str, Any]:
        """Return the figures of one load."""
        return load_figures(self.results[name], self.window)


def observe(server: ServerHandle, timing: LoadTiming, drivers: Mapping[str, LoadDriver]) -> LoadObservation:
    """Run loads against a server and monitor it meanwhile."""
    return run(_observe(server, timing, drivers, ResourceMonitor(server.pid)))


async def _observe(
    server: ServerHandle, timing: LoadTiming, drivers: Mapping[str, LoadDriver], monitor: ResourceMonitor
) -> LoadObservation:
    generators = {name: LoadGenerator(server.port) for name in drivers}
    until_s = time.perf_counter() + timing.warm_up_s + timing.seconds
    watching = asyncio.create_task(monitor.watch())
    async with asyncio.TaskGroup() as tasks:
        for name, driver in drivers.items():
            tasks.create_task(_awaited(driver(generators[name], until_s)))
        await asyncio.sleep(timing.warm_up_s)
        start = await asyncio.to_thread(monitor.sample)
        await asyncio.sleep(max(0.0, until_s - time.perf_counter()))
        end = await asyncio.to_thread(monitor.sample)
    watching.cancel()
    results = {name: generator.results for name, generator in generators.items()}
    return LoadObservation(MeasurementWindow(start.at_s, end.at_s), monitor.between(start, end), results)


async def _awaited(driving: Awaitable[None]) -> None:
    await driving


def measure_point(server: ServerHandle, shape: LoadShape, timing: LoadTiming, cost: EngineCost) -> dict[str, Any]:
    """Run a load of some shape and return the figures that ``--json`` promises."""
    observed = observe(server, timing, {"load": shape.driver(timing)})
    figures = observed.figures("load")
    machine = observed.machine
    return {
        "streams": shape.streams,
        "rate_per_s": round(shape.rate_per_s, 3),
        "voices": list(shape.voices),
        **machine,
        **figures,
        "engine_cpu_s_per_audio_s": round(cost.alone, 5),
        "engine_cpu_s_per_audio_s_all_cores": round(cost.all_cores, 5),
        "cpu_ratio": cpu_ratio(machine["server_cpu_s"], figures["audio_s"], cost.alone),
        "cpu_ratio_all_cores": cpu_ratio(machine["server_cpu_s"], figures["audio_s"], cost.all_cores),
    }


def run_point(config: LoadConfig, shape: LoadShape, command: str) -> dict[str, Any]:
    """Run one load on a fresh server and return its report."""
    report = started_report(command)
    cost = cost_of(shape.voices, shape.shares)
    config.progress(f"the engines alone: {cost.alone:.4f} CPU s per audio s")
    with config.server() as server:
        return measure_point(server, shape, config.timing, cost) | report
