"""Who is let in, who waits, who is turned away. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from yuliu.scheduler.book import Stream
    from yuliu.scheduler.tuning import Tuning

RETRY_AFTER_S = 1.0


class Admission:
    """The streams that wait to be admitted, by class; the heaviest first, then the first come."""

    def __init__(self) -> None:
        self._waiting: dict[StreamClass, list[Stream]] = {stream_class: [] for stream_class in StreamClass}

    def ask(self, stream: Stream) -> None:
        """A stream wants to be let in."""
        queue = self._waiting[stream.terms.stream_class]
        place = next((i for i, other in enumerate(queue) if other.terms.weight < stream.terms.weight), len(queue))
        queue.insert(place, stream)

    def forget(self, stream_id: int) -> None:
        """A stream does not want any more."""
        for queue in self._waiting.values():
            queue[:] = [stream for stream in queue if stream.stream_id != stream_id]

    def next(self, room: float, demand: Callable[[Stream], float]) -> Iterator[Stream]:
        """Those that fit into the room, in lanes' shares; they are forgotten here."""
        for stream_class in StreamClass:
            queue = self._waiting[stream_class]
            while queue and (needed := demand(queue[0])) <= room:
                room -= needed
                yield queue.pop(0)
            if queue:
                return

    def give_up(self, now: float, tuning: Tuning) -> Iterator[tuple[Stream, str, float]]:
        """Those that are too many, and those that have waited too long, with reason and retry time."""
        for stream_class, queue in self._waiting.items():
            rules = tuning.classes[stream_class]
            while len(queue) > rules.max_waiting:
                yield queue.pop(), "queue_full", RETRY_AFTER_S
            for stream in [s for s in queue if now - s.opened_at_s >= rules.max_wait_s]:
                queue.remove(stream)
                yield stream, "waited_too_long", RETRY_AFTER_S

    def next_timeout_s(self, tuning: Tuning) -> float | None:
        """When the next one will have waited too long."""
        return min(
            (
                stream.opened_at_s + tuning.classes[stream_class].max_wait_s
                for stream_class, queue in self._waiting.items()
                for stream in queue
            ),
            default=None,
        )
