"""Chromium: web pages that play the server's audio in every way that browsers offer, and one that is refused."""

from __future__ import annotations

import base64
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from chromium import Page, chromium
from serving import running_server
from third_party_clients import needs

from yuliu.access import KeyRing
from yuliu.access.key_store import KeyStore
from yuliu.wire.keys import ApiKey

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from serving import Running

    from yuliu.synthesizer import Synthesizer
    from yuliu.types import Samples

pytestmark = [needs("chromium"), pytest.mark.timeout(120)]
TEXT = "one two three four five six seven eight nine ten. One two. "
"""A little more than a second: it is played in real time."""
LONG = "one two three four five six seven eight nine ten. " * 100
"""About 100 s of audio."""
FETCHED = ["mp3", "opus", "flac", "wav", "aac", "webm", "mp4"]
PLAYED = {
    "webm": "audio/webm; codecs=opus",
    "mp4": "audio/mp4; codecs=opus",
    "mp3": "audio/mpeg",
    "aac": "audio/aac",
}
"""Media types that this browser's MediaSource accepts."""
PADDING_S = {"mp3": 0.1, "aac": 0.1, "mp4": 0.014}
"""Maximum silence before and after the audio, both together."""
LOST_S = {"webm": 0.001}
"""Maximum loss: times in WebM are whole milliseconds."""
BLOCK_S = 0.03
"""Maximum excess of a medium's duration: the rest of the last packet."""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, origin: str) -> Iterator[Page]:
    """A browser on the allowed page."""
    with chromium(tmp_path_factory.mktemp("chromium")) as page:
        page.open(f"{origin}/index.html")
        yield page


@pytest.fixture(scope="module")
def running(origin: str) -> Iterator[Running]:
    """A server that allows the page."""
    with running_server(app={"origins": [origin]}) as running:
        yield running


def heard(told: dict[str, Any]) -> Samples:
    """Return the samples that a function of the page returned."""
    assert "samples" in told, told
    return np.frombuffer(base64.b64decode(told["samples"]), np.float32)


def sounding(samples: Samples) -> Samples:
    """Return the samples without the silence around them."""
    loud = np.flatnonzero(np.abs(samples) > 0.01)
    return samples[loud[0] : loud[-1] + 1]


