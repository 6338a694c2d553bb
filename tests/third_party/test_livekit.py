"""LiveKit's agents with their plugin for OpenAI: it speaks, is interrupted, and is told of errors."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import numpy as np
import pytest

from third_party import needs, python_sidecar
from yuliu.audio.pcm import to_s16le

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from serving import Running

    from third_party import Sidecar
    from yuliu.synthesizer import Synthesizer

pytestmark = needs("livekit")
TEXT = "one two three four five six seven eight nine ten. " * 4
LONG = TEXT * 10
"""Forty seconds."""
LOST_S = 0.03
"""LiveKit loses up to a frame of Opus and FLAC at the end."""
MAX_FILL_BYTES = 48 * 20
PADDING_S = {"mp3": 0.1, "aac": 0.1}
"""Silence that these have before and after the sound, both together, at most."""


@pytest.fixture(scope="module")
def agent(running: Running) -> Iterator[Sidecar]:
    """The plugin, beside us."""
    with python_sidecar("livekit_agent.py", f"{running.url}/v1") as agent:
        yield agent


def asked(text: str | None = None, **fields: Any) -> dict[str, Any]:
    """A request to the program beside us."""
    return {"model": "gpt-4o-mini-tts", "voice": "alloy", "format": "pcm", "text": text, **fields}


def heard(answer: dict[str, Any]) -> bytes:
    assert answer["rates"] == [24_000]
    return base64.b64decode(answer["sound"])


def unpadded(sound: bytes, made: bytes) -> bool:
    """Whether it is what was made, but for the silence that fills LiveKit's last frame."""
    rest = sound.removeprefix(made)
    return sound.startswith(made) and len(rest) < MAX_FILL_BYTES and not any(rest)


@pytest.mark.parametrize("model", ["tts-1", "gpt-4o-mini-tts"])
@pytest.mark.parametrize("name", ["mp3", "opus", "aac", "flac", "wav", "pcm"])
def test_it_hears_all_of_it(running: Running, agent: Sidecar, model: str, name: str) -> None:
    """It asks for bare sound of one model and for events of the other."""
    answer = agent.ask(**asked(TEXT, model=model, format=name))
    assert answer["error"] is None
    sound, made = heard(answer), running.synthesizer.speak(TEXT).samples
    if name in ("wav", "pcm"):
        assert unpadded(sound, to_s16le(made))
    else:
        samples = np.frombuffer(sound, np.int16) / 32_768
        assert -LOST_S <= (len(samples) - len(made)) / 24_000 <= PADDING_S.get(name, 0.0)
        assert np.mean(samples**2) * len(samples) == pytest.approx(np.mean(made**2) * len(made), rel=0.1)


def test_it_speaks_what_comes_in_pieces(running: Running, agent: Sidecar) -> None:
    """As a model writes: it cuts sentences and asks for each; all are there, in order, and nothing between them."""
    sentences = ["One two three four five six.", "Seven eight nine ten eleven twelve.", "One two three four five."]
    deltas = [word + " " for sentence in sentences for word in sentence.split()]
    rest = heard(agent.ask(**asked(deltas=deltas)))
    for sentence in sentences:
        made = to_s16le(running.synthesizer.speak(sentence).samples).strip(b"\0")
        fill, found, rest = rest.partition(made)
        assert found
        assert not any(fill)
    assert not any(rest)


def test_a_listener_interrupts(running: Running, agent: Sidecar) -> None:
    """It hangs up amid the sound: our work stops, and the next text is spoken whole."""
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
def test_it_is_told_what_is_wrong(agent: Sidecar, fields: dict[str, Any]) -> None:
    """As its own class for answers with a status."""
    assert agent.ask(**asked(**fields))["error"] == ["APIStatusError", 400]


@pytest.mark.parametrize("model", ["tts-1", "gpt-4o-mini-tts"])
def test_it_notices_that_a_part_is_not_the_whole(running: Running, cut: Running, model: str) -> None:
    """A failure amid the sound is an error there too, bare or as events; what came before was heard."""
    with python_sidecar("livekit_agent.py", f"{cut.url}/v1") as agent:
        answer = agent.ask(**asked(TEXT, model=model))
    assert answer["error"] == ["APIConnectionError", None]
    sound, made = base64.b64decode(answer["sound"]), to_s16le(running.synthesizer.speak(TEXT).samples)
    assert len(sound) < len(made)
    assert made.startswith(sound)


@pytest.mark.voices
def test_real_voices(voices: tuple[str, Synthesizer]) -> None:
    """To the sample."""
    url, synthesizer = voices
    text = "三点半见。See you there."
    with python_sidecar("livekit_agent.py", f"{url}/v1") as agent:
        assert unpadded(heard(agent.ask(**asked(text))), to_s16le(synthesizer.speak(text).samples))
