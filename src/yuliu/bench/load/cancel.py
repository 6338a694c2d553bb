"""Listeners who leave: how soon the work for them ends, and whether anything is left of a thousand who vanish."""

from __future__ import annotations

import asyncio
import random
import time
from typing import TYPE_CHECKING, Any

import psutil

from yuliu.bench.load.crowd import Crowd, closed_loop
from yuliu.bench.load.figures import spread_ms
from yuliu.bench.load.gauge import MB
from yuliu.bench.load.isolation import bulk_asks
from yuliu.bench.load.listener import Listener, request_bytes
from yuliu.bench.load.point import Timing, observe, run
from yuliu.bench.load.texts import asks
from yuliu.bench.load.watch import LogWatch, gauges, grown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.bench.load.listener import Outcome
    from yuliu.bench.load.point import Drive
    from yuliu.bench.load.setting import Setting
    from yuliu.bench.load.texts import Ask
    from yuliu.bench.process import Running

CANCELLERS = 4
"""Who listen to a long text for a while and leave, again and again."""
PLAYERS = 4
"""Who keep the server busy meanwhile, beside a reader of a long text."""
MAX_LISTENED_S = 0.5
ENDED_WITHIN_S = 5.0
VANISHING = 1000
VANISHING_AT_A_TIME = 50
BASELINE = 100
"""So many vanish before the memory is read that the rest is compared with."""
QUIET_WITHIN_S = 20.0
QUIET_CPU_S = 0.02
"""A server that takes at most so much CPU time in half a second does no work."""
QUIET_OVER_S = 0.5


def measure_cancel(setting: Setting, voice: str) -> dict[str, Any]:
    """Both parts, on one server."""
    with LogWatch() as log, setting.server(log=log.target) as server:
        cancelled = _cancel(setting, voice, server, log)
        setting.progress(f"cancel: {cancelled['count']} left, {cancelled['ended_after_ms']}")
        vanished = _vanish(server, voice)
        setting.progress(f"vanish: {vanished['count']} vanished, {vanished['left']}")
    return {"voice": voice, "cancel": cancelled, "vanish": vanished}


def _cancel(setting: Setting, voice: str, server: Running, log: LogWatch) -> dict[str, Any]:
    timing = Timing(setting.timing.seconds, setting.timing.warm_up_s / 2)
    took_s: list[float | None] = []

    async def leave_often(port: int, wanted: Iterator[Ask], draw: random.Random, until_s: float) -> None:
        while time.perf_counter() < until_s:
            outcome = await _listen_and_leave(port, next(wanted), draw.uniform(0, MAX_LISTENED_S))
            if outcome.cut and outcome.arrivals:
                took_s.append(await _ended_after_s(outcome, log))

    async def cancellers(_: Crowd, until_s: float) -> None:
        async with asyncio.TaskGroup() as tasks:
            for number in range(CANCELLERS):
                wanted = asks((voice,), f"cancel {number}", shares=(("long", 1),))
                draw = random.Random(f"cancel {number}")  # noqa: S311 - repeatable, not secret
                tasks.create_task(leave_often(server.port, wanted, draw, until_s))

    observe(server, timing, {"cancel": cancellers, "beside": _beside(voice)})
    seen_s = [each_s for each_s in took_s if each_s is not None]
    return {
        "count": len(took_s),
        "ended_after_ms": spread_ms(seen_s),
        "not_seen_to_end": len(took_s) - len(seen_s),
    }


async def _listen_and_leave(port: int, ask: Ask, listen_s: float) -> Outcome:
    """What came of a listener who leaves some time after the first sound, if all has not arrived by then."""
    listener = Listener(ask)
    await listener.connect(port)
    await listener.first_sound
    await asyncio.sleep(listen_s)
    listener.cut()
    await listener.done
    return listener.outcome


async def _ended_after_s(outcome: Outcome, log: LogWatch) -> float | None:
    """How long after the listener left the server reported the request as over; None if it was not seen to."""
    while time.perf_counter() < outcome.ended_at_s + ENDED_WITHIN_S:
        if (ended := log.ended.get(outcome.request_id or "")) is not None:
            return max(0.0, ended[0] - outcome.ended_at_s)
        await asyncio.sleep(0.005)
    return None


def _beside(voice: str) -> Drive:
    async def beside(crowd: Crowd, until_s: float) -> None:
        players = [asks((voice,), f"beside {number}") for number in range(PLAYERS)]
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(crowd.play(bulk_asks(voice), after_s=0.0, until_s=until_s, paced=False))
            tasks.create_task(closed_loop(crowd, players, ramp_s=1.0, until_s=until_s))

    return beside


def _vanish(server: Running, voice: str) -> dict[str, Any]:
    """Memory, streams, connections, threads and files of the server, before and after."""
    process = psutil.Process(server.pid)
    wanted = asks((voice,), "vanish", stream_class="interactive")
    draw = random.Random("vanish")  # noqa: S311 - repeatable, not secret
    run(_vanish_many(server.port, wanted, draw, BASELINE))
    _quiet(process)
    before, rss_before = _state(process, server.port), process.memory_info().rss
    run(_vanish_many(server.port, wanted, draw, VANISHING))
    quiet_after_s = _quiet(process)
    after, rss_after = _state(process, server.port), process.memory_info().rss
    return {
        "count": VANISHING,
        "quiet_after_s": quiet_after_s,
        "rss_mb": {"before": round(rss_before / MB, 1), "after": round(rss_after / MB, 1)},
        "left": grown(before, after),
        "after": after,
    }


def _state(process: psutil.Process, port: int) -> dict[str, float]:
    own = {"threads": process.num_threads()}
    if hasattr(process, "num_fds"):
        own["files"] = process.num_fds()
    return own | gauges(port)


def _quiet(process: psutil.Process) -> float | None:
    """After how many seconds the server did nothing any more; None if it never stopped."""
    began_s = time.perf_counter()
    while time.perf_counter() < began_s + QUIET_WITHIN_S:
        before = process.cpu_times()
        time.sleep(QUIET_OVER_S)
        after = process.cpu_times()
        if after.user + after.system - before.user - before.system <= QUIET_CPU_S:
            return round(time.perf_counter() - began_s - QUIET_OVER_S, 1)
    return None


async def _vanish_many(port: int, wanted: Iterator[Ask], draw: random.Random, count: int) -> None:
    room = asyncio.Semaphore(VANISHING_AT_A_TIME)

    async def one(number: int) -> None:
        async with room:
            await _vanish_once(port, next(wanted), number % 5, draw.uniform(0, 0.2))

    async with asyncio.TaskGroup() as tasks:
        for number in range(count):
            tasks.create_task(one(number))


async def _vanish_once(port: int, ask: Ask, manner: int, wait_s: float) -> None:
    """Go away: before the request, in the middle of it, right after it, a little later, or at the first sound."""
    if manner == 4:
        await Crowd(port).taste(ask)
        return
    _, writer = await asyncio.open_connection("127.0.0.1", port)
    request = request_bytes(ask)
    writer.write(request[: (0, len(request) // 2, None, None)[manner]])
    if manner == 3:
        await asyncio.sleep(wait_s)
    writer.transport.abort()
