"""Which stream gets the next step of which engine, and how large it is. Pure: ``handle(event, now) -> actions``.

Rules:

1. A stream that has no sound yet is most urgent, the longest waiting first. After that the stream whose
   listener runs dry first is served first: that moment is when its first sound was made plus all sound made since.
2. The segments of a stream are rendered in order. While one is rendered the next may be planned, on any lane.
3. The first step of a stream is small (``FIRST_STEP_S``); later ones grow with what the listener still has to play
   (``STEP_PER_LEAD``), up to ``MAX_STEP_S``, so that the context which a step computes twice is paid seldom.
4. A stream whose reader does not read (``MAX_UNREAD_S`` of sound waiting) is not stepped and costs nothing.

A lane does one thing at a time. What is under way when its stream closes is finished and thrown away.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FIRST_STEP_S = 0.25
"""Sound in the first step of a stream, seconds."""
STEP_PER_LEAD = 4
"""A later step makes at most so many times what its listener still has to play: at a tenth of real time it is done
before half of that is played."""
MAX_STEP_S = 1.2
"""Most sound in one step, seconds: 10-45 ms of compute for the voices at hand."""
MAX_UNREAD_S = 4.0
"""Sound that may wait for its reader before the stream is paused, seconds (384 kB at 24 kHz)."""
LAST_STEP = 1.6
"""What is left of an utterance is taken whole if it is at most so many times the step."""
MAX_PLANNED = 2
"""Segments of one stream that may be planned at a time: the one being rendered and the next."""


# Events: what happened.


@dataclass(frozen=True, slots=True)
class StreamOpened:
    """A stream exists."""

    stream_id: int


@dataclass(frozen=True, slots=True)
class SegmentReady:
    """A stream has a further segment, for an engine on a lane."""

    stream_id: int
    job_id: int
    lane: str


@dataclass(frozen=True, slots=True)
class PlanFinished:
    """A segment is planned."""

    job_id: int
    num_frames: int | None
    """Frames to render; None if the engine does not know yet."""
    done: bool
    """Whether there is nothing to render."""


@dataclass(frozen=True, slots=True)
class StepFinished:
    """A step gave sound."""

    job_id: int
    num_frames: int
    audio_s: float
    done: bool


@dataclass(frozen=True, slots=True)
class SoundTaken:
    """The reader of a stream took sound out of Yuliu's hands."""

    stream_id: int
    audio_s: float


@dataclass(frozen=True, slots=True)
class StreamClosed:
    """A stream is over: finished, cancelled, or failed."""

    stream_id: int


@dataclass(frozen=True, slots=True)
class LaneFreed:
    """A lane is free again after work whose stream was closed meanwhile, or that failed."""

    lane: str


Event = StreamOpened | SegmentReady | PlanFinished | StepFinished | SoundTaken | StreamClosed | LaneFreed

