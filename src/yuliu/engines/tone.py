"""Weightless engines for tests, docs and benches. They prove nothing about speech.

Each segment becomes one sine whose frequency depends on its text, so that a test can hear whether samples are lost,
doubled or swapped between streams. Delays and failures are scripted, and the engines can behave in each of the ways
described in :mod:`yuliu.engines.api`. However they behave, a segment has the same samples.
"""

from __future__ import annotations

import asyncio
import itertools
import re
import threading
import zlib
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from yuliu.engines.alignment import source_of
from yuliu.engines.api import ALL_PACES, Capabilities, PlanOptions, StepRequest, StepResult, Utterance
from yuliu.errors import SynthesisFailed
from yuliu.text.languages import BUILT_IN
from yuliu.types import AudioFormat, Skipped, Span, Timing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from yuliu.types import Lang, Samples, Segment

ToneManner = Literal["frames", "autoregressive", "remote"]
"""Behaviour of an engine: it knows its length; it learns its length at the end; its audio arrives over time."""

_UNIT = re.compile(r"[^\W\d_a-zA-Z]|\w[\w'’]*")
"""Unit that is "spoken": a CJK character, or a word."""
_LEAD_FRAMES = 2
BLOCK_FRAMES = 25
"""Frames per block in the autoregressive manner."""
PACKET_FRAMES = 7
"""Frames per packet in the remote manner."""
_state_ids = itertools.count(1)


@dataclass(frozen=True, slots=True)
class ToneScript:
    """Scripted delays and failures; calls count over the life of the engine from 0."""

    fail_plans: frozenset[int] = frozenset()
    """Numbers of the ``plan`` calls that raise."""
    fail_steps: frozenset[int] = frozenset()
    """Numbers of the ``step`` calls that raise."""
    error: type[BaseException] = SynthesisFailed
    hang_plans: frozenset[int] = frozenset()
    """Numbers of the ``plan`` calls that do not return before ``released`` is set."""
    hang_steps: frozenset[int] = frozenset()
    """Numbers of the ``step`` calls that do not return before then."""
    spoil_steps: frozenset[int] = frozenset()
    """Numbers of the ``step`` calls with broken results: see ``spoil``."""
    spoil: Literal["none", "short", "long", "lost", "still"] = "none"
    """Kind of breakage: half of the samples missing; twice as many; a result missing; no progress."""
    plan_s: float = 0.0
    """Duration of a plan, passed to ``sleep``."""
    step_s_per_frame: float = 0.0
    """Duration of a step for each frame, passed to ``sleep``."""
    num_still_polls: int = 2
    """Steps without audio before each packet in the remote manner."""


@dataclass(frozen=True, slots=True)
class ToneUtterance(Utterance):
    """An utterance whose end its engine knows, though it may not say so."""

    num_frames_in_all: int
    num_polls: int = 0
    """Steps since the last packet."""
    state_id: int = 0
    """Handle of the state that its engine holds, if the state is local."""


