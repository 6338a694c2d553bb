"""Load generator: a closed loop of players, or an open loop of arrivals."""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING

from yuliu.bench.client import HttpExchange, json_request

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from yuliu.bench.client import HttpRequest, HttpResult
    from yuliu.bench.texts import LoadRequest

FIRST_BYTE_GRACE_S = 5.0
RETRY_S = 1.0
"""Delay before a refused player asks again if the server names none."""


def speech_request(request: LoadRequest) -> HttpRequest:
    """Return the request for headerless samples, so that the first byte of the body is audio."""
    fields = {"model": "yuliu", "input": request.text, "voice": request.voice, "response_format": "pcm"}
    headers = {}
    if request.stream_class is not None:
        fields["class"] = headers["X-Yuliu-Class"] = request.stream_class
    return json_request("/v1/audio/speech", fields, headers)


class LoadGenerator:
    """All clients of a server on a loopback port.

    Args:
        port: Port of the server.
        grace_s: Time given at the end to clients without any audio; one that still has none has failed.
    """

    def __init__(self, port: int, *, grace_s: float = FIRST_BYTE_GRACE_S) -> None:
        self.results: list[HttpResult] = []
        """Results of the exchanges that are over, in the order in which they ended."""
        self._port = port
        self._grace_s = grace_s
        self._live: set[HttpExchange] = set()
        self._stopping = asyncio.Event()

    async def request(self, request: LoadRequest, *, keep: bool = False) -> HttpResult:
        """Send a request and listen to the end, or until :meth:`stop`."""
        exchange = HttpExchange(speech_request(request), keep=keep)
        self._live.add(exchange)
        try:
            await exchange.connect(self._port)
            await exchange.done
        finally:
            exchange.cut()
            self._live.discard(exchange)
        self.results.append(exchange.result)
        return self.results[-1]

    async def request_until_accepted(self, request: LoadRequest, *, keep: bool = False) -> tuple[HttpResult, int]:
        """Retry as the server asks while it refuses; return the result and the number of refusals."""
        refusals = 0
        while (result := await self.request(request, keep=keep)).rejected:
            refusals += 1
            await self._rest(result.retry_after_s or RETRY_S)
        return result, refusals

    async def request_first_byte(self, request: LoadRequest) -> HttpResult:
        """Send a request and leave at the first byte of audio."""
        exchange = HttpExchange(speech_request(request))
        await exchange.connect(self._port)
        await exchange.first_byte
        exchange.cut()
        await exchange.done
        self.results.append(exchange.result)
        return self.results[-1]

    async def play(
        self, requests: Iterator[LoadRequest], *, after_s: float, until_s: float, paced: bool = True
    ) -> None:
        """Run a player: it sends its next request when the audio has been played (or, not paced, has arrived).

        Args:
            requests: Requests of the player.
            after_s: Delay before the first one, seconds.
            until_s: Time of the last one, by :func:`time.perf_counter`.
            paced: Whether it plays in real time.
        """
        await asyncio.sleep(after_s)
        while time.perf_counter() < until_s and not self._stopping.is_set():
            result = await self.request(next(requests))
            if not result.completed:
                await self._rest(result.retry_after_s or RETRY_S)
            elif paced:
                await self._rest(result.sent_at_s + result.playback.ends_at_s - time.perf_counter())

    async def stop(self) -> None:
        """Cut all exchanges, after some grace for those without any audio."""
        waiting = [exchange.first_byte for exchange in self._live]
        if waiting:
            await asyncio.wait(waiting, timeout=self._grace_s)
        self._stopping.set()
        for exchange in tuple(self._live):
            exchange.cut()

    async def _rest(self, rest_s: float) -> None:
        if rest_s > 0:
            try:
                async with asyncio.timeout(rest_s):
                    await self._stopping.wait()
            except TimeoutError:
                pass


async def closed_loop(
    generator: LoadGenerator,
    players: Sequence[Iterator[LoadRequest]],
    *,
    ramp_s: float,
    until_s: float,
    paced: bool = True,
) -> None:
    """Run players that start within ``ramp_s`` and send requests until ``until_s``; see :meth:`LoadGenerator.play`."""
    async with asyncio.TaskGroup() as tasks:
        for number, requests in enumerate(players):
            after_s = ramp_s * number / len(players)
            tasks.create_task(generator.play(requests, after_s=after_s, until_s=until_s, paced=paced))
        await asyncio.sleep(until_s - time.perf_counter())
        await generator.stop()


async def open_loop(
    generator: LoadGenerator, requests: Iterator[LoadRequest], at_s: Sequence[float], *, until_s: float
) -> None:
    """Send one request at each of some times (seconds from now), whether earlier ones were served or not."""
    began_s = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for moment_s in at_s:
            await asyncio.sleep(max(0.0, began_s + moment_s - time.perf_counter()))
            tasks.create_task(generator.request(next(requests)))
        await asyncio.sleep(max(0.0, until_s - time.perf_counter()))
        await generator.stop()


def arrival_times(rate_per_s: float, seconds: float, seed: str) -> list[float]:
    """Draw the times of independent arrivals (a Poisson process), seconds from the beginning. Pure."""
    draw = random.Random(seed)  # noqa: S311 - repeatable, not secret
    moments, now_s = [], draw.expovariate(rate_per_s)
    while now_s < seconds:
        moments.append(now_s)
        now_s += draw.expovariate(rate_per_s)
    return moments