def levels(samples: Samples) -> Samples:
    """Return the level of each whole block of 50 ms."""
    frames = samples[: len(samples) // 1_200 * 1_200].reshape(-1, 1_200)
    return np.asarray(np.sqrt(np.mean(frames**2, axis=1)), np.float32)


def assert_all_of_it(samples: Samples, made: Samples, name: str) -> None:
    """Assert that all audio was heard at the same level, with no more than the codec's padding."""
    assert -LOST_S.get(name, 0.0) - 1e-4 <= (len(samples) - len(made)) / 24_000 <= PADDING_S.get(name, 0.0) + 1e-4
    assert np.sum(samples**2) == pytest.approx(np.sum(made**2), rel=0.1)
    if name in ("flac", "wav", "pcm"):
        assert np.abs(samples - made).max() <= 1 / 16_384


@pytest.mark.parametrize("name", FETCHED)
def test_fetched_audio_is_decoded(page: Page, running: Running, name: str) -> None:
    """The page has another origin; the request is allowed, and the headers are readable."""
    told = page.run("fetched", running.url, TEXT, name)
    assert told["rate"] == "24000"
    assert_all_of_it(heard(told), running.synthesizer.speak(TEXT).samples, name)


def test_the_native_stream_is_exact(page: Page, running: Running) -> None:
    """The WebSocket delivers the library's audio, all messages, and a clean close."""
    told = page.run("spokenPcm", running.url, TEXT)
    assert_all_of_it(heard(told), running.synthesizer.speak(TEXT).samples, "pcm")
    kinds = [each["type"] for each in told["messages"]]
    assert (kinds[0], kinds[-1]) == ("started", "done")
    assert {"segment", "timing"} <= set(kinds)
    assert (told["code"], told["wasClean"]) == (1000, True)


@pytest.mark.parametrize(("name", "media_type"), PLAYED.items())
def test_the_native_stream_is_played(page: Page, running: Running, name: str, media_type: str) -> None:
    """MediaSource feeds an audio element in real time; its output is recorded."""
    told = page.run("played", running.url, TEXT, name, media_type)
    made = running.synthesizer.speak(TEXT).samples
    assert told["code"] == 1000
    assert -0.001 <= told["duration_s"] - len(made) / 24_000 <= PADDING_S.get(name, BLOCK_S)
    sounded, spoken = levels(sounding(heard(told))), levels(sounding(made))
    assert abs(len(sounded) - len(spoken)) <= 1
    num_both = min(len(sounded), len(spoken)) - 1
    assert np.abs(sounded[1:num_both] - spoken[1:num_both]).max() < 0.05


@pytest.mark.parametrize(("name", "media_type"), PLAYED.items())
def test_playback_starts_during_synthesis(
    page: Page, running: Running, origin: str, name: str, media_type: str
) -> None:
    """The element plays after three steps, and then to the end."""
    with running_server(app={"origins": [origin]}) as held:
        held.gate.close()
        for _ in range(3):
            held.gate.pass_one()
        try:
            assert page.run("begun", held.url, TEXT, name, media_type) == "playing"
            assert held.engine.num_steps <= 4  # one waits
        finally:
            held.gate.open()
        told = page.run("rest")
    made_s = len(running.synthesizer.speak(TEXT).samples) / 24_000
    assert -0.001 <= told["duration_s"] - made_s <= PADDING_S.get(name, BLOCK_S)


def test_a_page_of_another_origin_is_refused(page: Page, running: Running, origin: str) -> None:
    """At both endpoints, and also without a preflight request; no work is done for it."""
    before = running.engine.num_plans
    page.open(f"{origin.replace('127.0.0.1', 'localhost')}/index.html")
    try:
        outcome = page.run("refused", running.url)
    finally:
        page.open(f"{origin}/index.html")
    assert outcome == {"speech": "TypeError", "simple": "Opaque", "stream": "Error"}
    assert running.engine.num_plans == before


@pytest.mark.parametrize(("function", "arguments"), [("fetched", ["mp3"]), ("spokenPcm", [])])
def test_leaving_a_page_stops_the_work(
    page: Page, running: Running, origin: str, function: str, arguments: list[str]
) -> None:
    """At both endpoints, only the step in progress is lost."""
    running.gate.close()
    try:
        running.gate.pass_one()
        before = running.gate.num_frames
        page.begin(function, running.url, LONG, *arguments)
        running.wait_until(lambda: running.gate.num_frames > before and running.synthesizer.num_streams == 1)
        page.open(f"{origin}/index.html?again")
        running.wait_until(lambda: running.synthesizer.num_streams == 0)
    finally:
        running.gate.open()
    assert running.speech(input="Hi.").status_code == 200
    assert running.gate.num_frames - before < 200  # of 10,000; 10 ms each


def test_a_page_authenticates_with_its_key(page: Page, running: Running, origin: str, tmp_path: Path) -> None:
    """It sends the key in a header or, for a WebSocket, as a subprotocol; the refusal of another key is readable."""
    store = KeyStore(tmp_path)
    key = store.add(partial(ApiKey, "page"))
    made = running.synthesizer.speak(TEXT).samples
    with running_server(app={"origins": [origin], "keys": KeyRing(store)}) as locked:
        assert_all_of_it(heard(page.run("fetched", locked.url, TEXT, "flac", key)), made, "flac")
        assert_all_of_it(heard(page.run("spokenPcm", locked.url, TEXT, key)), made, "pcm")
        for wrong in (None, "yuliu_wrong"):
            told = page.run("fetched", locked.url, TEXT, "flac", wrong)
            assert (told["status"], told["code"]) == (401, "invalid_api_key")
            assert page.run("streamOutcome", locked.url, wrong) == "Error"


@pytest.mark.voices
def test_real_voices(page: Page, voices: tuple[str, Synthesizer], tmp_path: Path) -> None:
    """The audio is fetched, streamed and played; the page draws it for a person to look at."""
    url, synthesizer = voices
    text = "三点半见。See you there."
    made = synthesizer.speak(text).samples
    assert_all_of_it(heard(page.run("spokenPcm", url, text)), made, "pcm")
    for name in FETCHED:
        assert_all_of_it(heard(page.run("fetched", url, text, name)), made, name)
    told = page.run("played", url, text, "webm", PLAYED["webm"])
    assert -0.001 <= told["duration_s"] - len(made) / 24_000 <= BLOCK_S
    page.photograph(tmp_path / "heard.png")
    assert (tmp_path / "heard.png").stat().st_size > 10_000
