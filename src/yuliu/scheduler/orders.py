"""What the policy says is done here: work goes to the lanes, streams are told what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.errors import Overloaded, SynthesisFailed
from yuliu.scheduler.lane import Task
from yuliu.scheduler.outputs import Admitted
from yuliu.scheduler.policy.events import Action, Admit, Fail, Plan, Reject, Serve, Step
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from yuliu.scheduler.lane import Work
    from yuliu.scheduler.lanes import Lanes
    from yuliu.scheduler.observer import Observer
    from yuliu.scheduler.policy.tuning import Tuning
    from yuliu.scheduler.streams import Streams


@dataclass(frozen=True, slots=True)
class Orders:
    """Follows the policy's actions; guarded by the scheduler's lock."""

    streams: Streams
    lanes: Lanes
    observer: Observer

    def follow(self, action: Action, tuning: Tuning, now: float) -> None:
        """Do one action.

        Args:
            action: What the policy says.
            tuning: What holds.
            now: Seconds, monotonic.
        """
        match action:
            case Step():
                works = tuple(self.streams.work(part.job_id) for part in action.parts)
                self._give(action.lane, works, tuple(part.num_frames for part in action.parts), now)
            case Plan():
                self._give(action.lane, (self.streams.work(action.job_id),), None, now)
            case Serve():
                self.streams.serve(self.streams.work(action.job_id), now)
            case Admit() | Reject() | Fail():
                self._decide(action, tuning)

    def _decide(self, action: Admit | Reject | Fail, tuning: Tuning) -> None:
        """Tell a stream what becomes of it."""
        if (stream := self.streams.get(action.stream_id)) is None:
            return
        match action:
            case Admit():
                self.observer.admission(stream.stream_class, "admitted")
                is_dialogue = stream.stream_class is StreamClass.INTERACTIVE
                stream.sink(Admitted(action.throughput, tuning.first_weight_scale if is_dialogue else 1.0))
            case Reject():
                self.observer.admission(stream.stream_class, "rejected", reason=action.reason)
                message = "more streams are being spoken than this machine can carry; try again later"
                self.streams.close_with(action.stream_id, Overloaded(message, retry_after_s=action.retry_after_s))
            case Fail():
                unknown = SynthesisFailed("the engine failed twice while speaking; see the log")
                self.streams.close_with(action.stream_id, stream.error or unknown)

    def _give(self, lane: str, works: tuple[Work, ...], num_frames: tuple[int, ...] | None, now: float) -> None:
        """Let a lane work; with a new instance of the engine if it is the very one that failed."""
        for work in works:
            if work.failed_on is not None:
                self.observer.retried(work.engine)
        self.lanes.give(lane, Task(works, num_frames, any(work.failed_on == lane for work in works)), now)
