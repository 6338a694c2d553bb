"""LiveKit's agents with their plugin for OpenAI: speech, interruption and errors."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import numpy as np
import pytest
from third_party_clients import needs, python_sidecar

from yuliu.audio.pcm import to_s16le

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from serving import Running
    from third_party_clients import Sidecar

    from yuliu.synthesizer import Synthesizer

pytestmark = needs("livekit")
TEXT = "one two three four five six seven eight nine ten. " * 4
LONG = TEXT * 10
"""Forty seconds."""
LOST_S = 0.03
"""Maximum loss at the end: LiveKit drops up to a frame of Opus and FLAC."""
MAX_FILL_BYTES = 48 * 20
PADDING_S = {"mp3": 0.1, "aac": 0.1}
"""Maximum silence before and after the audio, both together."""


@pytest.fixture(scope="module")
def agent(running: Running) -> Iterator[Sidecar]:
    """The plugin in its own process."""
    with python_sidecar("livekit_agent.py", f"{running.url}/v1") as agent:
        yield agent


def asked(text: str | None = None, **fields: Any) -> dict[str, Any]:
    """A request to the agent."""
    return {"model": "gpt-4o-mini-tts", "voice": "alloy", "format": "pcm", "text": text, **fields}


def heard(answer: dict[str, Any]) -> bytes:
    assert answer["rates"] == [24_000]
    return base64.b64decode(answer["sound"])


def unpadded(sound: bytes, made: bytes) -> bool:
    """Return whether the audio equals the expected one, apart from the silence that fills LiveKit's last frame."""
    rest = sound.removeprefix(made)
    return sound.startswith(made) and len(rest) < MAX_FILL_BYTES and not any(rest)


@pytest.mark.parametrize("model", ["tts-1", "gpt-4o-mini-tts"])
@pytest.mark.parametrize("name", ["mp3", "opus", "aac", "flac", "wav", "pcm"])
def test_all_audio_is_received(running: Running, agent: Sidecar, model: str, name: str) -> None:
    """The plugin requests plain audio of one model and events of the other."""
    answer = agent.ask(**asked(TEXT, model=model, format=name))
    assert answer["error"] is None
    sound, made = heard(answer), running.synthesizer.speak(TEXT).samples
    if name in ("wav", "pcm"):
        assert unpadded(sound, to_s16le(made))
    else:
        samples = np.frombuffer(sound, np.int16) / 32_768
        assert -LOST_S <= (len(samples) - len(made)) / 24_000 <= PADDING_S.get(name, 0.0)
        assert np.mean(samples**2) * len(samples) == pytest.approx(np.mean(made**2) * len(made), rel=0.1)


def test_a_text_in_deltas_is_spoken_in_order(running: Running, agent: Sidecar) -> None:
    """The adapter requests each sentence; all are there, with nothing between them."""
    sentences = ["One two three four five six.", "Seven eight nine ten eleven twelve.", "One two three four five."]
    deltas = [word + " " for sentence in sentences for word in sentence.split()]
    rest = heard(agent.ask(**asked(deltas=deltas)))
    for sentence in sentences:
        made = to_s16le(running.synthesizer.speak(sentence).samples).strip(b"\0")
        fill, found, rest = rest.partition(made)
        assert found
        assert not any(fill)
    assert not any(rest)


def test_an_interruption_stops_the_work(running: Running, agent: Sidecar) -> None:
    """The connection is closed during the audio; the next text is spoken completely."""
    running.gate.close()
    before = running.gate.num_frames
    for _ in range(4):
        running.gate.pass_one()
    answer = agent.ask(**asked(deltas=[LONG], num_frames=1))
    assert 0 < len(heard(answer)) < 48_000 * 4
    running.gate.open()
    running.wait_until(lambda: running.synthesizer.num_streams == 0)
    assert running.gate.num_frames - before < 1_000  # of 4,000; 10 ms each
    assert unpadded(heard(agent.ask(**asked(TEXT))), to_s16le(running.synthesizer.speak(TEXT).samples))


@pytest.mark.parametrize("fields", [{"text": "…"}, {"text": "Hi.", "voice": "nobody"}])
def test_a_refusal_is_a_status_error(agent: Sidecar, fields: dict[str, Any]) -> None:
    """It has the status of the response."""
    assert agent.ask(**asked(**fields))["error"] == ["APIStatusError", 400]


@pytest.mark.parametrize("model", ["tts-1", "gpt-4o-mini-tts"])
def test_a_truncated_response_is_an_error(running: Running, cut: Running, model: str) -> None:
    """The audio before the failure is heard, plain or as events."""
    with python_sidecar("livekit_agent.py", f"{cut.url}/v1") as agent:
        answer = agent.ask(**asked(TEXT, model=model))
    assert answer["error"] == ["APIConnectionError", None]
    sound, made = base64.b64decode(answer["sound"]), to_s16le(running.synthesizer.speak(TEXT).samples)
    assert len(sound) < len(made)
    assert made.startswith(sound)


@pytest.mark.voices
def test_real_voices(voices: tuple[str, Synthesizer]) -> None:
    """The audio is exact to the sample."""
    url, synthesizer = voices
    text = "三点半见。See you there."
    with python_sidecar("livekit_agent.py", f"{url}/v1") as agent:
        assert unpadded(heard(agent.ask(**asked(text))), to_s16le(synthesizer.speak(text).samples))
