"""The event log: replay makes the recorded decisions again."""

from __future__ import annotations

import json
import os
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine
from yuliu.errors import InvalidRequest
from yuliu.scheduler.policy import events
from yuliu.scheduler.policy.costs import EngineFacts
from yuliu.scheduler.policy.event_log import CONTRACT, Recorder, action_of, event_of, named, replay
from yuliu.scheduler.policy.events import Admit, Plan, SegmentReady, StreamOpened, Terms, Ticked, Tuned, WorkerUp
from yuliu.scheduler.policy.tuning import ClassRules, Tuning
from yuliu.scheduler.recording import RECORD, EventLogFile, recording
from yuliu.scheduler.settings import Settings
from yuliu.scheduler.simulation.rates import Rates
from yuliu.scheduler.simulation.simulate import Load, Simulation
from yuliu.synthesizer import Synthesizer
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from yuliu.scheduler.policy.events import Action, Event

TUNING = st.builds(
    Tuning,
    num_workers=st.none() | st.integers(0, 9),
    step_budget_s=st.floats(0.01, 0.04),
    throughput=st.booleans(),
    classes=st.fixed_dictionaries(
        {each: st.builds(ClassRules, st.floats(0, 9), st.integers(0, 9), st.floats(0, 9)) for each in StreamClass}
    ),
)


