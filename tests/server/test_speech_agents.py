"""Programs of others that speak OpenAI's API: frameworks for voice agents, and OpenAI's client for JavaScript.

None of them is among the development dependencies: each test runs where its program is installed, and is skipped
elsewhere (``livekit-plugins-openai``, ``pipecat-ai[openai]``; ``openai`` from npm on ``NODE_PATH``).
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from base64 import b64decode
from typing import TYPE_CHECKING, Any

import pytest
from serving import PATIENCE_S, running_server

from yuliu.audio.pcm import to_s16le

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

TEXT = "one two three four five six seven eight nine ten. " * 4
FRAME_S = 0.1
"""LiveKit gives and loses sound in frames of its own, and MP3 and AAC have silence at both ends."""
NODE = r"""
const OpenAI = require("openai").default;
const client = new OpenAI({ baseURL: process.argv[1], apiKey: "none", maxRetries: 0 });
const input = process.argv[2];
const told = {};
(async () => {
  for (const response_format of [undefined, "mp3", "opus", "aac", "flac", "wav", "pcm"]) {
    const answer = await client.audio.speech.create({ model: "tts-1", voice: "alloy", input, response_format });
    const sound = Buffer.from(await answer.arrayBuffer());
    told[response_format ?? "default"] = [answer.headers.get("content-type"), sound.toString("base64")];
  }
  const options = { model: "gpt-4o-mini-tts", voice: "alloy", input, response_format: "pcm", stream_format: "sse" };
  const answer = await client.audio.speech.create(options);
  const events = (await answer.text()).split("\n\n").filter(Boolean).map((line) => JSON.parse(line.slice(6)));
  const pieces = events.filter((event) => event.type === "speech.audio.delta");
  const sound = Buffer.concat(pieces.map((event) => Buffer.from(event.audio, "base64")));
  told.sse = [events.at(-1).type, sound.toString("base64")];
  console.log(JSON.stringify(told));
})();
"""


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """A server with nothing out of the ordinary, which the tests of this file share."""
    with running_server() as server:
        yield server


def made_s(running: Running) -> float:
    return len(running.speaker.speak(TEXT).samples) / running.speaker.sample_rate


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", ["tts-1", "gpt-4o-mini-tts"])
@pytest.mark.parametrize("name", ["mp3", "opus", "aac", "flac", "wav", "pcm"])
async def test_livekit_hears_all_of_it(running: Running, model: str, name: str) -> None:
    """Its plugin asks for bare sound of one model and for events of others, and decodes either in its own way."""
    plugin: Any = pytest.importorskip("livekit.plugins.openai")
    tts = plugin.TTS(base_url=f"{running.url}/v1", api_key="none", model=model, voice="alloy", response_format=name)
    frames = []
    async with asyncio.timeout(PATIENCE_S), tts.synthesize(TEXT) as stream:
        frames += [event.frame async for event in stream]
    await tts.aclose()
    heard_s = sum(frame.samples_per_channel / frame.sample_rate for frame in frames)
    assert heard_s == pytest.approx(made_s(running), abs=FRAME_S)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("voice", ["alloy", "verse", "marin"])
async def test_pipecat_hears_all_of_it(running: Running, voice: str) -> None:
    """Its service takes OpenAI's voices only, and samples at OpenAI's rate."""
    module: Any = pytest.importorskip("pipecat.services.openai.tts")
    service = module.OpenAITTSService(
        api_key="none", base_url=f"{running.url}/v1", settings=module.OpenAITTSService.Settings(voice=voice)
    )
    service._sample_rate = 24_000  # as its pipelines set it when they start
    frames = [frame async for frame in service.run_tts(TEXT, "context")]
    await service._client.close()
    assert {type(frame).__name__ for frame in frames} == {"TTSAudioRawFrame"}
    assert b"".join(frame.audio for frame in frames) == to_s16le(running.speaker.speak(TEXT).samples)


def test_openais_client_for_javascript(running: Running) -> None:
    """It gets the same bytes and types as others, whole and as events."""
    node = shutil.which("node")
    if node is None or subprocess.run([node, "-e", 'require("openai")'], capture_output=True).returncode:
        pytest.skip("needs node, and openai from npm on NODE_PATH")
    command = [node, "-e", NODE, f"{running.url}/v1", TEXT]
    told = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=PATIENCE_S).stdout)
    for name, (media_type, sound) in told.items():
        asked = {"default": None, "sse": "pcm"}.get(name, name)
        answer = running.speech(input=TEXT, response_format=asked)
        assert media_type == ("speech.audio.done" if name == "sse" else answer.headers["content-type"])
        assert b64decode(sound) == answer.content
