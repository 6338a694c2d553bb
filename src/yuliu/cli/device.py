"""Opening the sound device. Only here is python-sounddevice, the extra ``play``, imported."""

from __future__ import annotations

from typing import Any

from yuliu.cli.report import Problem
from yuliu.cli.sinks import DEVICE_LATENCY_S, Device


class NoSoundDevice(Problem):
    """Nothing can be played here; the message says what to do."""


ELSE_WRITE = "or write a file: yuliu say -o out.wav"


def sounddevice() -> Any:  # noqa: ANN401 - the extra has no types
    """The module.

    Raises:
        NoSoundDevice: It, or the library below it, is not installed.
    """
    try:
        import sounddevice
    except ImportError as error:
        raise NoSoundDevice(
            f"playing needs the package sounddevice; run: pip install 'yuliu[play]', {ELSE_WRITE}"
        ) from error
    except OSError as error:  # sounddevice is there, PortAudio is not
        raise NoSoundDevice(
            f"playing needs the library PortAudio; on Debian and Ubuntu run: sudo apt install libportaudio2, "
            f"{ELSE_WRITE}"
        ) from error
    return sounddevice


def open_device(sample_rate: int) -> Device:
    """The system's default output, ready to play mono at ``sample_rate`` Hz.

    Raises:
        NoSoundDevice: There is none, or it does not take the format.
    """
    module = sounddevice()
    try:
        stream = module.OutputStream(samplerate=sample_rate, channels=1, dtype="float32", latency=DEVICE_LATENCY_S)
    except (module.PortAudioError, ValueError) as error:
        raise NoSoundDevice(f"no sound device can be used here; plug one in and choose it, {ELSE_WRITE}") from error
    return Device(stream, sample_rate)


def default_device_name() -> str:
    """Of the system's default output.

    Raises:
        NoSoundDevice: There is none.
    """
    module = sounddevice()
    try:
        return str(module.query_devices(kind="output")["name"])
    except (module.PortAudioError, ValueError) as error:
        raise NoSoundDevice(f"no sound device can be used here; plug one in and choose it, {ELSE_WRITE}") from error