def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for values of a type, with every field drawn."""
    simple: dict[Any, st.SearchStrategy[Any]] = {
        Tuning: TUNING,
        float: st.floats(allow_nan=False),
        int: st.integers(),
        str: st.text(),
        bool: st.booleans(),
        StreamClass: st.sampled_from(StreamClass),
        type(None): st.none(),
    }
    if kind in simple:
        return simple[kind]
    if get_origin(kind) is tuple:
        return st.lists(values_of(get_args(kind)[0]), max_size=3).map(tuple)
    if get_origin(kind) is types.UnionType:
        return st.one_of([values_of(each) for each in get_args(kind)])
    hints = get_type_hints(kind, vars(events) | {"Tuning": Tuning})
    return st.builds(kind, **{name: values_of(each) for name, each in hints.items()})


FACTS = {"a": EngineFacts(80.0)}


@given(st.one_of([values_of(each) for each in get_args(events.Event)]))
def test_events_are_written_and_read_back(event: Event) -> None:
    """Every kind keeps all its fields through JSON."""
    assert event_of(json.loads(json.dumps(named(event)))) == event


@given(st.one_of([values_of(each) for each in get_args(events.Action)]))
def test_actions_are_written_and_read_back(action: Action) -> None:
    """Every kind keeps all its fields through JSON."""
    assert action_of(json.loads(json.dumps(named(action)))) == action


def recorded(seed: int = 0) -> list[str]:
    """Return the log of a simulated minute with too many listeners."""
    rates = {"a": Rates(step_s_per_s=0.1), "b": Rates(step_s_per_s=0.05, max_batch=4, batch_cost=0.5)}
    load = Load(num_streams=60, num_bulk=1, rate_per_s=1.0, seconds=20.0, seed=seed)
    lines: list[str] = []
    recorder = Recorder(lines.append, {name: each.facts for name, each in rates.items()}, Tuning())
    Simulation(rates, load, watch=lambda event, now, actions: recorder(now, event, actions)).run()
    return lines


def test_replay_makes_the_recorded_decisions() -> None:
    """The run has admissions, rejections, batches and bulk work."""
    lines = recorded()
    decisions = list(replay(lines))
    assert len(decisions) == len(lines) - 1 > 1000
    assert all(decision.is_same for decision in decisions)
    assert {type(action).__name__ for each in decisions for action in each.actions} == {
        "Admit",
        "Reject",
        "Plan",
        "Step",
    }


def test_replay_reports_a_different_decision() -> None:
    """The log claims another decision."""
    lines = recorded()
    first = next(number for number, line in enumerate(lines) if '"Plan"' in line)
    lines[first] = lines[first].replace('"worker":"worker-0"', '"worker":"worker-7"')
    assert [decision.number for decision in replay(lines) if not decision.is_same] == [first + 1]


def log(*more: str) -> list[str]:
    lines: list[str] = []
    recorder = Recorder(lines.append, FACTS, Tuning())
    recorder(1.0, WorkerUp("worker-0"), [])
    recorder(1.5, StreamOpened(1, ("a",), Terms(max_lead_s=3.0)), [Admit(1)])
    recorder(2.5, SegmentReady(1, 2, "a"), [Plan("worker-0", 2)])
    recorder(3.5, Tuned(Tuning(num_workers=1)), [])
    return [*lines, *more]


def test_a_log_holds_times_events_and_decisions() -> None:
    """Times are written exactly, so that no decision changes by rounding."""
    decisions = list(replay(log()))
    assert [decision.at_s for decision in decisions] == [1.0, 1.5, 2.5, 3.5]
    assert decisions[2].actions == decisions[2].recorded == (Plan("worker-0", 2),)
    assert all(decision.is_same for decision in decisions)


def test_an_incomplete_last_line_is_ignored() -> None:
    """The program may have been killed."""
    assert len(list(replay(log('{"at_s": 4.0, "eve')))) == 4


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[]",
        "{}",
        '{"at_s": 4, "event": "Ticked"}',
        '{"at_s": 4, "event": "NoSuch", "actions": []}',
        '{"at_s": 4, "event": "WorkerUp", "actions": []}',
        '{"at_s": 4, "event": "WorkerUp", "worker": 3, "actions": []}',
        '{"at_s": 4, "event": "WorkerUp", "worker": "x", "more": 1, "actions": []}',
        '{"at_s": "4", "event": "WorkerUp", "worker": "x", "actions": []}',
        '{"at_s": 4, "event": "WorkerUp", "worker": "x", "actions": [{"action": "NoSuch"}]}',
    ],
)
def test_an_invalid_line_is_reported(line: str) -> None:
    """The message has its number."""
    with pytest.raises(InvalidRequest, match="line 6 of the log"):
        list(replay(log(line + "\n")))


def test_a_log_of_another_version_is_rejected() -> None:
    """Its decisions would differ, or it could not be read at all."""
    lines = log()
    lines[0] = lines[0].replace(f'"contract":{CONTRACT}', '"contract":0')
    with pytest.raises(InvalidRequest, match="version 0 of the policy's contract"):
        list(replay(lines))


@pytest.mark.parametrize("lines", [[], ["\n"], ["[]\n"], ["{}\n"], ['{"contract": 2, "engines": {"a": {}}}\n']])
def test_a_file_that_is_not_a_log_is_rejected(lines: list[str]) -> None:
    """The error has a message and no traceback."""
    with pytest.raises(InvalidRequest, match="not a log of the scheduler"):
        list(replay(lines))


def test_the_environment_variable_names_the_file(tmp_path: Path) -> None:
    """Without it nothing is written."""
    assert recording({}) is None
    path = tmp_path / "events.jsonl"
    make = recording({RECORD: str(path)})
    assert make is not None
    make(FACTS, Tuning())(0.0, WorkerUp("worker-0"), [])
    assert len(list(replay(path.read_text().splitlines(keepends=True)))) == 1


def test_a_file_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    """The error comes before values_of is spoken."""
    with pytest.raises(InvalidRequest, match="cannot be written to"):
        recording({RECORD: str(tmp_path / "no" / "events.jsonl")})


def test_replay_of_a_threaded_scheduler_makes_the_same_decisions() -> None:
    """The log is that of a real scheduler, with workers that report in any order."""
    lines: list[str] = []
    settings = Settings(num_workers=2, record=lambda facts, tuning: Recorder(lines.append, facts, tuning))
    synthesizer = Synthesizer(
        [local_spec("tone", ToneEngine)], {"tone": {"en": "tone"}}, default="tone", settings=settings
    )
    with synthesizer:
        for _ in range(3):
            synthesizer.speak("One two three. Four five, six seven eight nine ten.")
    decisions = list(replay(lines))
    assert all(decision.is_same for decision in decisions)
    assert sum(isinstance(action, Admit) for each in decisions for action in each.actions) == 3


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
def test_a_full_disk_ends_only_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """One warning is logged."""
    make = recording({RECORD: "/dev/full"})
    assert make is not None
    recorder = make(FACTS, Tuning())
    for at_s in range(3):
        recorder(at_s, Ticked(), [])
    assert caplog.text.count("recording_ended") == 1


def test_a_log_ends_with_its_first_incomplete_line(caplog: pytest.LogCaptureFixture) -> None:
    """Replay stops at an incomplete line, so nothing follows it."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    log = EventLogFile(writing)
    line = "x" * 3000 + "\n"
    for _ in range(100):
        log.write(line)
    assert caplog.text.count("recording_ended") == 1
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(writing)
    with os.fdopen(reading, "rb") as file:
        written = file.read()
    assert set(written.split(b"\n")[:-1]) == {line[:-1].encode()}
