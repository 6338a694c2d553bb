"""The open streams: their sinks, requests and outputs.

No locks here: :class:`yuliu.scheduler.scheduler.Scheduler` guards it with its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from yuliu.errors import SynthesisFailed
from yuliu.scheduler.cache import key_of
from yuliu.scheduler.outputs import Broken, Planned, Rendered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from yuliu.engines.api import Capabilities, Utterance
    from yuliu.errors import Closed, Overloaded
    from yuliu.scheduler.cache import SoundCache
    from yuliu.scheduler.outputs import Output
    from yuliu.scheduler.requests import Request
    from yuliu.scheduler.workers.api import JobResult
    from yuliu.types import Samples, StreamClass


@dataclass(slots=True)
class StreamRecord:
    """A stream as the scheduler keeps it."""

    sink: Callable[[Output], None]
    stream_class: StreamClass
    engines: tuple[str, ...]
    """Engines that its voice may use."""
    phrases: int | None = None
    """Group of phrases for which its audio is kept."""
    first_packet_s: float | None = None
    """Target of its first packet, seconds; None takes that of its class."""
    error: SynthesisFailed | None = None
    """Latest failure of its work."""


@dataclass(slots=True)
class StreamTable:
    """All open streams and all requests under way.

    A closed stream gets nothing more from that moment on; its requests stay known until the policy has forgotten it,
    since it may order a last step.
    """

    capabilities: Mapping[str, Capabilities]
    cache: SoundCache
    still_s: float
    """Maximum time that the steps of a segment may give no audio, seconds."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Version of each engine's voice, where it is known."""
    _streams: dict[int, StreamRecord] = field(default_factory=dict)
    _requests: dict[int, Request] = field(default_factory=dict)
    _jobs_of: dict[int, set[int]] = field(default_factory=dict)

    def __len__(self) -> int:
        """Return the number of open streams."""
        return len(self._streams)

    def __iter__(self) -> Iterator[int]:
        """Iterate over the ids of the streams open now."""
        return iter(list(self._streams))

    def without_engine(self, is_there: Callable[[str], bool]) -> list[int]:
        """Return the ids of the streams that may use an engine which no worker has."""
        return [each for each, stream in self._streams.items() if not all(map(is_there, stream.engines))]

    def open(self, stream_id: int, stream: StreamRecord) -> None:
        """Add a stream."""
        self._streams[stream_id] = stream

    def get(self, stream_id: int) -> StreamRecord | None:
        """Return an open stream."""
        return self._streams.get(stream_id)

    def close(self, stream_id: int) -> bool:
        """Give a stream nothing more; return whether it was open."""
        return self._streams.pop(stream_id, None) is not None

    def close_with(self, stream_id: int, error: Overloaded | SynthesisFailed | Closed) -> None:
        """Give a stream an error as its last output."""
        if (stream := self._streams.get(stream_id)) is not None:
            stream.sink(Broken(error))
            self.close(stream_id)

    def forget(self, stream_id: int) -> list[Request]:
        """Forget the requests of a stream that the policy has forgotten, and return them."""
        return [self._requests.pop(job_id) for job_id in self._jobs_of.pop(stream_id, ())]

    def request(self, job_id: int) -> Request:
        """Return a request that the policy knows."""
        return self._requests[job_id]

    def knows(self, request: Request) -> bool:
        """Return whether the policy knows the request still."""
        return request.job_id in self._requests

    def has_state(self, worker: str, engine: str) -> bool:
        """Return whether a worker holds state of any utterance of an engine."""
        return any(request.home == worker and request.engine == engine for request in self._requests.values())

    def add(self, request: Request) -> float | None:
        """Add a request of an open stream; return the length of its audio in seconds if that is in the cache."""
        self._requests[request.job_id] = request
        self._jobs_of.setdefault(request.stream_id, set()).add(request.job_id)
        phrases = self._streams[request.stream_id].phrases
        if not self.cache.is_used(phrases):
            return None
        version = self.versions.get(request.engine, "")
        if (key := key_of(request.segment, request.options, engine=request.engine, version=version)) is None:
            return None
        request.keeping = self.cache.look_up(key, phrases)
        found = request.keeping.found
        return None if found is None else len(found.samples) / self.capabilities[request.engine].format.sample_rate

    def serve(self, request: Request, now: float) -> None:
        """Give out audio from the cache."""
        stream, job_id = self._streams.get(request.stream_id), request.job_id
        if stream is not None and request.keeping is not None and (kept := request.keeping.found) is not None:
            planned = kept.at(request.segment)
            stream.sink(Planned(job_id, planned, now))
            for samples, after in kept.pieces(planned, self.capabilities[request.engine].format.sample_rate):
                stream.sink(Rendered(job_id, samples, after, now, cached=True))
        self._drop(request)

    def planned(self, request: Request, utterance: Utterance, worker: str, *, took_s: float, now: float) -> None:
        """Give out a plan, unless audio of an earlier plan is out."""
        if (stream := self._streams.get(request.stream_id)) is None:
            return
        request.utterance = request.planned = utterance
        request.failed_on = None
        request.home = worker if self.capabilities[request.engine].local_state else None
        if not request.has_sound:
            stream.sink(Planned(request.job_id, utterance, now, took_s, request.num_retries))
        if utterance.done:
            self._finish(request, utterance)

    def rendered(self, request: Request, after: Utterance, samples: Samples, *, took_s: float, now: float) -> None:
        """Give out the result of a step, unless it is empty and more is to come."""
        if (stream := self._streams.get(request.stream_id)) is None:
            return
        request.utterance, request.failed_on = after, None
        if len(samples) or after.done:
            if request.keeping is not None:
                request.keeping.add(samples)
            retries = request.num_retries
            stream.sink(Rendered(request.job_id, samples, after, now, took_s, num_retries=retries))
        if after.done:
            self._finish(request, after)

    def failed(self, requests: Sequence[Request], worker: str, error: SynthesisFailed) -> tuple[int, ...]:
        """Note that a task failed on a worker; return the ids of the jobs that cannot be repeated."""
        for request in requests:
            request.num_retries += 1
            request.failed_on = worker
            if stream := self._streams.get(request.stream_id):
                stream.error = error
            found = self.capabilities[request.engine]
            if found.local_state:
                request.forget_plan()
            elif not found.exact:
                request.utterance = request.planned
        return tuple(request.job_id for request in requests if self._is_final(request))

    def orphaned(self, worker: str, error: SynthesisFailed) -> tuple[int, ...]:
        """Note that the state a worker held is lost; return the ids of the jobs that cannot be planned again."""
        orphans = [request for request in self._requests.values() if request.home == worker]
        for request in orphans:
            request.forget_plan()
            if stream := self._streams.get(request.stream_id):
                stream.error = error
        return tuple(request.job_id for request in orphans if self._is_final(request))

    def stillness(self, found: Sequence[tuple[Request, JobResult]], now: float) -> SynthesisFailed | None:
        """Return an error if steps of a request have given nothing for too long without an end."""
        late = [request for request, result in found if self._is_still(request, result, now)]
        for request in late:
            request.still_since_s, request.num_stills = None, request.num_stills + 1
        return SynthesisFailed(f"the engine gave no sound for {self.still_s:g} s") if late else None

    def _is_still(self, request: Request, result: JobResult, now: float) -> bool:
        if result.samples is None or len(result.samples) or result.utterance.done:
            request.still_since_s = None
            return False
        if request.still_since_s is None:
            request.still_since_s = now
        return now - request.still_since_s >= self.still_s

    def _is_final(self, request: Request) -> bool:
        """Return whether a retry is useless: it was silent twice, or its audio cannot be made again."""
        return request.num_stills > 1 or (request.has_sound and not self.capabilities[request.engine].exact)

    def _finish(self, request: Request, utterance: Utterance) -> None:
        if request.keeping is not None:
            self.cache.keep(request.keeping, utterance, self.capabilities[request.engine].hop_samples)
        self._drop(request)

    def _drop(self, request: Request) -> None:
        self._requests.pop(request.job_id, None)
        self._jobs_of.get(request.stream_id, set()).discard(request.job_id)
