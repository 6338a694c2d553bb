"""Sound device. The only module that imports python-sounddevice, the extra ``play``."""

from __future__ import annotations

import atexit
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from yuliu.errors import YuliuError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from yuliu.types import Samples

DEVICE_LATENCY_S = 0.1
"""Latency requested from the device: enough that playback does not crackle on a busy machine, seconds."""


class SoundDeviceFailed(YuliuError):
    """The sound device cannot be opened, was removed, or stopped playing."""

    code = "sound_device_failed"


class SoundDevice:
    """The system's sound device, as an output of a player.

    Args:
        stream: Open ``sounddevice.OutputStream``, mono float32, not started.
        sample_rate: Sample rate of the stream, Hz.
    """

    def __init__(self, stream: Any, sample_rate: int) -> None:  # noqa: ANN401 - the extra has no types
        self._stream = stream
        self._library = getattr(sys.modules.get("sounddevice"), "_lib", None)  # not unloaded while in use
        self._sample_rate = sample_rate
        self._started = False

    @property
    def latency_s(self) -> float:
        """Time from a write until its samples are heard, as reported by the device, seconds."""
        return float(self._stream.latency)

    def write(self, samples: Samples) -> None:
        """Play samples; return when all of them but the device's latency have been heard.

        Raises:
            SoundDeviceFailed: The device was removed, or its sound server has ended.
        """
        with _told():
            if not self._started:
                _open.add(self)
                self._stream.start()
                self._started = True
            self._stream.write(samples.reshape(-1, 1))

    def finish(self) -> None:
        """Wait until the last sample has been heard, and close the device.

        Some drivers drop their buffer when stopped, so silence is written to push it out.

        Raises:
            SoundDeviceFailed: The device was removed, or its sound server has ended.
        """
        with _told():
            if self._started:
                self.write(np.zeros(round(2 * DEVICE_LATENCY_S * self._sample_rate), np.float32))
                self._stream.stop()
            self._close()

    def abandon(self) -> None:
        """Fall silent immediately, and close the device. Raises what :meth:`finish` raises."""
        with _told():
            if self._started:
                self._stream.abort()
            self._close()

    def _close(self) -> None:
        self._stream.close()
        _open.discard(self)


def open_sound_device(sample_rate: int) -> SoundDevice:
    """Open the system's default output for mono at ``sample_rate`` Hz.

    Raises:
        SoundDeviceFailed: There is no device, it does not support the rate, or a library is not installed.
    """
    module = _sounddevice()
    with _told(_UNUSABLE):
        stream = module.OutputStream(samplerate=sample_rate, channels=1, dtype="float32", latency=DEVICE_LATENCY_S)
    return SoundDevice(stream, sample_rate)


def sound_device_name() -> str:
    """Return the name of the system's default output. Raises what :func:`open_sound_device` raises."""
    module = _sounddevice()
    with _told(_UNUSABLE):
        return str(module.query_devices(kind="output")["name"])


def _sounddevice() -> Any:  # noqa: ANN401 - the extra has no types
    """Import the module.

    Raises:
        SoundDeviceFailed: The module, or the PortAudio library below it, is not installed.
    """
    try:
        import sounddevice
    except ImportError as error:
        raise SoundDeviceFailed("playing needs the package sounddevice; run: pip install 'yuliu[play]'") from error
    except OSError as error:  # sounddevice is installed, PortAudio is not
        reason = "playing needs the library PortAudio; on Debian and Ubuntu run: sudo apt install libportaudio2"
        raise SoundDeviceFailed(reason) from error
    _leave_only_what_is_closed(sounddevice)
    return sounddevice


_UNUSABLE = "no usable sound device; plug one in and select it as the output"
_GONE = "the sound device stopped playing: it was removed, or its sound server has ended"


@contextmanager
def _told(reason: str = _GONE) -> Iterator[None]:
    """Translate PortAudio's errors into readable ones; the original error is kept as the cause."""
    module = sys.modules.get("sounddevice")
    complaints = (ValueError,) if module is None else (ValueError, module.PortAudioError)
    try:
        yield
    except complaints as error:
        raise SoundDeviceFailed(reason) from error


_open: set[SoundDevice] = set()
"""Devices that are playing, or hanging."""
_exits: list[Callable[[], None]] = []
"""Exit handlers that sounddevice had registered."""


def _leave_only_what_is_closed(module: Any) -> None:  # noqa: ANN401 - the extra has no types
    """Keep PortAudio from being closed at exit while a thread waits in it.

    sounddevice's own exit handler would close it, and then wait forever for a sound server that hangs, or crash.
    """
    leave = getattr(module, "_exit_handler", None)
    if leave is None or leave in _exits:
        return

    def leave_if_closed() -> None:
        if not _open:
            leave()

    _exits.append(leave)
    atexit.unregister(leave)
    atexit.register(leave_if_closed)
