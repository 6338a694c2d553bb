"""Lost connections, slow and lying clients, a stopping server: no audio is lost or repeated."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from native import LONG, TEXT, SoundFrame, Talk, pcm_of, talking
from serving import running_server

from yuliu.server.limits import Limits, NativeLimits
from yuliu.stream import StreamOptions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

SHORT = "你。好。"


@pytest.fixture
def running() -> Iterator[Running]:
    """A server with default limits."""
    with running_server() as server:
        yield server


def small_buffer(raw: socket.socket) -> None:
    """A socket with a small receive buffer."""
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)


def received(talk: Talk) -> tuple[bytes, int]:
    """Return the audio and the number of messages of the only stream of a connection."""
    told = [each for each in talk.received if isinstance(each, dict) and "seq" in each]
    return b"".join(each.data for each in talk.received if isinstance(each, SoundFrame)), len(told)


def test_resume_at_every_byte(running: Running) -> None:
    """Wherever the connection is lost, the rest follows to the byte."""
    wanted = pcm_of(running, SHORT)
    with talking(running.port) as first:
        first.speak(SHORT, speed=4, chunking="punctuation")
        done = first.until("done")
        stream = first.told("started")[0]["stream"]
        sound, _ = received(first)
        assert 0 < len(sound) < len(wanted)
        with talking(running.port) as talk:
            num_received = num_told = 0
            for frame in first.received:
                if isinstance(frame, dict):
                    num_told += 1
                    continue
                for _ in frame.data:
                    talk.received.clear()
                    talk.say("resume", stream=stream, offset=num_received, seq=num_told)
                    assert talk.until("done") == done
                    continued = talk.told("continued")[0]
                    assert (continued["offset"], continued["text_ended"]) == (num_received, True)
                    assert talk.sound(continued["tag"]) == sound[num_received:]
                    seqs = [each["seq"] for each in talk.received if isinstance(each, dict) and "seq" in each]
                    assert seqs == list(range(num_told, done["seq"] + 1))
                    num_received += 1
        assert num_received == len(sound)


def test_drops_while_it_is_spoken_lose_nothing(running: Running) -> None:
    """A client that reconnects many times, also amid its text, gets the complete audio."""
    sound, num_told, num_sent, stream = b"", 0, 0, ""
    text = LONG[:500]
    for drop in range(8):
        with talking(running.port) as talk:
            if not stream:
                talk.say("start")
                stream = talk.until("started")["stream"]
            else:
                talk.say("resume", stream=stream, offset=len(sound), seq=num_told)
                continued = talk.until("continued")
                num_sent = continued["num_characters"]
            if num_sent < len(text):
                for at in range(num_sent, min(len(text), num_sent + 90), 9):
                    talk.say("text", text=text[at : at + 9])
                if num_sent + 90 >= len(text):
                    talk.say("end")
            try:
                while not talk.told("done") and (drop == 7 or len(received(talk)[0]) < 30_000):
                    talk.ws.socket.settimeout(None)
                    talk.next()
            except TimeoutError:
                pass
            more, told = received(talk)
            sound, num_told = sound + more, num_told + told
            if talk.told("done"):
                break
            talk.vanish()
    assert talk.told("done")[0]["failed"] == []
    assert sound == pcm_of(running, text)


def test_a_drop_does_not_flush_pending_text(running: Running) -> None:
    """Pending text is not flushed while its writer is disconnected."""
    text = "It is 3.14 and a bit."
    with talking(running.port) as talk:
        talk.say("start")
        stream = talk.until("started")["stream"]
        talk.say("text", text=text[:8])
        talk.say("ping", None, id=1)
        talk.until("pong", None)
        talk.vanish()
    away_until_s = time.monotonic() + 2 * StreamOptions().stall_s
    running.wait_until(lambda: time.monotonic() > away_until_s)
    with talking(running.port) as talk:
        talk.say("resume", stream=stream, offset=0, seq=1)
        assert talk.until("continued")["num_characters"] == 8
        talk.say("text", text=text[8:])
        talk.say("end")
        talk.until("done")
        assert talk.sound(1) == pcm_of(running, text)


@pytest.mark.parametrize("then", ["idle", "cancel", "drain"])
def test_a_stream_that_was_received_whole_is_over(then: str) -> None:
    """A finished stream can be resumed and cancelled, and sends no second ending."""
    with running_server(Limits(native=NativeLimits(idle_s=0.3 if then == "idle" else 60.0))) as running:
        with talking(running.port) as talk:
            talk.speak(TEXT)
            done = talk.until("done")
            stream = talk.told("started")[0]["stream"]
            talk.vanish()
        with talking(running.port) as talk:
            talk.say("resume", stream=stream, offset=done["num_bytes"], seq=done["seq"] + 1)
            talk.until("continued")
            if then == "cancel":
                talk.say("cancel", position_ms=100)
                assert talk.until("cancelled")["heard_ms"] == 100
                return
            if then == "drain":
                running.server.stop()
            assert talk.closed() == ((4000, "idle") if then == "idle" else (1001, "draining"))
            assert talk.told("error") == []


def test_a_resumed_stream_leaves_its_old_connection(running: Running) -> None:
    """The old connection gets no more of the stream, and can go on with other contexts."""
    with talking(running.port) as old, talking(running.port) as new:
        old.say("start")
        stream = old.until("started")["stream"]
        new.say("resume", "b", stream=stream, offset=0, seq=1)
        assert new.until("continued", "b")["text_ended"] is False
        moved = old.next()
        assert isinstance(moved, dict)
        assert (moved["code"], moved["ends"]) == ("moved", "context")
        new.say("text", "b", text=TEXT)
        new.say("end", "b")
        new.until("done", "b")
        assert new.sound(1) == pcm_of(running, TEXT)
        old.speak(TEXT)
        old.until("done")
        assert old.sound(2) == pcm_of(running, TEXT)


def test_wrong_positions_are_refused(
    running: Running,
) -> None:
    """Wrong positions and unknown streams are refused; the stream itself goes on."""
    with talking(running.port) as talk, talking(running.port) as liar:
        talk.speak(TEXT)
        talk.until("done")
        stream = talk.told("started")[0]["stream"]
        num_bytes = len(received(talk)[0])
        for name, fields in enumerate(
            [
                {"stream": stream, "offset": num_bytes + 1, "seq": 0},
                {"stream": stream, "offset": 0, "seq": 99},
                {"stream": stream, "offset": 0, "seq": 5},
                {"stream": "0" * 32, "offset": 0, "seq": 0},
            ]
        ):
            liar.say("resume", f"c{name}", **fields)
            error = liar.next()
            assert isinstance(error, dict)
            assert (error["code"], error["ends"]) == ("not_resumable", "context"), error
        talk.say("cancel", position_ms=1e9)
        cancelled = talk.until("cancelled")
        assert cancelled["heard_ms"] == cancelled["delivered_ms"] == pytest.approx(num_bytes / 48)


def test_a_stream_that_is_not_resumed_is_dropped() -> None:
    """The stream is dropped after the requested time, or at once without one or after a clean close."""
    limits = Limits(native=NativeLimits())
    with running_server(limits) as running:
        for resume_s, politely in [(0, False), (0.05, False), (10, True)]:
            with talking(running.port) as talk:
                talk.say("start", resume_s=resume_s)
                talk.say("text", text=LONG)
                talk.until_sound()
                if politely:
                    talk.ws.close()
                else:
                    talk.vanish()
            running.wait_until(lambda: running.synthesizer.num_streams == 0)


def test_a_detached_stream_pauses(running: Running) -> None:
    """A detached stream pauses as one whose client does not read."""
    with talking(running.port) as talk:
        talk.say("start", resume_s=10)
        talk.say("text", text=LONG)
        talk.until_sound()
        talk.vanish()
    num_frames = -1
    for _ in range(20):
        if running.gate.num_frames == num_frames:
            break
        num_frames = running.gate.num_frames
        for _ in range(20):
            assert running.client.get("/health").status_code == 200
    assert running.synthesizer.num_streams == 1
    assert num_frames < 1_500  # 15 s of the hundred


def test_a_slow_reader_stops_its_own_stream_only(running: Running) -> None:
    """Its buffers are bounded, others are served, and it gets all audio in the end."""

    with (
        talking(running.port, adjust=small_buffer, max_queue=1, ping_interval=None) as slow,
        talking(running.port) as quick,
    ):
        slow.say("start")
        slow.say("text", text=LONG[:1500])
        slow.say("end")
        slow.until_sound()
        for index in range(10):
            quick.speak(TEXT, f"c{index % 2}")
            quick.until("done", f"c{index % 2}")
        num_frames = running.gate.num_frames
        assert num_frames < 10 * 60 + 1_500
        slow.until("done")
        assert slow.sound(1) == pcm_of(running, LONG[:1500])


def test_a_client_that_never_reads_is_cut_off() -> None:
    """The connection is cut after the stall time, and nothing is left."""

    with (
        running_server(Limits(stall_s=0.3)) as running,
        talking(running.port, adjust=small_buffer, max_queue=1, ping_interval=None) as stuck,
    ):
        stuck.say("start", resume_s=0)
        stuck.say("text", text=LONG)
        running.wait_until(lambda: running.synthesizer.num_streams == 1)
        running.wait_until(lambda: running.synthesizer.num_streams == 0)
        stuck.vanish()


def test_draining_finishes_streams_under_load() -> None:
    """Clients are notified, streams finish, new contexts are refused, then connections close."""

    def run(talk: Talk) -> tuple[int, str]:
        talk.until("done")
        return talk.closed()

    with running_server(Limits(native=NativeLimits(drain_s=20))) as running:
        wanted = pcm_of(running, LONG[:400])
        with ExitStack() as stack:
            busy = [stack.enter_context(talking(running.port)) for _ in range(6)]
            idle = stack.enter_context(talking(running.port))
            running.gate.close()
            for talk in busy:
                talk.speak(LONG[:400])
                talk.until("started")
            running.server.stop()
            assert idle.until("draining", None)["time_s"] == 20
            assert idle.closed() == (1001, "draining")
            late = busy[0]
            late.say("start", "late")
            late.until("draining", None)
            while not (errors := late.told("error", "late")):
                late.next()
            assert errors[0]["code"] == "closed"
            running.gate.open()
            with ThreadPoolExecutor(len(busy)) as pool:
                assert set(pool.map(run, busy)) == {(1001, "draining")}
            for talk in busy:
                assert talk.told("draining", None)
                assert talk.sound(talk.told("started")[0]["tag"]) == wanted


def test_draining_ends_when_its_time_is_up() -> None:
    """Streams that still wait for text fail, then the connection closes."""
    with running_server(Limits(native=NativeLimits(drain_s=0.1))) as running, talking(running.port) as talk:
        talk.say("start")
        talk.until("started")
        running.server.stop()
        code, reason = talk.closed()
        assert (code, reason) == (1001, "draining")
        (error,) = talk.told("error")
        assert (error["code"], error["ends"]) == ("closed", "context")


def test_clients_that_vanish_at_any_moment_leave_nothing(running: Running) -> None:
    """No stream, no segment and no task is left."""
    running.client.get("/health")
    before = (running.synthesizer.num_streams, running.server.num_tasks)
    for index in range(60):
        with talking(running.port) as talk:
            for step in range(index % 5):
                match step:
                    case 0:
                        talk.say("start", resume_s=0)
                    case 1:
                        talk.say("text", text=LONG)
                    case 2:
                        talk.until_sound()
                    case 3:
                        talk.say("end")
            talk.vanish()
    running.wait_until(lambda: (running.synthesizer.num_streams, running.server.num_tasks) == before)
    assert running.synthesizer._scheduler.num_jobs == 0
