"""Pipecat's service for OpenAI in one of its pipelines: it speaks, is interrupted, speaks again, is told of errors."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from third_party import needs, python_sidecar
from yuliu.audio.pcm import to_s16le

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from typing import Any

    from serving import Running

    from third_party import Sidecar
    from yuliu.synthesizer import Synthesizer

pytestmark = needs("pipecat")
TEXT = "one two three four five six seven eight nine ten. " * 4
LONG = TEXT * 10
"""Forty seconds."""


@pytest.fixture(scope="module")
def agent(running: Running) -> Iterator[Sidecar]:
    """A pipeline with the service, beside us."""
    with pipeline(f"{running.url}/v1") as agent:
        yield agent


def pipeline(url: str, voice: str = "alloy") -> AbstractContextManager[Sidecar]:
    """It takes OpenAI's voices only."""
    return python_sidecar("pipecat_agent.py", url, voice)


def heard(answer: dict[str, Any]) -> bytes:
    assert answer["error"] is None
    assert answer["rates"] == [24_000]
    return base64.b64decode(answer["sound"])


def made(running: Running, text: str) -> bytes:
    return to_s16le(running.synthesizer.speak(text).samples)


def test_it_hears_all_of_it(running: Running, agent: Sidecar) -> None:
    """Each text to the last sample, one after the other."""
    for text in (TEXT, "Hi.", "你好，今天天气怎么样？"):
        assert heard(agent.ask(text=text)) == made(running, text)


@pytest.mark.parametrize("voice", ["verse", "marin"])
def test_it_has_openais_voices(running: Running, voice: str) -> None:
    """Those are all that it takes, so each of their names has to mean something."""
    with pipeline(f"{running.url}/v1", voice) as agent:
        assert heard(agent.ask(text=TEXT)) == made(running, TEXT)


def test_a_listener_interrupts(running: Running, agent: Sidecar) -> None:
    """The service hangs up amid the sound: our work stops, and the next text is spoken whole."""
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


def test_it_is_told_what_is_wrong(running: Running, agent: Sidecar) -> None:
    """The pipeline has an error, with our words in it, and lives on."""
    assert "the input holds nothing that the voice can say" in agent.ask(text="…")["error"]
    assert heard(agent.ask(text=TEXT)) == made(running, TEXT)


def test_it_notices_that_a_part_is_not_the_whole(running: Running, cut: Running) -> None:
    """A failure amid the sound is an error of the pipeline's; what came before was heard."""
    with pipeline(f"{cut.url}/v1") as agent:
        answer = agent.ask(text=TEXT)
    assert answer["error"]
    sound = base64.b64decode(answer["sound"])
    assert 0 < len(sound) < len(made(running, TEXT))
    assert made(running, TEXT).startswith(sound)


@pytest.mark.voices
def test_real_voices(voices: tuple[str, Synthesizer]) -> None:
    """To the sample."""
    url, synthesizer = voices
    text = "三点半见。See you there."
    with pipeline(f"{url}/v1") as agent:
        assert heard(agent.ask(text=text)) == to_s16le(synthesizer.speak(text).samples)