# Actions: what to do now.


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan a segment on a lane."""

    lane: str
    job_id: int


@dataclass(frozen=True, slots=True)
class Step:
    """Render frames of an utterance on a lane."""

    lane: str
    job_id: int
    num_frames: int


Action = Plan | Step


@dataclass(slots=True)
class _Job:
    stream_id: int
    lane: str
    ready_at_s: float
    planned: bool = False
    busy: bool = False
    frames_left: int | None = None


@dataclass(slots=True)
class _Stream:
    jobs: deque[int] = field(default_factory=deque)
    first_sound_at_s: float | None = None
    made_s: float = 0.0
    taken_s: float = 0.0

    def lead_s(self, now: float) -> float:
        """Sound that a listener who began at the first sound still has to play; negative when run dry."""
        return self.made_s - (now - self.first_sound_at_s) if self.first_sound_at_s is not None else 0.0


class Policy:
    """The state of all streams and lanes.

    Args:
        lanes: Frames per second of sound of the engine on each lane.
    """

    def __init__(self, lanes: Mapping[str, float]) -> None:
        self._frames_per_s = dict(lanes)
        self._idle = set(lanes)
        self._streams: dict[int, _Stream] = {}
        self._jobs: dict[int, _Job] = {}

    def handle(self, event: Event, now: float) -> list[Action]:
        """Take note of an event and say what the idle lanes shall do.

        Args:
            event: What happened. Events about streams or jobs that are closed are ignored.
            now: Seconds on any monotonic clock.
        """
        match event:
            case StreamOpened():
                self._streams[event.stream_id] = _Stream()
            case SegmentReady():
                self._segment_ready(event, now)
            case PlanFinished():
                self._plan_finished(event)
            case StepFinished():
                self._step_finished(event, now)
            case SoundTaken():
                if stream := self._streams.get(event.stream_id):
                    stream.taken_s += event.audio_s
            case StreamClosed():
                self._stream_closed(event)
            case LaneFreed():
                self._idle.add(event.lane)
            case _:
                assert_never(event)
        return list(self._assign(now))

    @property
    def num_streams(self) -> int:
        """Streams open now."""
        return len(self._streams)

    @property
    def num_jobs(self) -> int:
        """Segments not rendered to their end."""
        return len(self._jobs)

    def _segment_ready(self, event: SegmentReady, now: float) -> None:
        if stream := self._streams.get(event.stream_id):
            self._jobs[event.job_id] = _Job(event.stream_id, event.lane, now)
            stream.jobs.append(event.job_id)

    def _plan_finished(self, event: PlanFinished) -> None:
        if job := self._jobs.get(event.job_id):
            self._idle.add(job.lane)
            job.busy, job.planned, job.frames_left = False, True, event.num_frames
            if event.done:
                self._drop(event.job_id, job)

    def _step_finished(self, event: StepFinished, now: float) -> None:
        if job := self._jobs.get(event.job_id):
            self._idle.add(job.lane)
            job.busy = False
            if job.frames_left is not None:
                job.frames_left -= event.num_frames
            stream = self._streams[job.stream_id]
            stream.made_s += event.audio_s
            if stream.first_sound_at_s is None and event.audio_s:
                stream.first_sound_at_s = now
            if event.done:
                self._drop(event.job_id, job)

    def _drop(self, job_id: int, job: _Job) -> None:
        del self._jobs[job_id]
        self._streams[job.stream_id].jobs.remove(job_id)

    def _stream_closed(self, event: StreamClosed) -> None:
        if stream := self._streams.pop(event.stream_id, None):
            for job_id in stream.jobs:
                del self._jobs[job_id]

    def _assign(self, now: float) -> Iterator[Action]:
        """The most urgent work for each idle lane."""
        while self._idle and (best := min(self._runnable(now), default=None)):
            job_id = best[-1]
            job = self._jobs[job_id]
            job.busy = True
            self._idle.remove(job.lane)
            yield self._step(job_id, job, now) if job.planned else Plan(job.lane, job_id)

    def _runnable(self, now: float) -> Iterator[tuple[bool, float, int, int]]:
        """Work that an idle lane could do: (has sound, seconds until too late, place in its stream, job)."""
        for stream in self._streams.values():
            paused = stream.made_s - stream.taken_s > MAX_UNREAD_S
            for place, job_id in enumerate(stream.jobs):
                if place == MAX_PLANNED:
                    break
                job = self._jobs[job_id]
                may_run = not (job.busy or job.lane not in self._idle)
                if may_run and not (job.planned and (place or paused)):
                    sounds = stream.first_sound_at_s is not None
                    yield sounds, stream.lead_s(now) if sounds else job.ready_at_s, place, job_id

    def _step(self, job_id: int, job: _Job, now: float) -> Step:
        lead_s = self._streams[job.stream_id].lead_s(now)
        step_s = min(max(FIRST_STEP_S, STEP_PER_LEAD * lead_s), MAX_STEP_S)
        num_frames = max(1, round(step_s * self._frames_per_s[job.lane]))
        if job.frames_left is not None and job.frames_left <= LAST_STEP * num_frames:
            num_frames = max(1, job.frames_left)
        return Step(job.lane, job_id, num_frames)
