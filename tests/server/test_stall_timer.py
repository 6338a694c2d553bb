"""The stall timer on a virtual clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from hypothesis import given
from hypothesis import strategies as st

from yuliu.server.transport.stall_timer import StallTimer

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

STALL_S = 10


class Loop:
    """Loop with a virtual clock that is also a transport, and counts aborts."""

    def __init__(self) -> None:
        self.now_s, self.num_cuts = 0.0, 0
        self._due: dict[int, tuple[float, Callable[[], object]]] = {}
        self._number = 0

    def call_later(self, delay_s: float, call: Callable[[], object]) -> asyncio.TimerHandle:
        self._number += 1
        number, loop = self._number, self
        self._due[number] = (self.now_s + delay_s, call)

        class Handle:
            def cancel(self) -> None:
                loop._due.pop(number, None)

        return cast("asyncio.TimerHandle", Handle())

    def abort(self) -> None:
        self.num_cuts += 1

    def move_on(self, time_s: float) -> None:
        self.now_s += time_s
        for number, (at_s, call) in list(self._due.items()):
            if at_s <= self.now_s:
                del self._due[number]
                call()


@given(st.lists(st.sampled_from(["start", "stop", 4, 7, 11])))
def test_a_client_that_reads_nothing_is_cut(events: list[str | int]) -> None:
    """The time runs from the last stop, and only while the client does not read."""
    loop, timer = Loop(), StallTimer(STALL_S)
    since_s: float | None = None
    num_cuts = 0
    for event in events:
        match event:
            case "start":
                timer.start(cast("asyncio.AbstractEventLoop", loop), cast("asyncio.Transport", loop))
                since_s = loop.now_s
            case "stop":
                timer.stop()
                since_s = None
            case int(time_s):
                loop.move_on(time_s)
                if since_s is not None and loop.now_s - since_s >= STALL_S:
                    num_cuts, since_s = num_cuts + 1, None
    assert loop.num_cuts == num_cuts
