"""The queue of streams that wait for admission."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from yuliu.scheduler.policy.admission import MAX_RETRY_S, MIN_RETRY_S, Admission, Room
from yuliu.scheduler.policy.events import Terms
from yuliu.scheduler.policy.state import StreamState
from yuliu.scheduler.policy.tuning import ClassRules, Tuning
from yuliu.types import StreamClass

CLASSES = st.sampled_from(StreamClass)
WEIGHTS = st.sampled_from([0.5, 1.0, 2.0])
NEEDS = st.floats(0.01, 1.5)
STREAMS = st.lists(st.tuples(CLASSES, WEIGHTS, NEEDS), max_size=20)
NO_ROOM, MUCH_ROOM = Room(0.0, 0, empty=False), Room(1e9, 1000, empty=False)


def first_pool(_: StreamState) -> tuple[int]:
    return (0,)


def queued_streams(
    wanted: list[tuple[StreamClass, float, float]],
) -> tuple[Admission, list[StreamState], dict[int, float]]:
    admission, needs = Admission(), {}
    streams = [
        StreamState(number, (), Terms(stream_class, weight), float(number))
        for number, (stream_class, weight, _) in enumerate(wanted)
    ]
    for stream, (_, _, need) in zip(streams, wanted, strict=True):
        needs[stream.stream_id] = need
        admission.ask(stream)
    return admission, streams, needs


@given(STREAMS)
def test_streams_are_admitted_by_class_then_weight_then_time(wanted: list[tuple[StreamClass, float, float]]) -> None:
    """Every stream is admitted if there is enough room."""
    admission, streams, needs = queued_streams(wanted)
    found = list(admission.next([MUCH_ROOM], lambda stream: needs[stream.stream_id], first_pool))
    order = list(StreamClass)
    assert found == sorted(
        streams, key=lambda s: (order.index(s.terms.stream_class), -s.terms.weight, s.opened_at_s, s.stream_id)
    )
    assert admission.num_waiting == 0


@given(STREAMS, st.floats(0, 3), st.integers(0, 3), st.booleans())
def test_admitted_demand_fits_the_room(
    wanted: list[tuple[StreamClass, float, float]], workers: float, bulk: int, empty: bool
) -> None:
    """The first stream alone may need more, if no worker is in use; bulk streams need no share."""
    admission, streams, needs = queued_streams(wanted)
    found = list(admission.next([Room(workers, bulk, empty)], lambda stream: needs[stream.stream_id], first_pool))
    heard = [stream for stream in found if not stream.is_bulk]
    assert sum(needs[stream.stream_id] for stream in heard[empty:]) <= workers + 1e-9
    assert sum(stream.is_bulk for stream in found) <= bulk
    assert admission.num_waiting == len(streams) - len(found)
    left = [stream for stream in streams if stream not in found]
    assert not any(stream.is_bulk for stream in found) or all(stream.is_bulk for stream in left)
    if empty and any(not stream.is_bulk for stream in streams):
        assert heard


@given(STREAMS, st.integers(0, 3), st.floats(0, 30))
def test_each_stream_is_rejected_once_and_none_is_lost(
    wanted: list[tuple[StreamClass, float, float]], max_waiting: int, now: float
) -> None:
    """Only streams beyond the limit and streams past the maximum wait are rejected."""
    admission, streams, _ = queued_streams(wanted)
    tuning = Tuning(classes=dict.fromkeys(StreamClass, ClassRules(0.1, max_waiting, 5.0)))
    away = list(admission.give_up(now, tuning, []))
    assert len({stream.stream_id for stream, _, _ in away}) == len(away)
    assert admission.num_waiting == len(streams) - len(away)
    assert all(MIN_RETRY_S <= retry_s <= MAX_RETRY_S for _, _, retry_s in away)
    for stream in streams:
        mine = [s for s in streams if s.terms.stream_class is stream.terms.stream_class]
        before = sorted(mine, key=lambda s: (-s.terms.weight, s.stream_id)).index(stream)
        reasons = [reason for other, reason, _ in away if other is stream]
        too_long = now - stream.opened_at_s >= 5.0
        assert reasons == (["queue_full"] if before >= max_waiting else ["waited_too_long"] if too_long else [])


def test_a_withdrawn_stream_is_forgotten() -> None:
    """Its place in the queue is free."""
    admission, (first, second), _ = queued_streams([(StreamClass.STANDARD, 1.0, 0.1)] * 2)
    admission.forget(first)
    assert list(admission.next([MUCH_ROOM], lambda _: 0.1, first_pool)) == [second]
    assert admission.next_timeout_s(Tuning()) is None
