"""``WS /v1/stream`` on a real socket, with the ``websockets`` library as the client."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from native import LONG, TEXT, SoundFrame, Talk, pcm_of, talking
from serving import running_server
from websockets.exceptions import InvalidStatus

from yuliu.audio.encode import Encoder
from yuliu.audio.formats import choose_encoding
from yuliu.server.limits import Limits, NativeLimits
from yuliu.wire.native.decode import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

LLM_STREAM = Path(__file__).parents[2] / "data" / "llm_stream.jsonl"


@pytest.fixture
def running() -> Iterator[Running]:
    """A server with default limits."""
    with running_server() as server:
        yield server


@pytest.fixture
def talk(running: Running) -> Iterator[Talk]:
    """A connection to the server."""
    with talking(running.port) as found:
        yield found


def test_sound_messages_and_ending_are_right(running: Running, talk: Talk) -> None:
    """The audio is the library's, segments are announced first, every character is accounted for."""
    talk.speak(TEXT)
    done = talk.until("done")
    started = talk.told("started")[0]
    assert (started["voice"], started["format"], started["sample_rate"]) == ("tone", "pcm", 24_000)
    assert (started["channels"], started["mode"]) == (1, "normal")
    sound = talk.sound(started["tag"])
    assert sound == pcm_of(running, TEXT)
    assert done["num_bytes"] == len(sound)
    assert done["audio_ms"] == pytest.approx(len(sound) / 48)
    assert (done["spoken"], done["failed"], done["num_characters"]) == ([[0, len(TEXT)]], [], len(TEXT))
    segments = talk.told("segment")
    assert [each["spoken"] for each in segments] == ["Hello there how are you", "你好今天天气怎么样"]
    for segment, timing in zip(segments, talk.told("timing"), strict=True):
        before = talk.received[: talk.received.index(segment)]
        num_before = sum(len(each.data) for each in before if isinstance(each, SoundFrame))
        assert num_before == round(segment["at_ms"] * 48)
        for text, start_ms, end_ms, start, end in timing["timings"]:
            assert TEXT[start:end] == text
            assert segment["at_ms"] <= start_ms < end_ms
    of_stream = [each["seq"] for each in talk.received if isinstance(each, dict) and each["type"] != "pong"]
    assert of_stream == list(range(len(of_stream)))


def test_sound_comes_before_the_text_has_ended(running: Running, talk: Talk) -> None:
    """A segment is spoken once it is certain; ``flush`` makes the rest certain."""
    talk.say("start", chunking="punctuation")
    talk.say("text", text="First of all, this. Then")
    talk.until_sound()
    talk.say("flush")
    while len(talk.told("segment")) < 2:
        talk.next()
    talk.say("text", text=" more.")
    talk.say("end")
    assert talk.until("done")["failed"] == []


@pytest.mark.parametrize(
    "row", [json.loads(line) for line in LLM_STREAM.read_text().splitlines()], ids=lambda r: r["id"]
)
def test_tokens_of_a_language_model(running: Running, talk: Talk, row: dict[str, Any]) -> None:
    """Text that is cut anywhere gives the audio of the whole."""
    deltas = [delta for delta in row["deltas"] if not delta.startswith("@@")]
    talk.say("start")
    for delta in deltas:
        talk.say("text", text=delta)
    talk.say("end")
    done = talk.until("done")
    assert done["num_characters"] == len("".join(deltas))
    assert done["failed"] == []
    assert talk.sound(1) == (pcm_of(running, "".join(deltas)) if done["spoken"] else b"")


@pytest.mark.parametrize(
    ("name", "rate", "channels"), [("wav", None, 1), ("pcm", 16_000, 2), ("mulaw", None, 1), ("mp3", None, 1)]
)
def test_formats_are_those_of_the_encoders(
    running: Running, talk: Talk, name: str, rate: int | None, channels: int
) -> None:
    """Each stream has its encoder, and ``started`` describes it."""
    talk.speak(TEXT, format=name, sample_rate=rate, channels=channels)
    talk.until("done")
    started = talk.told("started")[0]
    encoding = choose_encoding(name, 24_000, sample_rate=rate, num_channels=channels)
    assert (started["sample_rate"], started["media_type"]) == (encoding.sample_rate, encoding.media_type)
    with Encoder(encoding, 24_000) as encoder:
        wanted = encoder.write(running.synthesizer.speak(TEXT).samples)
        wanted += encoder.finish()
    assert talk.sound(started["tag"]) == wanted


