"""The open streams: their sinks, their work, and what they are given.

No locks here: :class:`yuliu.scheduler.scheduler.Scheduler` guards it by its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from yuliu.errors import SynthesisFailed
from yuliu.scheduler.cache import key_of
from yuliu.scheduler.outputs import Broken, Planned, Rendered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from yuliu.engines.api import Capabilities
    from yuliu.errors import Closed, Overloaded
    from yuliu.scheduler.cache import SoundCache
    from yuliu.scheduler.outputs import Output
    from yuliu.scheduler.workers.thread import Made, Outcome, Task, Work
    from yuliu.types import StreamClass


@dataclass(slots=True)
class StreamRecord:
    """A stream as its reader knows it."""

    sink: Callable[[Output], None]
    stream_class: StreamClass
    phrases: int | None = None
    """Its sound is kept for this group of phrases."""
    first_packet_s: float | None = None
    """What its first packet is to be kept within; None takes what holds for its class."""
    error: SynthesisFailed | None = None
    """Why its work failed last."""


@dataclass(slots=True)
class StreamTable:
    """All open streams, and all work on the way.

    A stream that is closed gets nothing more from that moment on; its work stays known until the policy has forgotten
    it, since it may order a last step.
    """

    capabilities: Mapping[str, Capabilities]
    cache: SoundCache
    still_s: float
    """A segment whose steps give no sound for so long has failed, seconds."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Of each engine's voice, where it is known."""
    _streams: dict[int, StreamRecord] = field(default_factory=dict)
    _works: dict[int, Work] = field(default_factory=dict)
    _jobs_of: dict[int, set[int]] = field(default_factory=dict)

    def __len__(self) -> int:
        """Streams open now."""
        return len(self._streams)

    def __iter__(self) -> Iterator[int]:
        """Their numbers, as they are now."""
        return iter(list(self._streams))

    def open(self, stream_id: int, stream: StreamRecord) -> None:
        """A new stream."""
        self._streams[stream_id] = stream

    def get(self, stream_id: int) -> StreamRecord | None:
        """An open stream."""
        return self._streams.get(stream_id)

    def close(self, stream_id: int) -> bool:
        """It gets nothing more; whether it was open."""
        return self._streams.pop(stream_id, None) is not None

    def close_with(self, stream_id: int, error: Overloaded | SynthesisFailed | Closed) -> None:
        """An error is the last it gets."""
        if (stream := self._streams.get(stream_id)) is not None:
            stream.sink(Broken(error))
            self.close(stream_id)

    def forget(self, stream_id: int) -> None:
        """The policy knows it no more: nor is its work known."""
        for job_id in self._jobs_of.pop(stream_id, ()):
            del self._works[job_id]

    def work(self, job_id: int) -> Work:
        """Work that the policy knows."""
        return self._works[job_id]

    def add(self, work: Work) -> float | None:
        """Further work of an open stream; length of its sound in seconds if that is at hand."""
        self._works[work.job_id] = work
        self._jobs_of.setdefault(work.stream_id, set()).add(work.job_id)
        phrases = self._streams[work.stream_id].phrases
        if not self.cache.is_used(phrases):
            return None
        version = self.versions.get(work.engine, "")
        if (key := key_of(work.segment, work.options, engine=work.engine, version=version)) is None:
            return None
        work.keeping = self.cache.look_up(key, phrases)
        found = work.keeping.found
        return None if found is None else len(found.samples) / self.capabilities[work.engine].format.sample_rate

    def serve(self, work: Work, now: float) -> None:
        """Give out sound that is at hand."""
        stream = self._streams.get(work.stream_id)
        if stream is not None and work.keeping is not None and (kept := work.keeping.found) is not None:
            planned = kept.at(work.segment)
            stream.sink(Planned(planned, now))
            for samples, after in kept.pieces(planned, self.capabilities[work.engine].format.sample_rate):
                stream.sink(Rendered(samples, after, now, cached=True))
        self._drop(work)

    def hand_on(self, made: Made, took_s: float, now: float) -> None:
        """Give out what was made. Steps that gave nothing are not worth telling."""
        work, after = made.work, made.utterance
        if (stream := self._streams.get(work.stream_id)) is None:
            return
        work.utterance, work.failed_on = after, None
        if made.samples is None:
            work.planned = after
            stream.sink(Planned(after, now, took_s, work.num_retries))
        elif len(made.samples) or after.done:
            work.has_sound |= len(made.samples) > 0
            if work.keeping is not None:
                work.keeping.add(made.samples)
            stream.sink(Rendered(made.samples, after, now, took_s, num_retries=work.num_retries))
        if after.done:
            if work.keeping is not None:
                self.cache.keep(work.keeping, after, self.capabilities[work.engine].hop_samples)
            self._drop(work)

    def failed(self, task: Task, worker: str, error: SynthesisFailed) -> tuple[int, ...]:
        """Note that a task failed on a worker; the jobs that cannot be repeated."""
        for work in task.works:
            work.num_retries += 1
            work.failed_on = worker
            if stream := self._streams.get(work.stream_id):
                stream.error = error
            if not self.capabilities[work.engine].exact:
                work.utterance = work.planned
        return tuple(work.job_id for work in task.works if self._is_final(work))

    def stillness(self, outcome: Outcome, now: float) -> SynthesisFailed | None:
        """Steps that give nothing and do not end are borne for a while only."""
        late = [made.work for made in outcome.made if self._is_still(made, now)]
        for work in late:
            work.still_since_s, work.num_stills = None, work.num_stills + 1
        return SynthesisFailed(f"the engine gave no sound for {self.still_s:g} s") if late else None

    def _is_still(self, made: Made, now: float) -> bool:
        work = made.work
        if made.samples is None or len(made.samples) or made.utterance.done:
            work.still_since_s = None
            return False
        if work.still_since_s is None:
            work.still_since_s = now
        return now - work.still_since_s >= self.still_s

    def _is_final(self, work: Work) -> bool:
        """Whether to repeat it is no use: it was out of sound twice, or what is out cannot be made again."""
        return work.num_stills > 1 or (work.has_sound and not self.capabilities[work.engine].exact)

    def _drop(self, work: Work) -> None:
        self._works.pop(work.job_id, None)
        self._jobs_of.get(work.stream_id, set()).discard(work.job_id)
