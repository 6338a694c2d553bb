"""Client and server joined in memory by connections that are cut at any moment: each side gets everything once."""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec import structs

from yuliu.wire.native import messages as said
from yuliu.wire.native.client_codec import parse_reply, request_text
from yuliu.wire.native.encode import parse_sound_frame
from yuliu.wire.native.protocol import ContextState, Refused, ServerProtocol
from yuliu.wire.native.replay_buffer import EncodedPiece, NotKept, ReplayBuffer, Tally, forget_oldest

NAMES = ("a", "b")
Frame = str | bytes


@dataclass
class Made:
    """A stream of the server: everything that it sent, in order."""

    window: ReplayBuffer
    made: list[said.Told | bytes] = field(default_factory=list)
    text: str = ""
    over: bool = False
    cancelled: bool = False

    @property
    def sound(self) -> bytes:
        return b"".join(each for each in self.made if isinstance(each, bytes))

    @property
    def messages(self) -> list[said.Told]:
        return [
            structs.replace(each, seq=seq) for seq, each in enumerate(m for m in self.made if not isinstance(m, bytes))
        ]


class Server:
    """The server without sockets: one session for each connection, and replay buffers that outlive it."""

    def __init__(self, max_bytes: int) -> None:
        self.tally = Tally()
        self.streams: dict[str, Made] = {}
        self.conversation = ServerProtocol()
        self.contexts: dict[str, Made] = {}
        self.out: deque[Frame] = deque()
        self._max_bytes = max_bytes

    def connected(self) -> None:
        """Open a new connection; data on the old one is lost."""
        self.conversation, self.out = ServerProtocol(), deque()
        for stream in self.contexts.values():
            stream.window.put_back()
        self.contexts = {}

    def receive(self, frame: Frame) -> None:
        match message := self.conversation.receive(frame):
            case Refused(failure=failure):
                self.out.append(self.conversation.send(failure))
            case said.Start(context=name):
                self.contexts[name] = made = Made(ReplayBuffer(self._max_bytes, 1e9, self.tally))
                self.streams[f"s{len(self.streams)}"] = made
                self.say(name, said.Started(stream=f"s{len(self.streams) - 1}"))
            case said.Resume():
                self._resume(message)
            case said.TextDelta(context=name, text=text):
                self.contexts[name].text += text
            case said.Cancel(context=name):
                if name in self.contexts:  # otherwise its resume was refused
                    made = self.contexts.pop(name)
                    made.window.clear()
                    made.cancelled = made.over = True
                self.out.append(self.conversation.send(said.CancelAck(name)))

    def _resume(self, wanted: said.Resume) -> None:
        made = self.streams[wanted.stream]
        try:
            made.window.rewind(wanted.offset if not made.cancelled else 10**9, wanted.seq)
        except NotKept as error:
            failure = said.Failure(error.code, error.message, "context", wanted.context)
            self.out.append(self.conversation.send(failure))
            return
        self.contexts[wanted.context] = made
        going_on = said.Continued(wanted.context, wanted.stream, offset=wanted.offset, num_characters=len(made.text))
        self.out.append(self.conversation.send(going_on))

    def say(self, name: str, what: said.Told | bytes) -> None:
        """Produce more of a stream."""
        made = self.contexts[name]
        made.made.append(what)
        if isinstance(what, bytes):
            made.window.add_sound(what, 0.0)
        else:
            made.window.tell(what)
            made.over = made.over or isinstance(what, said.Done | said.Failure)

    def send(self, name: str, now: float) -> None:
        """Send the next record of a context."""
        record = self.contexts[name].window.next(now)
        if isinstance(record, EncodedPiece):
            self.out.append(self.conversation.send_sound(name, record.offset, record.data))
        elif record is not None:
            self.out.append(self.conversation.send(structs.replace(record, context=name)))


@dataclass
class Got:
    """Data of a stream that a client has received."""

    stream: str
    tag: int
    sound: bytes = b""
    tail: int = 0
    """Bytes of the last frame, if it was audio."""
    seqs: list[int] = field(default_factory=list)
    messages: list[Any] = field(default_factory=list)
    ended: str = ""


