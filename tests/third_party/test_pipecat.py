"""Pipecat's service for OpenAI in a pipeline: speech, interruption and errors."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest
from third_party_clients import needs, python_sidecar

from yuliu.audio.pcm import to_s16le

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from typing import Any

    from serving import Running
    from third_party_clients import Sidecar

    from yuliu.synthesizer import Synthesizer

pytestmark = needs("pipecat")
TEXT = "one two three four five six seven eight nine ten. " * 4
LONG = TEXT * 10
"""Forty seconds."""


@pytest.fixture(scope="module")
def agent(running: Running) -> Iterator[Sidecar]:
    """A pipeline with the service in its own process."""
    with pipeline(f"{running.url}/v1") as agent:
        yield agent


def pipeline(url: str, voice: str = "alloy") -> AbstractContextManager[Sidecar]:
    """Run a pipeline; the service accepts OpenAI's voices only."""
    return python_sidecar("pipecat_agent.py", url, voice)


def heard(answer: dict[str, Any]) -> bytes:
    assert answer["error"] is None
    assert answer["rates"] == [24_000]
    return base64.b64decode(answer["sound"])


def made(running: Running, text: str) -> bytes:
    return to_s16le(running.synthesizer.speak(text).samples)


def test_all_audio_is_received(running: Running, agent: Sidecar) -> None:
    """Each text is complete to the last sample."""
    for text in (TEXT, "Hi.", "你好，今天天气怎么样？"):
        assert heard(agent.ask(text=text)) == made(running, text)


@pytest.mark.parametrize("voice", ["verse", "marin"])
def test_openais_voices_are_accepted(running: Running, voice: str) -> None:
    """The service accepts no others, so each of their names must work."""
    with pipeline(f"{running.url}/v1", voice) as agent:
        assert heard(agent.ask(text=TEXT)) == made(running, TEXT)


def test_an_interruption_stops_the_work(running: Running, agent: Sidecar) -> None:
    """The service closes the connection during the audio; the next text is spoken completely."""
    running.gate.close()
    before = running.gate.num_frames
    for _ in range(4):
        running.gate.pass_one()
    sound = heard(agent.ask(text=LONG, num_frames=1))
    running.gate.open()
    running.wait_until(lambda: running.synthesizer.num_streams == 0)
    assert running.gate.num_frames - before < 1_000  # of 4,000; 10 ms each
    assert made(running, LONG).startswith(sound)
    assert heard(agent.ask(text=TEXT)) == made(running, TEXT)


def test_a_refusal_is_an_error_of_the_pipeline(running: Running, agent: Sidecar) -> None:
    """The error holds the server's message, and the pipeline continues."""
    assert "the input holds nothing that the voice can say" in agent.ask(text="…")["error"]
    assert heard(agent.ask(text=TEXT)) == made(running, TEXT)


def test_a_truncated_response_is_an_error(running: Running, cut: Running) -> None:
    """The audio before the failure is heard."""
    with pipeline(f"{cut.url}/v1") as agent:
        answer = agent.ask(text=TEXT)
    assert answer["error"]
    sound = base64.b64decode(answer["sound"])
    assert 0 < len(sound) < len(made(running, TEXT))
    assert made(running, TEXT).startswith(sound)


@pytest.mark.voices
def test_real_voices(voices: tuple[str, Synthesizer]) -> None:
    """The audio is exact to the sample."""
    url, synthesizer = voices
    text = "三点半见。See you there."
    with pipeline(f"{url}/v1") as agent:
        assert heard(agent.ask(text=text)) == to_s16le(synthesizer.speak(text).samples)