class _Tones:
    """The tones, without the calls: common to the engine that computes and the one that waits."""

    HOP = 240
    FRAMES_PER_UNIT = 10

    def __init__(self, script: ToneScript | None, manner: ToneManner, capabilities: Capabilities) -> None:
        self._script = script or ToneScript()
        self._manner = manner
        self.capabilities = capabilities
        self.num_plans = 0
        """Calls of ``plan`` so far."""
        self.num_steps = 0
        """Calls of ``step`` so far."""
        self.held: set[int] = set()
        """Handles of the states that it holds, if its state is local."""
        self.hung = threading.Event()
        """Set when a call hangs."""
        self.closed = False

    def _next_plan(self) -> int:
        number, self.num_plans = self.num_plans, self.num_plans + 1
        return number

    def _next_step(self) -> int:
        number, self.num_steps = self.num_steps, self.num_steps + 1
        return number

    def _fail_plan(self, number: int) -> None:
        if number in self._script.fail_plans:
            raise self._script.error(f"plan {number} was told to fail")

    def _fail_step(self, number: int) -> None:
        if number in self._script.fail_steps:
            raise self._script.error(f"step {number} was told to fail")

    def _planned(self, segment: Segment, options: PlanOptions) -> ToneUtterance:
        """Plan a tone of 0.1 s at speed 1 for each character or word, with exactly the requested silence."""
        slowest, fastest = self.capabilities.paces
        if not slowest <= options.speak.speed <= fastest:
            raise SynthesisFailed(f"this engine speaks at {slowest:g} to {fastest:g} times its pace")
        frames_per_unit = max(1, round(self.FRAMES_PER_UNIT / options.speak.speed))
        units = list(_UNIT.finditer(segment.text))
        per_second = self.capabilities.format.sample_rate / self.HOP
        at_s = [(_LEAD_FRAMES + i * frames_per_unit) / per_second for i in range(len(units) + 1)]
        num_frames = _LEAD_FRAMES + frames_per_unit * len(units) if units else 0
        return ToneUtterance(
            segment=segment,
            phonemes=tuple(unit.group() for unit in units),
            timings=tuple(
                Timing(source_of(segment, Span(*unit.span())), unit.group(), at_s[i], at_s[i + 1])
                for i, unit in enumerate(units)
            ),
            skipped=() if units else (Skipped(segment.source, "punctuation"),),
            num_frames=num_frames if self._manner == "frames" or not units else None,
            lead_s=_LEAD_FRAMES / per_second,
            tail_s=0.0,
            next_frame=0,
            done=not units,
            num_frames_in_all=num_frames,
            state_id=self._hold() if units and self.capabilities.local_state else 0,
        )

    def _stepped(self, number: int, requests: Sequence[StepRequest]) -> list[StepResult]:
        """Render the requested frames, or as many as the engine's manner gives."""
        results = [self._render(request) for request in requests]
        return self._spoilt(requests, results) if number in self._script.spoil_steps else results

    def _hold(self) -> int:
        state_id = next(_state_ids)
        self.held.add(state_id)
        return state_id

    def _render(self, request: StepRequest) -> StepResult:
        utterance = request.utterance
        assert isinstance(utterance, ToneUtterance)  # noqa: S101 - this engine's
        if self.capabilities.local_state and utterance.state_id not in self.held:
            raise SynthesisFailed("the state of the utterance is not here")
        start, last = utterance.next_frame, utterance.num_frames_in_all
        match self._manner:
            case "frames":
                end = min(start + request.num_frames, last)
            case "autoregressive":
                end = min(start + -(-request.num_frames // BLOCK_FRAMES) * BLOCK_FRAMES, last)
            case "remote":
                return self._poll(utterance)
        if end == last:
            self.held.discard(utterance.state_id)
        after = replace(
            utterance, next_frame=end, done=end == last, num_frames=last if end == last else utterance.num_frames
        )
        return StepResult(self._tone(utterance, start, end), after)

    def _poll(self, utterance: ToneUtterance) -> StepResult:
        """Give nothing several times, then a packet; only a further step tells that it was the last one."""
        start, last = utterance.next_frame, utterance.num_frames_in_all
        if utterance.num_polls < self._script.num_still_polls:
            return StepResult(_NOTHING, replace(utterance, num_polls=utterance.num_polls + 1))
        if start == last:
            self.held.discard(utterance.state_id)
            return StepResult(_NOTHING, replace(utterance, num_frames=last, done=True))
        end = min(start + PACKET_FRAMES, last)
        samples = self._tone(utterance, start, end)
        return StepResult(samples, replace(utterance, next_frame=end, num_polls=0))

    def _tone(self, utterance: Utterance, start: int, end: int) -> Samples:
        sample_rate = self.capabilities.format.sample_rate
        return tone(utterance.segment, self.HOP * start, self.HOP * end, sample_rate)

    def _spoilt(self, requests: Sequence[StepRequest], results: list[StepResult]) -> list[StepResult]:
        match self._script.spoil:
            case "short":
                return [replace(result, samples=result.samples[::2]) for result in results]
            case "long":
                return [replace(result, samples=np.tile(result.samples, 2)) for result in results]
            case "lost":
                return results[:-1]
            case "still":
                return [StepResult(_NOTHING, request.utterance) for request in requests]
            case "none":
                return results


class ToneEngine(_Tones):
    """A deterministic tone per segment.

    Args:
        script: Delays and failures; none by default.
        sleep: Called with seconds where the script has a delay: ``time.sleep``, or a fake clock's.
        languages: Languages that it claims to speak.
        manner: Its behaviour.
        exact: True if it claims that a repeated step gives the same samples.
        paces: Slowest and fastest pace; it refuses any other.
        sample_rate: Sample rate of its tones, in Hz. A frame always has ``HOP`` samples.
        local_state: True if it refuses utterances that another instance planned.
    """

    def __init__(  # noqa: PLR0913 - each a behaviour that some test wants
        self,
        script: ToneScript | None = None,
        *,
        sleep: Callable[[float], None] | None = None,
        languages: tuple[Lang, ...] = BUILT_IN,
        manner: ToneManner = "frames",
        exact: bool = True,
        paces: tuple[float, float] = ALL_PACES,
        sample_rate: int = 24_000,
        local_state: bool = False,
    ) -> None:
        super().__init__(
            script,
            manner,
            Capabilities(
                AudioFormat(sample_rate),
                languages,
                exact,
                self.HOP,
                context_frames=0,
                max_batch=4,
                paces=paces,
                local_state=local_state,
            ),
        )
        self._sleep = sleep or (lambda _: None)
        self.released = threading.Event()
        """To be set to let calls that hang return."""

    def plan(self, segment: Segment, options: PlanOptions) -> Utterance:
        """Plan a tone of 0.1 s at speed 1 for each character or word, with exactly the requested silence."""
        number = self._next_plan()
        self._sleep(self._script.plan_s)
        self._fail_plan(number)
        self._hang(number in self._script.hang_plans)
        return self._planned(segment, options)

    def step(self, requests: Sequence[StepRequest]) -> list[StepResult]:
        """Render the requested frames, or as many as the engine's manner gives."""
        number = self._next_step()
        self._sleep(self._script.step_s_per_frame * sum(request.num_frames for request in requests))
        self._fail_step(number)
        self._hang(number in self._script.hang_steps)
        return self._stepped(number, requests)

    def release(self, utterance: Utterance) -> None:
        """Drop the state of an utterance."""
        assert isinstance(utterance, ToneUtterance)  # noqa: S101 - this engine's
        self.held.discard(utterance.state_id)

    def close(self) -> None:
        """Release nothing, and say so."""
        self.closed = True

    def _hang(self, told_to: bool) -> None:
        if told_to:
            self.hung.set()
            self.released.wait()


class AsyncToneEngine(_Tones):
    """The same tones from an engine that waits: delays are awaited, and calls that hang hold no thread.

    Args:
        script: Delays and failures; none by default.
        sleep: Awaited with seconds where the script has a delay: ``asyncio.sleep``, or a fake clock's.
        languages: Languages that it claims to speak.
        manner: Its behaviour.
        exact: True if it claims that a repeated step gives the same samples.
        sample_rate: Sample rate of its tones, in Hz.
        local_state: True if it refuses utterances that another instance planned.
    """

    def __init__(  # noqa: PLR0913 - everything that a test may script
        self,
        script: ToneScript | None = None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        languages: tuple[Lang, ...] = BUILT_IN,
        manner: ToneManner = "remote",
        exact: bool = True,
        sample_rate: int = 24_000,
        local_state: bool = False,
    ) -> None:
        super().__init__(
            script,
            manner,
            Capabilities(
                AudioFormat(sample_rate),
                languages,
                exact,
                self.HOP,
                context_frames=0,
                max_batch=4,
                local_state=local_state,
            ),
        )
        self._sleep = sleep
        self.released = _Released()
        """To be set, from any thread, to let calls that hang return."""

    async def plan(self, segment: Segment, options: PlanOptions) -> Utterance:
        """Plan a tone of 0.1 s at speed 1 for each character or word, with exactly the requested silence."""
        number = self._next_plan()
        await self._sleep(self._script.plan_s)
        self._fail_plan(number)
        await self._hang(number in self._script.hang_plans)
        return self._planned(segment, options)

    async def step(self, requests: Sequence[StepRequest]) -> list[StepResult]:
        """Render the requested frames, or as many as the engine's manner gives."""
        number = self._next_step()
        await self._sleep(self._script.step_s_per_frame * sum(request.num_frames for request in requests))
        self._fail_step(number)
        await self._hang(number in self._script.hang_steps)
        return self._stepped(number, requests)

    async def release(self, utterance: Utterance) -> None:
        """Drop the state of an utterance."""
        assert isinstance(utterance, ToneUtterance)  # noqa: S101 - this engine's
        self.held.discard(utterance.state_id)

    async def close(self) -> None:
        """Release nothing, and say so."""
        self.closed = True

    async def _hang(self, told_to: bool) -> None:
        if told_to:
            released = self.released.future()
            self.hung.set()
            await released


class _Released:
    """An event that is set on any thread and awaited on any event loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_set = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []

    def set(self) -> None:
        """Let all waiters go on, now and later."""
        with self._lock:
            self._is_set = True
            for loop, future in self._waiting:
                with suppress(RuntimeError):  # the loop has ended
                    loop.call_soon_threadsafe(_resolve, future)
            self._waiting.clear()

    def future(self) -> asyncio.Future[None]:
        """Return a future that is done once the event is set."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        with self._lock:
            if self._is_set:
                future.set_result(None)
            else:
                self._waiting.append((loop, future))
        return future


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


_NOTHING = np.zeros(0, np.float32)


def tone(segment: Segment, start: int, end: int, sample_rate: int = 24_000) -> Samples:
    """Return samples ``start`` to ``end`` of a segment's tone: first silence, then 200 to 1199 Hz by its text."""
    at = np.arange(start, end)
    frequency_hz = 200 + zlib.crc32(segment.text.encode("utf-8", "surrogatepass")) % 1000
    wave = 0.3 * np.sin(2 * np.pi * frequency_hz * at / sample_rate)
    return np.where(at < _LEAD_FRAMES * ToneEngine.HOP, 0.0, wave).astype(np.float32)
