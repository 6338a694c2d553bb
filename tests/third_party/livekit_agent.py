"""LiveKit's plugin for OpenAI, run beside the tests in its own environment: requests in, audio out.

python livekit_agent.py http://127.0.0.1:8000/v1
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from typing import Any

from livekit.agents import APIConnectOptions, APIError, tts  # type: ignore[import-not-found]
from livekit.plugins import openai  # type: ignore[import-not-found]

ONCE = APIConnectOptions(max_retry=0, timeout=10.0)


def answer_of(frames: list[Any], error: APIError | None) -> dict[str, Any]:
    """Return the answer for the frames that were heard."""
    sound = b"".join(bytes(frame.data) for frame in frames)
    return {
        "rates": sorted({frame.sample_rate for frame in frames}),
        "sound": base64.b64encode(sound).decode(),
        "error": None if error is None else [type(error).__name__, getattr(error, "status_code", None)],
    }


async def speak(voice: tts.TTS, text: str) -> dict[str, Any]:
    """Speak a whole text."""
    frames: list[Any] = []
    try:
        async with voice.synthesize(text, conn_options=ONCE) as stream:
            frames += [event.frame async for event in stream]
    except APIError as error:
        return answer_of(frames, error)
    return answer_of(frames, None)


async def converse(voice: tts.TTS, deltas: list[str], num_frames: int | None) -> dict[str, Any]:
    """Speak a text that arrives in deltas; interrupt it after some frames, or let it end."""
    frames = []
    adapter = tts.StreamAdapter(tts=voice)
    async with adapter.stream() as stream:
        for delta in deltas:
            stream.push_text(delta)
        stream.end_input()
        async for event in stream:
            frames.append(event.frame)
            if len(frames) == num_frames:
                break
    return answer_of(frames, None)


async def main(url: str) -> None:
    """Answer requests until standard input ends."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        asked = json.loads(line)
        voice = openai.TTS(
            base_url=url, api_key="none", model=asked["model"], voice=asked["voice"], response_format=asked["format"]
        )
        if "deltas" in asked:
            answer = await converse(voice, asked["deltas"], asked.get("num_frames"))
        else:
            answer = await speak(voice, asked["text"])
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
        await voice.aclose()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