def test_config_holds_for_what_follows(running: Running, talk: Talk) -> None:
    """Speed and chunking change between two utterances."""
    talk.say("start")
    talk.say("text", text="one two three. ")
    talk.say("flush")
    talk.until_sound()
    talk.say("config", speed=2, chunking="sentence")
    talk.say("text", text="one, two, three.")
    talk.say("end")
    done = talk.until("done")
    assert [each["spoken"] for each in talk.told("segment")] == ["one two three", "one two three"]
    assert done["audio_ms"] < 2 * 320 + 500
    first, second = talk.told("timing")
    length = [each["timings"][0][2] - each["timings"][0][1] for each in (first, second)]
    assert length == pytest.approx([100, 50])


def test_errors_name_their_context_and_field(running: Running, talk: Talk) -> None:
    """An error names the context, the field and what it ends."""
    talk.say("start")
    talk.until("started")
    wrong: list[tuple[str, dict[str, Any], str, str | None]] = [
        ("start", {"context": "b", "voice": "nobody"}, "unknown_voice", "voice"),
        ("start", {"context": "b", "format": "midi"}, "invalid_request", "format"),
        ("start", {"context": "b", "format": "mulaw", "channels": 2}, "invalid_request", "channels"),
        ("start", {"context": "b", "preset": "nothing"}, "invalid_request", "preset"),
        ("start", {"context": "b", "lexicon": ["nothing"]}, "unknown_lexicon", "lexicon"),
        ("start", {"context": "b", "class": "urgent"}, "invalid_request", "class"),
        ("config", {"context": "a", "chunking": "anyhow"}, "invalid_request", "chunking.strategy"),
        ("text", {"context": "c", "text": "x"}, "unknown_context", None),
        ("sing", {"context": "a"}, "invalid_request", "type"),
    ]
    for kind, fields, code, param in wrong:
        talk.ws.send(json.dumps({"type": kind, **fields}))
        error = talk.next()
        assert isinstance(error, dict)
        assert (error["type"], error["code"], error.get("param")) == ("error", code, param), error
        assert error["ends"] == ("context" if fields["context"] != "a" else "nothing")
    talk.ws.send(b"\1\2\3")
    told = talk.next()
    assert isinstance(told, dict)
    assert told["code"] == "invalid_message"
    talk.say("text", text=TEXT)
    talk.say("end")
    assert talk.until("done")["failed"] == []


def test_a_pong_has_the_clock(talk: Talk) -> None:
    """A pong has the server's times of receipt and answer."""
    for given in (None, 5, 2.5, "five"):
        talk.say("ping", None, id=given)
        pong = talk.next()
        assert isinstance(pong, dict)
        assert pong.get("id") == given
        assert 0 < pong["t_receive_ms"] <= pong["t_send_ms"]


STATES = ("at_once", "started", "text", "working", "sounding", "ended", "done")


@pytest.mark.parametrize("state", STATES)
def test_cancel_in_every_state_then_again(running: Running, talk: Talk, state: str) -> None:
    """Cancel is always answered, nothing follows, and the name can be reused at once."""
    if state == "working":
        running.gate.close()
    talk.say("start")
    if state != "at_once":
        talk.until("started")
    if state == "text":
        talk.say("text", text="not certain")
    elif state in ("working", "sounding", "ended", "done"):
        talk.say("text", text=LONG if state != "done" else TEXT)
        if state in ("ended", "done"):
            talk.say("end")
        if state == "working":
            running.wait_until(lambda: running.synthesizer._scheduler.num_jobs > 0)
        elif state == "done":
            talk.until("done")
        else:
            talk.until_sound()
    talk.say("cancel", position_ms=150)
    talk.speak(TEXT)  # without waiting
    cancelled = talk.until("cancelled")
    running.gate.open()
    before = len(talk.received)
    old = {each.tag for each in talk.received if isinstance(each, SoundFrame)}
    num_bytes = sum(len(each.data) for each in talk.received if isinstance(each, SoundFrame))
    assert cancelled["num_bytes"] == num_bytes
    assert cancelled["delivered_ms"] == pytest.approx(num_bytes / 48, abs=0.01)
    if state in ("sounding", "ended", "done"):
        assert cancelled["heard_ms"] == pytest.approx(min(150, num_bytes / 48), abs=0.01)
        assert cancelled["heard_source_end"] == (len("one two") if state != "done" else len("Hello there"))
    done = talk.until("done")
    assert done["failed"] == []
    tag = talk.told("started")[-1]["tag"]
    assert tag not in old
    assert {each.tag for each in talk.received[before:] if isinstance(each, SoundFrame)} == {tag}
    assert talk.sound(tag) == pcm_of(running, TEXT)
    running.wait_until(lambda: running.synthesizer.num_streams == 0)


