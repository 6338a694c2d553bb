"""Resend buffer: messages lost with a connection are sent again, and no text is sent twice."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from yuliu.client.resend_buffer import MAX_TEXT_CHARACTERS, ResendBuffer

SAID = st.lists(st.text(min_size=1, max_size=5) | st.sampled_from(["<flush>", "<config>"]), max_size=12)


class Server:
    """Server that receives a number of messages before the connection is lost."""

    def __init__(self) -> None:
        self.text, self.ended, self.others = "", False, list[tuple[str, int]]()

    def take(self, outbox: ResendBuffer, num_messages: int, num_arrive: int) -> None:
        for n in range(num_messages):
            item = outbox.next()
            if item is None:
                return
            if n < num_arrive:
                self.text += item.text
                self.ended |= item.kind == "end"
                if item.kind in ("flush", "config"):
                    self.others.append((item.kind, len(self.text)))


@given(SAID, st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=6))
def test_all_text_arrives_once(said: list[str], drops: list[tuple[int, int]]) -> None:
    """The connection is lost anywhere, each time with some of the sent messages."""
    outbox, server, text, others = ResendBuffer(), Server(), "", []
    for each in said:
        if each in ("<flush>", "<config>"):
            outbox.say(each.strip("<>"))
            others.append((each.strip("<>"), len(text)))
        else:
            outbox.text(each)
            text += each
    outbox.say("end")
    for num_messages, num_arrive in drops:
        server.take(outbox, num_messages, num_arrive)
        outbox.rewind(len(server.text), text_ended=server.ended)
    server.take(outbox, 1_000, 1_000)
    assert server.text == text
    assert server.ended
    assert list(dict.fromkeys(server.others)) == list(dict.fromkeys(others))


@given(st.integers(0, 11))
def test_partly_received_message_is_split(num_characters: int) -> None:
    """The server may have received a part of a message."""
    outbox = ResendBuffer()
    outbox.text("hello world")
    outbox.next()
    outbox.rewind(num_characters)
    rest = outbox.next()
    assert (rest.text if rest else "") == "hello world"[num_characters:]


def test_long_texts_are_split() -> None:
    """Each part fits into one message."""
    outbox = ResendBuffer()
    outbox.text("x" * (2 * MAX_TEXT_CHARACTERS + 1))
    lengths = [len(item.text) for item in iter(outbox.next, None)]
    assert lengths == [MAX_TEXT_CHARACTERS, MAX_TEXT_CHARACTERS, 1]


def test_items_have_the_fields_of_their_messages() -> None:
    """A text message carries its text, a change its values, and other messages nothing."""
    buffer = ResendBuffer()
    buffer.text("hi")
    buffer.say("config", speed=2.0)
    buffer.say("end")
    assert [(item.kind, item.fields) for item in iter(buffer.next, None)] == [
        ("text", {"text": "hi"}),
        ("config", {"speed": 2.0}),
        ("end", {}),
    ]
