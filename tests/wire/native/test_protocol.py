"""Order of messages: any sequence of frames has a defined answer, and the server sends nothing out of order."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from yuliu.wire.native.encode import parse_sound_frame
from yuliu.wire.native.messages import (
    Cancel,
    CancelAck,
    Close,
    Continued,
    Done,
    Draining,
    End,
    Failure,
    Ping,
    PlaybackPosition,
    Pong,
    Resume,
    SegmentBegun,
    Start,
    Started,
    TextDelta,
)
from yuliu.wire.native.protocol import (
    MAX_CONTEXTS,
    MAX_OVER,
    MAX_REFUSED,
    ContextState,
    OutOfOrder,
    Refused,
    ServerProtocol,
)

NAMES = ("a", "b", "c")
KINDS = ("start", "text", "flush", "config", "playback", "cancel", "end", "resume", "ping", "unheard_of")


def say(conversation: ServerProtocol, kind: str, context: str | None = "a", **fields: Any) -> object:
    needed: dict[str, dict[str, Any]] = {
        "text": {"text": "hello"},
        "playback": {"position_ms": 10},
        "resume": {"stream": "s", "offset": 0, "seq": 0},
    }
    of_context = {} if kind == "ping" else {"context": context}
    return conversation.receive(json.dumps({"type": kind, **of_context, **needed.get(kind, {}), **fields}))


def refusal(answer: object) -> Failure:
    assert isinstance(answer, Refused), answer
    return answer.failure


def started(name: str = "a") -> ServerProtocol:
    conversation = ServerProtocol()
    assert isinstance(say(conversation, "start", name), Start)
    conversation.send(Started(context=name))
    return conversation


def test_a_context_runs_from_start_to_done() -> None:
    """This covers the usual course, and an interruption after all audio was sent."""
    conversation = started()
    assert say(conversation, "text") == TextDelta("a", "hello")
    conversation.send(SegmentBegun(context="a", start=0, end=5))
    assert say(conversation, "end") == End("a")
    assert refusal(say(conversation, "text")).code == "text_ended"
    assert say(conversation, "playback") == PlaybackPosition("a", 10)
    conversation.send(Done(context="a"))
    assert conversation.num_open == 0
    assert say(conversation, "flush") is None
    assert say(conversation, "cancel", position_ms=5) == Cancel("a", 5)
    conversation.send(CancelAck(context="a"))
    assert refusal(say(conversation, "cancel")).code == "unknown_context"


def test_nothing_follows_cancelled() -> None:
    """The server sends nothing of the context between a cancel and its answer, or after it."""
    conversation = started()
    assert conversation.send_sound("a", 0, b"xy")
    assert say(conversation, "cancel") == Cancel("a")
    with pytest.raises(OutOfOrder):
        conversation.send_sound("a", 2, b"z")
    with pytest.raises(OutOfOrder):
        conversation.send(Done(context="a"))
    conversation.send(CancelAck(context="a"))
    with pytest.raises(OutOfOrder):
        conversation.send_sound("a", 2, b"z")
    with pytest.raises(OutOfOrder):
        conversation.send(CancelAck(context="a"))


def test_a_reused_name_gets_another_tag() -> None:
    """No frame can be taken for one of the previous context."""
    conversation = started()
    tag = parse_sound_frame(conversation.send_sound("a", 0, b"x")).tag
    assert refusal(say(conversation, "start")).code == "context_in_use"
    say(conversation, "cancel")
    conversation.send(CancelAck(context="a"))
    say(conversation, "start")
    told = json.loads(conversation.send(Started(context="a")))
    assert told["tag"] != tag
    assert parse_sound_frame(conversation.send_sound("a", 0, b"x")).tag == told["tag"]


def test_a_resumed_stream_takes_text_only_if_it_had_not_ended() -> None:
    """Messages before the lost connection still count."""
    for ended in (False, True):
        conversation = ServerProtocol()
        assert say(conversation, "resume") == Resume("a", "s", 0, 0)
        conversation.send(Continued("a", "s", text_ended=ended))
        answer = say(conversation, "text")
        assert (refusal(answer).code == "text_ended") if ended else (answer == TextDelta("a", "hello"))


def test_invalid_messages_are_answered_and_change_nothing() -> None:
    """Each error names the field at fault and what it ends."""
    conversation = started()
    cases: list[tuple[str | bytes, str | None, str]] = [
        (b"\0\1", None, "nothing"),
        ("{", None, "nothing"),
        ("[1]", None, "nothing"),
        ("[" * 100_000, None, "nothing"),
        ('{"type": "text", "type": "end"}', None, "nothing"),
        ('{"type": "text", "context": "a", "text": NaN}', None, "nothing"),
        ('{"type": "text", "context": "a", "text": "\\ud83d"}', "text", "nothing"),
        ('{"type": "text", "context": "a b", "text": "x"}', "context", "nothing"),
        ('{"type": "text", "context": "a", "text": "x", "more": 1}', None, "nothing"),
        ('{"type": "playback", "context": "a", "position_ms": -1}', "position_ms", "nothing"),
        ('{"type": "playback", "context": "a", "position_ms": 1e999}', "position_ms", "nothing"),
        ('{"type": "config", "context": "a", "speed": 9}', "speed", "nothing"),
        ('{"type": "start", "context": "new", "speed": true}', "speed", "context"),
        ('{"type": "start", "context": "a", "speed": 9}', "speed", "nothing"),
        ('{"type": "start", "context": "new", "resume_s": 61}', "resume_s", "context"),
        ('{"type": "start", "context": "new", "weight": 0}', "weight", "context"),
        ('{"type": "start", "context": "new", "channels": 3}', "channels", "context"),
        ('{"type": "resume", "context": "new", "stream": "s", "offset": 0.5, "seq": 0}', "offset", "context"),
        ('{"type": "ping", "id": [1]}', "id", "nothing"),
        ('{"type": ["text"]}', "type", "nothing"),
    ]
    for frame, param, ends in cases:
        failure = refusal(conversation.receive(frame))
        assert (failure.param, failure.ends) == (param, ends), frame
        conversation.send(failure)
    assert conversation.state("a") is ContextState.OPEN
    assert conversation.state("new") is ContextState.UNKNOWN
    assert conversation.num_open == 1


def test_the_number_of_open_contexts_is_bounded() -> None:
    """One more is refused until another is over."""
    conversation = ServerProtocol()
    for index in range(MAX_CONTEXTS):
        say(conversation, "start", f"c{index}")
    failure = refusal(say(conversation, "start", "more"))
    assert (failure.code, failure.ends) == ("too_many_contexts", "context")
    conversation.send(failure)
    conversation.send(Started(context="c0"))
    conversation.send(Done(context="c0"))
    assert isinstance(say(conversation, "start", "more"), Start)


def test_finished_contexts_are_forgotten_eventually() -> None:
    """Only the last ones are remembered."""
    conversation = ServerProtocol()
    for index in range(MAX_OVER + 5):
        say(conversation, "start", f"c{index}")
        conversation.send(Started(context=f"c{index}"))
        conversation.send(Done(context=f"c{index}"))
    assert conversation.state("c4") is ContextState.UNKNOWN
    assert conversation.state("c5") is ContextState.OVER


def test_a_client_that_sends_only_invalid_messages_is_disconnected() -> None:
    """The connection is closed after a fixed number of invalid messages."""
    conversation = ServerProtocol()
    answers = [conversation.receive("nonsense") for _ in range(MAX_REFUSED + 1)]
    assert {each.close for each in answers[:-1] if isinstance(each, Refused)} == {None}
    assert isinstance(answers[-1], Refused)
    assert (answers[-1].close, answers[-1].failure.ends) == (Close.POLICY, "connection")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ("context", "text", "speed", "chunking", "position_ms", "stream", "offset", "seq", "id", "format", "voice")


@given(
    st.lists(
        st.text(max_size=60)
        | st.binary(max_size=60)
        | st.dictionaries(st.sampled_from(FIELDS), JSON | st.sampled_from(NAMES), max_size=4).flatmap(
            lambda fields: st.sampled_from(KINDS).map(lambda kind: json.dumps({"type": kind, **fields}))
        ),
        max_size=20,
    )
)
def test_any_frames_have_an_answer(frames: list[str | bytes]) -> None:
    """The answer is a message in order, an error that can be sent, or nothing, never an exception."""
    conversation = ServerProtocol()
    for frame in frames:
        answer = conversation.receive(frame)
        if isinstance(answer, Refused):
            assert json.loads(conversation.send(answer.failure))["type"] == "error"
        elif isinstance(answer, Cancel):
            conversation.send(CancelAck(context=answer.context))


class AnyOrder(RuleBasedStateMachine):
    """Both sides send anything at any time; a model decides whether it is in order."""

    def __init__(self) -> None:
        super().__init__()
        self.conversation = ServerProtocol()
        self.open: set[str] = set()
        self.known: set[str] = set()
        self.tags: set[int] = set()

    @rule(name=st.sampled_from(NAMES), kind=st.sampled_from(KINDS))
    def client_says(self, name: str, kind: str) -> None:
        answer = say(self.conversation, kind, name)
        if isinstance(answer, Refused):
            assert answer.failure.code != "context_in_use" or name in self.open
            self.conversation.send(answer.failure)
        elif isinstance(answer, Ping):
            self.conversation.send(Pong(None, 0, 0))
        elif isinstance(answer, Cancel):
            assert name in self.known
            self.conversation.send(CancelAck(context=name))
            self.open.discard(name)
            self.known.discard(name)
        elif isinstance(answer, Start | Resume):
            assert name not in self.open
            self.open.add(name)
            self.known.add(name)
        elif answer is None:
            assert name in self.known - self.open
        else:
            assert name in self.known

    @rule(name=st.sampled_from(NAMES), over=st.sampled_from([Done, Failure]))
    def server_ends(self, name: str, over: type) -> None:
        message = Done(context=name) if over is Done else Failure("error", "it broke", "context", name)
        try:
            self.conversation.send(message)
        except OutOfOrder:
            assert name not in self.open
        else:
            self.open.discard(name)

    @rule(name=st.sampled_from(NAMES))
    def server_sends_sound(self, name: str) -> None:
        try:
            self.conversation.send_sound(name, 0, b"x")
        except OutOfOrder:
            assert name not in self.open
        else:
            assert name in self.open

    @rule()
    def server_drains(self) -> None:
        assert json.loads(self.conversation.send(Draining(1.0))) == {"type": "draining", "time_s": 1.0}

    @invariant()
    def counts(self) -> None:
        assert self.conversation.num_open == len(self.open)


TestAnyOrder = AnyOrder.TestCase


def test_a_context_that_was_sent_completely_is_over() -> None:
    """A resumed context takes no more text if the client has all of it."""
    conversation = started()
    conversation.all_was_sent("a")
    assert conversation.num_open == 0
    assert say(conversation, "cancel") == Cancel("a")
