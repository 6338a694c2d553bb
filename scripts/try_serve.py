"""Run ``make serve`` as a newcomer would, and request speech in both languages. Needs the standard library only."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import wave
from pathlib import Path

ROOT = Path(__file__).parent.parent
READY_TIMEOUT_S = 900
TEXTS = {"zh": "大家早上好，欢迎使用语流。", "en": "Good morning, everybody, and welcome."}


def free_port() -> int:
    """Return a loopback port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_until_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    """Poll ``/ready``; end this script if the server ends or takes too long."""
    deadline = time.monotonic() + READY_TIMEOUT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            sys.exit(f"make serve ended with {process.returncode}")
        try:
            with urllib.request.urlopen(f"{url}/ready", timeout=5) as response:  # noqa: S310 - a loopback address
                if response.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    sys.exit(f"make serve was not ready within {READY_TIMEOUT_S} s")


def speak(url: str, text: str) -> float:
    """Return the seconds of audio that the server makes of a text."""
    body = json.dumps({"model": "yuliu", "input": text, "voice": "alloy", "response_format": "wav"}).encode()
    request = urllib.request.Request(  # noqa: S310 - a loopback address
        f"{url}/v1/audio/speech", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:  # noqa: S310
        sound: bytes = response.read()
    with wave.open(io.BytesIO(sound)) as reader:
        pcm: bytes = reader.readframes(reader.getnframes())
        return len(pcm) / 2 / int(reader.getframerate())


def main() -> int:
    """Serve, speak, stop."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(["make", "serve", f"PORT={port}"], cwd=ROOT, start_new_session=True)
    try:
        wait_until_ready(url, process)
        for lang, text in TEXTS.items():
            seconds = speak(url, text)
            print(f"{lang}: {seconds:.1f} s of audio for {len(text)} characters")  # noqa: T201 - a command
            if not 1 < seconds < 10:
                sys.exit(f"that is not a plausible duration for this {lang} text")
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(30)
    return 0


if __name__ == "__main__":
    sys.exit(main())