class Client:
    """A client that checks the rules of the protocol's page."""

    def __init__(self) -> None:
        self.gots: list[Got] = []
        self.contexts: dict[str, Got] = {}
        self.asked: dict[str, Got] = {}
        self.cancelled_tags: set[int] = set()

    def receive(self, frame: Frame) -> None:
        if isinstance(frame, bytes):
            found = parse_sound_frame(frame)
            assert found.tag not in self.cancelled_tags, "late sound of a context that was cancelled"
            (got,) = [each for each in self.contexts.values() if each.tag == found.tag]
            assert found.offset == len(got.sound), "a gap, or something twice"
            got.sound += found.data
            got.tail = len(found.data)
            return
        message = parse_reply(frame)
        match message:
            case said.Started(context=name):
                self.contexts[name] = got = Got(message.stream, message.tag)
                self.gots.append(got)
                self._note(got, message)
            case said.Continued(context=name):
                self.contexts[name] = got = self.asked.pop(name)
                assert message.offset == len(got.sound)
                got.tag = message.tag
            case said.CancelAck(context=name):
                if (gone := self.contexts.pop(name, None)) is not None:
                    gone.ended = "cancelled"
                    self.cancelled_tags.add(gone.tag)
            case said.Failure(code="not_resumable", context=str(name)):
                self.asked.pop(name).ended = "not_resumable"
            case said.Failure(seq=None):
                pass
            case _:
                context = getattr(message, "context", None)
                self._note(self.contexts[str(context)], message)

    def _note(self, got: Got, message: Any) -> None:
        assert message.seq == len(got.seqs), "a message is missing, or came twice"
        got.seqs.append(message.seq)
        got.tail = 0
        got.messages.append(message)
        if isinstance(message, said.Done | said.Failure):
            got.ended = "done"


