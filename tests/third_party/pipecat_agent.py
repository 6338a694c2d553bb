"""Pipecat's service for OpenAI in a pipeline, run beside the tests: texts and interruptions in, audio out.

python pipecat_agent.py http://127.0.0.1:8000/v1
"""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from typing import Any

from loguru import logger  # type: ignore[import-not-found]
from pipecat.frames.frames import (  # type: ignore[import-not-found]
    EndFrame,
    ErrorFrame,
    InterruptionFrame,
    TTSAudioRawFrame,
    TTSSpeakFrame,
    TTSStoppedFrame,
)
from pipecat.pipeline.pipeline import Pipeline  # type: ignore[import-not-found]
from pipecat.pipeline.worker import PipelineParams, PipelineWorker  # type: ignore[import-not-found]
from pipecat.processors.frame_processor import FrameProcessor  # type: ignore[import-not-found]
from pipecat.services.openai.tts import OpenAITTSService  # type: ignore[import-not-found]
from pipecat.workers.runner import WorkerRunner  # type: ignore[import-not-found]


class FrameTap(FrameProcessor):  # type: ignore[misc]
    """Copies frames of some types to a queue."""

    def __init__(self, frames: asyncio.Queue[Any], *types: type) -> None:
        super().__init__()
        self._frames = frames
        self._types = types

    async def process_frame(self, frame: Any, direction: Any) -> None:
        """Copy the frame if its type matches, and pass it on."""
        await super().process_frame(frame, direction)
        if isinstance(frame, self._types):
            await self._frames.put(frame)
        await self.push_frame(frame, direction)


async def hear(frames: asyncio.Queue[Any], num_frames: int | None) -> dict[str, Any]:
    """Collect audio until the speech stops, the given number of frames has arrived, or there is an error."""
    heard: list[Any] = []
    error = None
    while num_frames is None or len(heard) < num_frames:
        frame = await frames.get()
        if isinstance(frame, TTSAudioRawFrame):
            heard.append(frame)
            continue
        if isinstance(frame, TTSStoppedFrame):
            break
        error = error or frame.error  # a stop comes after it, too
    sound = b"".join(frame.audio for frame in heard)
    rates = sorted({frame.sample_rate for frame in heard})
    return {"rates": rates, "sound": base64.b64encode(sound).decode(), "error": error}


async def answer(worker: PipelineWorker, frames: asyncio.Queue[Any]) -> None:
    """Answer requests until standard input ends."""
    while line := await asyncio.to_thread(sys.stdin.readline):
        asked = json.loads(line)
        await worker.queue_frame(TTSSpeakFrame(asked["text"]))
        told = await hear(frames, asked.get("num_frames"))
        if "num_frames" in asked:
            await worker.queue_frame(InterruptionFrame())
            while not isinstance(await frames.get(), InterruptionFrame):
                pass
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
    await worker.queue_frame(EndFrame())


async def main(url: str, voice: str) -> None:
    """Run a pipeline of the service between two taps."""
    logger.remove()
    frames: asyncio.Queue[Any] = asyncio.Queue()
    service = OpenAITTSService(api_key="none", base_url=url, settings=OpenAITTSService.Settings(voice=voice))
    end = FrameTap(frames, TTSAudioRawFrame, TTSStoppedFrame, InterruptionFrame)
    pipeline = Pipeline([FrameTap(frames, ErrorFrame), service, end])  # errors go up
    params = PipelineParams(audio_out_sample_rate=24_000)
    worker = PipelineWorker(pipeline, params=params, cancel_on_idle_timeout=False)
    started = asyncio.Event()

    @worker.event_handler("on_pipeline_started")  # type: ignore[untyped-decorator]
    async def on_started(*_: object) -> None:
        started.set()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)

    async def talk() -> None:
        await started.wait()
        await answer(worker, frames)

    await asyncio.gather(runner.run(), talk())


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2]))
