"""Events and actions of the policy: frozen values, so that a log can be replayed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.types import StreamClass

if TYPE_CHECKING:
    from yuliu.scheduler.policy.tuning import Tuning


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms on which a stream is served."""

    stream_class: StreamClass = StreamClass.STANDARD
    weight: float = 1.0
    """Weight among the streams of its class, above 0."""
    max_lead_s: float | None = None
    """Maximum audio made ahead of playback, seconds; None does not bound it."""
    max_planned: int = 2
    """Segments that may be planned at a time: the one being rendered and further ones."""
    phrases: int | None = None
    """Number of the group of phrases for which its sound is kept; None keeps none for good."""
    ttfp_target_s: float | None = None
    """Target for the first audio after the first text, seconds; None takes that of its class."""
    first_packet_s: float | None = None
    """Target of autotuning for its first packet, seconds; None takes that of its class."""


# Events.


@dataclass(frozen=True, slots=True)
class StreamOpened:
    """A stream exists and asks to be admitted."""

    stream_id: int
    engines: tuple[str, ...]
    """Engines that its voice may use."""
    terms: Terms = Terms()


@dataclass(frozen=True, slots=True)
class SegmentReady:
    """A stream has a further segment, for an engine."""

    stream_id: int
    job_id: int
    engine: str
    cached_s: float | None = None
    """Length of its sound, seconds, if that is at hand already; None if it is to be made."""


@dataclass(frozen=True, slots=True)
class TextEnded:
    """A stream gets no further segments."""

    stream_id: int


@dataclass(frozen=True, slots=True)
class PlanFinished:
    """A segment is planned, maybe of a stream that was closed meanwhile; the worker is free."""

    worker: str
    job_id: int
    num_frames: int | None
    """Frames to render; None if the engine does not know yet."""
    done: bool
    """True if there is nothing to render."""
    took_s: float = 0.0


@dataclass(frozen=True, slots=True)
class StepPart:
    """Result of a step for one job."""

    job_id: int
    num_frames: int
    audio_s: float
    done: bool
    """True if the segment is rendered to its end."""
    heard_s: float | None = None
    """Part of it that the listener gets now, in seconds of the listener; None is all of it. Effects may hold some back,
    or change the pace."""

    @property
    def gained_s(self) -> float:
        """Audio that its listener has gained, seconds."""
        return self.audio_s if self.heard_s is None else self.heard_s


@dataclass(frozen=True, slots=True)
class StepFinished:
    """A step gave sound, maybe for streams that were closed meanwhile; the worker is free."""

    worker: str
    parts: tuple[StepPart, ...]
    took_s: float = 0.0


@dataclass(frozen=True, slots=True)
class WorkFailed:
    """A plan or step failed; the worker is free."""

    worker: str
    job_ids: tuple[int, ...]
    final_ids: tuple[int, ...] = ()
    """Jobs among them that cannot be repeated: part of their audio is out, and the engine would not make the same."""


@dataclass(frozen=True, slots=True)
class SoundTaken:
    """The stream's reader took audio: it was handed to the transport."""

    stream_id: int
    audio_s: float


@dataclass(frozen=True, slots=True)
class PlayedTo:
    """The stream's listener has reported its position."""

    stream_id: int
    position_s: float


@dataclass(frozen=True, slots=True)
class StreamClosed:
    """A stream is over: finished, cancelled, or failed."""

    stream_id: int


@dataclass(frozen=True, slots=True)
class WorkerUp:
    """A worker is up, with nothing to do."""

    worker: str
    engines: tuple[str, ...] = ()
    """Names of its engines; none means all."""
    slots: int = 1
    """Number of tasks that it runs at once."""


@dataclass(frozen=True, slots=True)
class WorkerLost:
    """A worker has crashed or hangs, and will not come back. Its tasks have failed, the state it held is lost."""

    worker: str
    final_ids: tuple[int, ...] = ()
    """Jobs on it, or with state on it, that cannot be repeated."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """A new tuning is in force."""

    tuning: Tuning


@dataclass(frozen=True, slots=True)
class Ticked:
    """Time has passed."""


Event = (
    StreamOpened
    | SegmentReady
    | TextEnded
    | PlanFinished
    | StepFinished
    | WorkFailed
    | SoundTaken
    | PlayedTo
    | StreamClosed
    | WorkerUp
    | WorkerLost
    | Tuned
    | Ticked
)

# Actions.


@dataclass(frozen=True, slots=True)
class Admit:
    """The stream is admitted."""

    stream_id: int
    throughput: bool = False
    """True if it is to be spoken in whole sentences and larger steps."""


@dataclass(frozen=True, slots=True)
class Reject:
    """The stream cannot be carried; it is forgotten."""

    stream_id: int
    reason: str
    """``queue_full`` or ``waited_too_long``."""
    retry_after_s: float


@dataclass(frozen=True, slots=True)
class Plan:
    """Plan a segment on a worker."""

    worker: str
    job_id: int


@dataclass(frozen=True, slots=True)
class StepOrder:
    """One job's part in a step."""

    job_id: int
    num_frames: int


@dataclass(frozen=True, slots=True)
class Step:
    """Render frames of one or more utterances of one engine on a worker."""

    worker: str
    parts: tuple[StepOrder, ...]


@dataclass(frozen=True, slots=True)
class Serve:
    """Give out all audio of a cached segment."""

    job_id: int


@dataclass(frozen=True, slots=True)
class Fail:
    """The stream cannot go on: its work failed twice. It is forgotten."""

    stream_id: int
    job_id: int


Action = Admit | Reject | Plan | Step | Serve | Fail