class Joined(RuleBasedStateMachine):
    """Each rule is a possible event. Time passes with each."""

    @initialize(max_bytes=st.sampled_from([10**9, 0, 700, 3_000]))
    def begin(self, max_bytes: int) -> None:
        self.server, self.client = Server(max_bytes), Client()
        self.up: deque[Frame] = deque()
        self.now = 0.0
        for name in NAMES:
            self.say("start", name)
        self.all_goes_on(1)

    def say(self, kind: str, name: str, **fields: Any) -> None:
        self.up.append(request_text(kind, name, **fields))

    @rule(name=st.sampled_from(NAMES), kind=st.sampled_from(["flush", "config", "end", "start", "flush", "cancel"]))
    def client_says(self, name: str, kind: str) -> None:
        """Start a context, whether or not that is in order."""
        self.say(kind, name)

    @rule(name=st.sampled_from(NAMES), text=st.text("ab", max_size=3))
    def client_writes(self, name: str, text: str) -> None:
        """Send more text."""
        self.say("text", name, text=text)

    @rule()
    @precondition(lambda self: self.up)
    def server_receives(self) -> None:
        """Deliver one frame, in order."""
        self.server.receive(self.up.popleft())

    @rule(number=st.integers(1, 4))
    def client_receives(self, number: int) -> None:
        """Deliver some frames, in order."""
        for _ in range(min(number, len(self.server.out))):
            self.client.receive(self.server.out.popleft())

    @rule(name=st.sampled_from(NAMES), data=st.binary(min_size=1, max_size=40))
    def server_makes_sound(self, name: str, data: bytes) -> None:
        """Produce audio of an unfinished stream."""
        if self.open(name):
            self.server.say(name, data)

    @rule(name=st.sampled_from(NAMES), what=st.sampled_from(["segment"] * 6 + ["done", "failed"]))
    def server_makes_a_message(self, name: str, what: str) -> None:
        """Produce a message of an unfinished stream, which may end it."""
        told: dict[str, said.Told] = {
            "segment": said.SegmentBegun(start=0, end=1),
            "done": said.Done(),
            "failed": said.Failure("synthesis_failed", "it failed", "context"),
        }
        if self.open(name):
            self.server.say(name, told[what])

    @rule(name=st.sampled_from(NAMES), number=st.integers(1, 5))
    def server_sends(self, name: str, number: int) -> None:
        """Send some records of a context that is not over."""
        for _ in range(number):
            if name in self.server.contexts and self.server.conversation.state(name) in (
                ContextState.OPEN,
                ContextState.ENDED,
            ):
                self.now += 1
                self.server.send(name, self.now)

    @rule(number=st.integers(1, 3))
    def all_goes_on(self, number: int) -> None:
        """Deliver everything in both directions, and send more of each context."""
        while self.up:
            self.server_receives()
        for name in list(self.server.contexts):
            self.server_sends(name, number)
        self.client_receives(100)

    @rule(max_bytes=st.sampled_from([0, 1_000, 2_000]))
    @precondition(lambda self: self.server.tally.num_kept > 2_000)
    def memory_is_short(self, max_bytes: int) -> None:
        """Reduce the buffers of all streams."""
        forget_oldest([each.window for each in self.server.streams.values()], self.server.tally, max_bytes)

    @rule(lie=st.integers(0, 9), lost=st.integers(0, 30))
    def the_line_is_cut(self, lie: int, lost: int) -> None:
        """Lose all data in transit, and possibly the end of a frame; the client resumes from what it had."""
        self.server.connected()
        self.up.clear()
        self.client.cancelled_tags.clear()
        had, self.client.contexts, self.client.asked = self.client.contexts | self.client.asked, {}, {}
        had.pop("liar", None)
        for name, got in had.items():
            if got.ended != "cancelled":
                got.ended = ""  # the records after it are requested again, and there are none
                self.client.asked[name] = got
                got.sound = got.sound[: len(got.sound) - min(lost, got.tail)]
                got.tail = 0
                self.say("resume", name, stream=got.stream, offset=len(got.sound), seq=len(got.seqs))
        if lie == 0 and (streams := list(self.server.streams)):
            self.say("resume", "liar", stream=streams[0], offset=10**6, seq=0)
            self.client.asked["liar"] = Got(streams[0], 0)

    def open(self, name: str) -> bool:
        made = self.server.contexts.get(name)
        return made is not None and not made.over

    @invariant()
    def the_client_has_a_beginning(self) -> None:
        """Check that what a client has is the beginning of what the stream sent, in bytes and in messages."""
        if not hasattr(self, "client"):
            return
        for got in self.client.gots:
            made = self.server.streams[got.stream]
            assert made.sound.startswith(got.sound)
            assert [type(each) for each in got.messages] == [type(each) for each in made.messages[: len(got.seqs)]]

    def teardown(self) -> None:
        """Deliver everything: the client then has it all, or knows the reason why not."""
        if not hasattr(self, "client"):
            return
        for _ in range(2_000):
            while self.up:
                self.server_receives()
            for name in list(self.server.contexts):
                self.server_sends(name, 5)
            if not self.server.out:
                break
            self.client_receives(4)
        for name, got in self.client.contexts.items():
            made = self.server.streams[got.stream]
            if self.server.contexts.get(name) is made and not made.cancelled:
                assert got.sound == made.sound
                assert len(got.seqs) == len(made.messages)
        assert self.client.asked == {}
        for got in self.client.gots:
            made = self.server.streams[got.stream]
            known = got in self.client.contexts.values() or got.ended in ("cancelled", "not_resumable", "done")
            assert known or made.cancelled, "a stream that the client knows nothing of any more"


Joined.TestCase.settings = settings(max_examples=300, stateful_step_count=40, deadline=None)
TestJoined = Joined.TestCase


def test_a_repeated_byte_is_detected(monkeypatch: Any) -> None:
    """The state machine finds a server that repeats a byte after a lost connection."""
    client = Client()
    server = Server(10**9)
    server.receive(request_text("start", "a"))
    server.say("a", b"sound")
    for _ in range(2):
        server.send("a", 1.0)
    while server.out:
        client.receive(server.out.popleft())
    server.connected()
    client.asked, client.contexts = client.contexts, {}
    server.receive(json.dumps({"type": "resume", "context": "a", "stream": "s0", "offset": 5, "seq": 1}))
    server.say("a", b"more")
    server.send("a", 2.0)
    frames = list(server.out)
    client.receive(frames[0])
    client.receive(frames[1])
    assert client.gots[0].sound == b"soundmore"
    try:
        client.receive(frames[1])
    except AssertionError as error:
        assert "twice" in str(error)
    else:
        raise AssertionError("it did not")
