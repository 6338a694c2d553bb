"""A stream under manual control: an event loop with a manual clock, and a scheduler that does what the test says."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar, cast

from yuliu.engines.api import StepRequest
from yuliu.engines.tone import ToneEngine
from yuliu.errors import Overloaded
from yuliu.scheduler.outputs import Admitted, Broken, Planned, Rendered
from yuliu.scheduler.policy.events import Terms
from yuliu.scheduler.requests import NOTHING_AFTER
from yuliu.stream import Stream, StreamContext, StreamOptions, VoiceRoute

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from yuliu.engines.api import Engine, PlanOptions, Utterance
    from yuliu.scheduler.outputs import Output
    from yuliu.scheduler.requests import After
    from yuliu.scheduler.scheduler import Scheduler
    from yuliu.stream import StreamMetrics
    from yuliu.types import Segment

T = TypeVar("T")


class ManualClockLoop(asyncio.SelectorEventLoop):
    """Event loop with a manual clock. Only ``sleep(0)`` is sensible: other sleeps take real time."""

    now_s = 100.0

    def time(self) -> float:
        """Return the manual time, seconds."""
        return self.now_s


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a test's coroutine on such a loop."""
    with asyncio.Runner(loop_factory=ManualClockLoop) as runner:
        return runner.run(coroutine)


async def advance(seconds: float) -> None:
    """Advance the clock and run everything that is due."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, ManualClockLoop)
    loop.now_s += seconds
    await settle()


async def settle() -> None:
    """Run everything that is ready."""
    for _ in range(5):
        await asyncio.sleep(0)


class ManualScheduler:
    """Scheduler that records the calls of one stream and sends it the outputs of a test; its engine makes tones."""

    def __init__(self, clock: Callable[[], float] | None = None) -> None:
        self.clock = clock or asyncio.get_running_loop().time
        self.engine: Engine = ToneEngine()
        self.terms = Terms()
        self.segments: list[tuple[Segment, PlanOptions]] = []
        """Submitted segments."""
        self.taken_s = 0.0
        self.positions_s: list[float] = []
        """Positions passed to :meth:`played`."""
        self.closed: list[int] = []
        self.abandoned: list[int] = []
        self.text_ended = False
        self.utterance: Utterance
        """The last plan."""
        self._sink: Callable[[Output], None] = lambda _: None
        self._num_opened = 0

    def open(self, sink: Callable[[Output], None], engines: tuple[str, ...], terms: Terms) -> int:
        """See :class:`Scheduler`."""
        del engines
        self._sink, self.terms = sink, terms
        self._num_opened += 1
        return self._num_opened

    def submit(
        self, stream_id: int, engine: str, segment: Segment, options: PlanOptions, *, after: After = NOTHING_AFTER
    ) -> int:
        """See :class:`Scheduler`; job ids count from 0."""
        del stream_id, engine, after
        self.segments.append((segment, options))
        return len(self.segments) - 1

    def end_text(self, stream_id: int) -> None:
        """See :class:`Scheduler`."""
        del stream_id
        self.text_ended = True

    def taken(self, stream_id: int, audio_s: float) -> None:
        """See :class:`Scheduler`."""
        del stream_id
        self.taken_s += audio_s

    def played(self, stream_id: int, position_s: float) -> None:
        """See :class:`Scheduler`."""
        del stream_id
        self.positions_s.append(position_s)

    def close_stream(self, stream_id: int, *, cancelled: bool = False) -> None:
        """See :class:`Scheduler`."""
        del cancelled
        self.closed.append(stream_id)

    def abandon(self, stream_id: int) -> None:
        """See :class:`Scheduler`."""
        self.abandoned.append(stream_id)

    async def say(self, output: Output) -> None:
        """Send an output to the stream."""
        self._sink(output)
        await settle()

    async def admit(self, *, throughput: bool = False, first_weight_scale: float = 1.0) -> None:
        """Admit the stream."""
        await self.say(Admitted(throughput, first_weight_scale))

    async def refuse(self) -> None:
        """Refuse the stream."""
        await self.say(Broken(Overloaded("too many", retry_after_s=3.0)))

    async def plan(self, number: int = 0, *, took_s: float = 0.0) -> Utterance:
        """Plan a segment."""
        self.utterance = utterance = self.engine.plan(*self.segments[number])
        await self.say(Planned(number, utterance, self.clock(), took_s))
        return utterance

    async def render(self, utterance: Utterance, num_frames: int = 10_000, *, took_s: float = 0.0) -> Utterance:
        """Render a number of its frames."""
        (result,) = self.engine.step([StepRequest(utterance, num_frames)])
        await self.say(Rendered(-1, result.samples, result.utterance, self.clock(), took_s))
        return result.utterance

    async def make(self, number: int = 0) -> None:
        """Plan a segment and render all of it."""
        utterance = await self.plan(number)
        if not utterance.done:
            await self.render(utterance)


def open_manual_stream(
    scheduler: ManualScheduler,
    options: StreamOptions | None = None,
    *,
    metrics: StreamMetrics | None = None,
    paces: bool = True,
) -> Stream:
    """Open a stream on such a scheduler; ``paces`` says whether the engine supports speed."""
    route = VoiceRoute({"zh": "tone", "en": "tone"}, 24_000, "tone", {} if paces else {"tone": (1.0, 1.0)})
    around = StreamContext({"tone": route}, metrics=metrics)
    return Stream(cast("Scheduler", scheduler), route, options or StreamOptions(), around)