def test_contexts_and_clients_are_never_mixed(running: Running) -> None:
    """Four clients with three contexts each get their own samples."""
    texts = [
        [f"Client {chr(97 + client)} context {chr(97 + each)} speaks. 第{each}个。" * 5 for each in range(3)]
        for client in range(4)
    ]
    wanted = [[pcm_of(running, text) for text in of_client] for of_client in texts]
    wrong: list[str] = []

    def run(client: int) -> None:
        with talking(running.port) as talk:
            for each, text in enumerate(texts[client]):
                talk.say("start", f"c{each}")
                for at in range(0, len(text), 7):
                    talk.say("text", f"c{each}", text=text[at : at + 7])
                talk.say("end", f"c{each}")
            while sum(len(talk.told("done", f"c{each}")) for each in range(3)) < 3:
                talk.next()
            wrong.extend(
                f"{client} {each}"
                for each in range(3)
                if talk.sound(talk.told("started", f"c{each}")[0]["tag"]) != wanted[client][each]
            )

    threads = [Thread(target=run, args=(client,)) for client in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_engine_failures_report_the_coverage() -> None:
    """Earlier audio is sent, then the error ends the context; others go on."""
    with running_server(fail_steps=frozenset({2, 3})) as running, talking(running.port) as talk:
        talk.speak("First. Second one. Third.", chunking="punctuation")
        while not (errors := talk.told("error")):
            talk.next()
        (error,) = errors
        assert (error["code"], error["ends"]) == ("synthesis_failed", "context")
        assert error["failed"]
        talk.speak(TEXT, "b")
        assert talk.until("done", "b")["failed"] == []


def test_limits_are_reported() -> None:
    """Limits on streams, characters and contexts are reported; too long a message closes the connection."""
    limits = Limits(max_streams=1, native=NativeLimits(max_characters=20))
    with running_server(limits) as running, talking(running.port) as talk:
        talk.say("start")
        talk.until("started")
        talk.say("start", "b")
        error = talk.next()
        assert isinstance(error, dict)
        assert (error["code"], error["ends"], error["retry_after_s"]) == ("overloaded", "context", 1.0)
        talk.say("text", text="x" * 21)
        error = talk.next()
        assert isinstance(error, dict)
        assert (error["code"], error["param"], error["ends"]) == ("invalid_request", "text", "context")
        running.wait_until(lambda: running.synthesizer.num_streams == 0)
        talk.say("text", text="x" * MAX_MESSAGE_BYTES)
        assert talk.closed()[0] == 1009


def test_much_nonsense_ends_the_connection(talk: Talk) -> None:
    """The connection is closed with the policy code."""
    for _ in range(101):
        talk.ws.send("nonsense")
    assert talk.closed() == (1008, "too many wrong messages")


def test_an_idle_connection_is_closed() -> None:
    """An idle connection without contexts is closed; one with a context stays."""
    with (
        running_server(Limits(native=NativeLimits(idle_s=0.2))) as running,
        talking(running.port) as silent,
        talking(running.port) as waiting,
    ):
        waiting.say("start")
        waiting.until("started")
        assert silent.closed() == (4000, "idle")
        waiting.say("end")
        waiting.until("done")
        assert waiting.closed() == (4000, "idle")


def test_text_that_does_not_come_ends_its_context() -> None:
    """The context fails with a timeout; the connection stays."""
    with running_server(Limits(native=NativeLimits(idle_text_s=0.1))) as running, talking(running.port) as talk:
        talk.say("start")
        while not (errors := talk.told("error")):
            talk.next()
        assert (errors[0]["code"], errors[0]["ends"]) == ("timeout", "context")
        talk.speak(TEXT, "b")
        talk.until("done", "b")


def test_an_underrun_is_reported() -> None:
    """The client is notified of an underrun and of its end."""
    with running_server() as running, talking(running.port) as talk:
        talk.say("start")
        talk.say("text", text="One. ")
        talk.say("flush")
        stalled = talk.until("stalled")
        assert stalled["audio_ms"] == pytest.approx(len(talk.sound(1)) / 48)
        assert stalled["waits_for"] == "text"
        talk.say("text", text="Two.")
        talk.say("end")
        assert talk.until("resumed")["audio_ms"] == stalled["audio_ms"]
        talk.until("done")


def test_an_underrun_names_the_party_that_is_late(running: Running, talk: Talk) -> None:
    """An underrun is the server's if all text is there, and the writer's if text may go on."""
    running.gate.close()
    talk.say("start")
    talk.say("text", text="One two three. ")
    talk.say("flush")
    running.wait_until(lambda: running.engine.num_plans == 1)
    running.gate.pass_one()
    assert talk.until("stalled")["waits_for"] == "sound"
    running.gate.open()
    talk.until("resumed")
    talk.say("text", text="Four")
    assert talk.until("stalled")["waits_for"] == "text"
    talk.say("end")
    talk.until("done")


def test_two_hundred_idle_connections_are_no_burden(running: Running) -> None:
    """All are answered, and another client is served as usual."""
    with ExitStack() as stack:
        idle = [stack.enter_context(talking(running.port, ping_interval=None)) for _ in range(200)]
        with talking(running.port) as talk:
            talk.speak(TEXT)
            talk.until("done")
            assert talk.sound(1) == pcm_of(running, TEXT)
        for each in idle:
            each.say("ping", None)
        for each in idle:
            assert each.next()


def test_other_pages_are_refused(running: Running) -> None:
    """Only the server's own pages and allowed origins are accepted."""
    own = f"http://127.0.0.1:{running.port}"
    for origin in (None, own):
        with talking(running.port, origin=origin) as talk:
            talk.say("ping", None)
            assert talk.next()
    for origin in ("https://evil.example", "null", f"http://localhost:{running.port + 1}"):
        with pytest.raises(InvalidStatus) as refused, talking(running.port, origin=origin):
            pass
        assert refused.value.response.status_code == 403
        assert b"origin_not_allowed" in (refused.value.response.body or b"")
    allowing = running_server(app={"origins": ["https://good.example/"]})
    with allowing as other, talking(other.port, origin="https://Good.example") as talk:
        talk.say("ping", None)
        assert talk.next()


def test_other_hosts_paths_and_long_heads_are_refused(running: Running) -> None:
    """The handshake is refused as an HTTP request would be."""
    for headers, status in [({"Host": "evil.example"}, 421), ({"X-Long": "x" * 9_000}, 431)]:
        head = "".join(f"{name}: {value}\r\n" for name, value in {"Host": "localhost", **headers}.items())
        raw = running.connect()
        raw.sendall(
            f"GET /v1/stream HTTP/1.1\r\n{head}Connection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        assert raw.recv(65_536).startswith(f"HTTP/1.1 {status}".encode())


def test_voices_that_are_not_loaded_yet() -> None:
    """The handshake gets 503 with Retry-After."""
    from threading import Event

    from serving import started, tone_synthesizer

    from yuliu.engines.tone import ToneEngine

    loaded = Event()

    def load() -> Any:
        loaded.wait()
        return tone_synthesizer(ToneEngine())

    with started(load) as server:
        try:
            with pytest.raises(InvalidStatus) as refused, talking(server.port):
                pass
            assert refused.value.response.status_code == 503
            assert refused.value.response.headers["Retry-After"] == "1"
        finally:
            loaded.set()
