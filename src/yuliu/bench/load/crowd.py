"""Many listeners at once: a closed loop of players, or an open loop of arrivals."""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING

from yuliu.bench.load.listener import Listener

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from yuliu.bench.load.listener import Outcome
    from yuliu.bench.load.texts import Ask

FIRST_SOUND_GRACE_S = 5.0
RETRY_S = 1.0
"""When a player asks again that was refused without being told when to."""


class Crowd:
    """Everybody who asks a server on a loopback port.

    Args:
        port: Of the server.
        grace_s: How long listeners without any sound are still waited for at the end; who has none then has failed.
    """

    def __init__(self, port: int, *, grace_s: float = FIRST_SOUND_GRACE_S) -> None:
        self.outcomes: list[Outcome] = []
        """What came of those that are over, in the order in which they ended."""
        self._port = port
        self._grace_s = grace_s
        self._live: set[Listener] = set()
        self._leaving = asyncio.Event()

    async def ask(self, ask: Ask, *, keep: bool = False) -> Outcome:
        """Ask once and listen to the end, or until :meth:`leave`."""
        listener = Listener(ask, keep=keep)
        self._live.add(listener)
        try:
            await listener.connect(self._port)
            await listener.done
        finally:
            listener.cut()
            self._live.discard(listener)
        self.outcomes.append(listener.outcome)
        return self.outcomes[-1]

    async def ask_until_taken(self, ask: Ask, *, keep: bool = False) -> tuple[Outcome, int]:
        """Ask again, when told to, as long as it is refused; what came of it, and how often it was refused before."""
        refusals = 0
        while (outcome := await self.ask(ask, keep=keep)).rejected:
            refusals += 1
            await self._rest(outcome.retry_after_s or RETRY_S)
        return outcome, refusals

    async def taste(self, ask: Ask) -> Outcome:
        """Ask once and leave at the first sound."""
        listener = Listener(ask)
        await listener.connect(self._port)
        await listener.first_sound
        listener.cut()
        await listener.done
        self.outcomes.append(listener.outcome)
        return self.outcomes[-1]

    async def play(self, asks: Iterator[Ask], *, after_s: float, until_s: float, paced: bool = True) -> None:
        """A player: asks again when what it asked for has been played (or, not paced, has arrived).

        Args:
            asks: What it asks for, one after the other.
            after_s: When it begins, from now.
            until_s: When it asks no more, by :func:`time.perf_counter`.
            paced: Whether it plays in real time.
        """
        await asyncio.sleep(after_s)
        while time.perf_counter() < until_s and not self._leaving.is_set():
            outcome = await self.ask(next(asks))
            if not outcome.completed:
                await self._rest(outcome.retry_after_s or RETRY_S)
            elif paced:
                await self._rest(outcome.sent_at_s + outcome.playback.ends_at_s - time.perf_counter())

    async def leave(self) -> None:
        """Everybody leaves; those who have heard nothing yet are given some time to."""
        waiting = [listener.first_sound for listener in self._live]
        if waiting:
            await asyncio.wait(waiting, timeout=self._grace_s)
        self._leaving.set()
        for listener in tuple(self._live):
            listener.cut()

    async def _rest(self, rest_s: float) -> None:
        if rest_s > 0:
            try:
                async with asyncio.timeout(rest_s):
                    await self._leaving.wait()
            except TimeoutError:
                pass


async def closed_loop(
    crowd: Crowd, players: Sequence[Iterator[Ask]], *, ramp_s: float, until_s: float, paced: bool = True
) -> None:
    """Players that begin one after the other within ``ramp_s`` and ask until ``until_s``; see :meth:`Crowd.play`."""
    async with asyncio.TaskGroup() as tasks:
        for number, asks in enumerate(players):
            after_s = ramp_s * number / len(players)
            tasks.create_task(crowd.play(asks, after_s=after_s, until_s=until_s, paced=paced))
        await asyncio.sleep(until_s - time.perf_counter())
        await crowd.leave()


async def open_loop(crowd: Crowd, asks: Iterator[Ask], at_s: Sequence[float], *, until_s: float) -> None:
    """Listeners that come at moments (seconds from now), whether others were served or not, and ask once."""
    began_s = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for moment_s in at_s:
            await asyncio.sleep(max(0.0, began_s + moment_s - time.perf_counter()))
            tasks.create_task(crowd.ask(next(asks)))
        await asyncio.sleep(max(0.0, until_s - time.perf_counter()))
        await crowd.leave()


def arrival_times(rate_per_s: float, seconds: float, seed: str) -> list[float]:
    """When listeners come who know nothing of each other (a Poisson process), seconds from the beginning. Pure."""
    draw = random.Random(seed)  # noqa: S311 - repeatable, not secret
    moments, now_s = [], draw.expovariate(rate_per_s)
    while now_s < seconds:
        moments.append(now_s)
        now_s += draw.expovariate(rate_per_s)
    return moments
