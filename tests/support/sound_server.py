"""A PulseAudio server for tests, with null sinks and recorders of what they play."""

from __future__ import annotations

import ctypes.util
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from yuliu.types import Samples

PATIENCE_S = 20.0
"""Timeout that only a failing test meets."""
NEEDED = ("pulseaudio", "pactl", "parec")
EAR_MS = 10
ALSA = """
pcm.!default {{ type pulse server "{address}" }}
ctl.!default {{ type pulse server "{address}" }}
"""


def missing() -> str:
    """Return the programs that are missing, or an empty string. ALSA's plugin for PulseAudio comes with the server."""
    programs = [each for each in NEEDED if shutil.which(each) is None]
    return ", ".join([*programs, *([] if ctypes.util.find_library("portaudio") else ["libportaudio2"])])


class SoundServer:
    """The server; it runs until :meth:`close`."""

    def __init__(self) -> None:
        self._folder = tempfile.mkdtemp(prefix="yuliu-sound-")  # short: socket paths have at most 107 characters
        self._names = itertools.count(1)
        address = f"unix:{self._folder}/socket"
        config = Path(self._folder, "alsa.conf")
        config.write_text(ALSA.format(address=address))
        self.environ: dict[str, str] = {
            "ALSA_CONFIG_PATH": f"/usr/share/alsa/alsa.conf:{config}",
            "PULSE_SERVER": address,
            "HOME": self._folder,
            "XDG_RUNTIME_DIR": self._folder,
            "PULSE_RUNTIME_PATH": self._folder,
        }
        """Environment for programs that play on it."""
        socket = f"module-native-protocol-unix socket={self._folder}/socket auth-anonymous=1"
        options = ["-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disallow-module-loading=no"]
        self._process = subprocess.Popen(
            ["pulseaudio", *options, "-L", socket],
            env={**os.environ, **self.environ},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until_s = time.monotonic() + PATIENCE_S
        while self._ask("info").returncode:
            assert time.monotonic() < until_s, "the sound server does not start"
            time.sleep(0.05)

    def sink(self, sample_rate: int) -> Sink:
        """Create a sink and make it the default for new streams."""
        name = f"sink{next(self._names)}"
        options = f"rate={sample_rate} channels=1 channel_map=mono format=float32le"
        number = self._ask("load-module", "module-null-sink", f"sink_name={name}", *options.split()).stdout.strip()
        assert number.isdigit(), number
        assert self._ask("set-default-sink", name).returncode == 0
        return Sink(self, name, number, sample_rate)

    def unload(self, number: str) -> None:
        """Remove a sink."""
        self._ask("unload-module", number)

    def freeze(self) -> None:
        """Stop the process, so that it answers no client."""
        self._process.send_signal(signal.SIGSTOP)

    def close(self) -> None:
        """Kill the process, even if it is stopped."""
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _ask(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, **self.environ}
        return subprocess.run(["pactl", *arguments], env=environ, capture_output=True, text=True, timeout=PATIENCE_S)


class Sink:
    """A null sink and its recorder.

    Without the recorder it would play two seconds at a time, which no device does.
    """

    def __init__(self, server: SoundServer, name: str, number: str, sample_rate: int) -> None:
        self._server, self._number = server, number
        self.parts: list[bytes] = []
        """Recorded pieces."""
        options = ["--raw", "--format=float32le", f"--rate={sample_rate}", "--channels=1", f"--latency-msec={EAR_MS}"]
        self._process = subprocess.Popen(
            ["parec", "-d", f"{name}.monitor", *options],
            env={**os.environ, **server.environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()
        until_s = time.monotonic() + PATIENCE_S
        while len(self.parts) < 5:
            assert time.monotonic() < until_s, "nothing is recorded"
            time.sleep(0.02)

    def until_it_plays(self) -> None:
        """Wait until something is played."""
        until_s = time.monotonic() + PATIENCE_S
        while not any(np.frombuffer(part, np.float32).any() for part in self.parts[-20:]):
            assert time.monotonic() < until_s
            time.sleep(0.02)

    def pull(self) -> None:
        """Remove the device."""
        self._server.unload(self._number)

    def heard(self) -> Samples:
        """Return the recording from the first to the last sample that is not silent."""
        time.sleep(0.2)  # audio in flight
        self.close()
        samples = np.frombuffer(b"".join(self.parts), np.float32)
        loud = np.flatnonzero(samples)
        return samples[loud[0] : loud[-1] + 1] if len(loud) else samples[:0]

    def close(self) -> None:
        """Stop recording."""
        self._process.kill()
        self._thread.join()
        self._process.wait()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as file:
            while data := os.read(file.fileno(), 65_536):
                self.parts.append(data)
