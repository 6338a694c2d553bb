"""The sound device. Only here is python-sounddevice, the extra ``play``, imported."""

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
"""What the sound device may hold: enough that a busy machine does not crackle."""


class SoundDeviceFailed(YuliuError):
    """The sound device cannot be opened, was taken away, or does not play any more."""

    code = "sound_device_failed"


class SoundDevice:
    """The sound device that the system plays on, as an output of a player.

    Args:
        stream: An opened ``sounddevice.OutputStream``, mono float32, not started.
        sample_rate: Hz.
    """

    def __init__(self, stream: Any, sample_rate: int) -> None:  # noqa: ANN401 - the extra has no types
        self._stream = stream
        self._library = getattr(sys.modules.get("sounddevice"), "_lib", None)  # not unloaded while a thread is in it
        self._sample_rate = sample_rate
        self._started = False

    @property
    def latency_s(self) -> float:
        """How long what is written waits to be heard, as the device says, seconds."""
        return float(self._stream.latency)

    def write(self, samples: Samples) -> None:
        """Play; returns when all but the device's latency of it was heard.

        Raises:
            SoundDeviceFailed: It was taken away, or its sound server has ended.
        """
        with _told():
            if not self._started:
                _open.add(self)
                self._stream.start()
                self._started = True
            self._stream.write(samples.reshape(-1, 1))

    def finish(self) -> None:
        """Wait until the last sound was heard. Some drivers drop what they hold when stopped: silence pushes it out.

        Raises:
            SoundDeviceFailed: It was taken away, or its sound server has ended.
        """
        with _told():
            if self._started:
                self.write(np.zeros(round(2 * DEVICE_LATENCY_S * self._sample_rate), np.float32))
                self._stream.stop()
            self._close()

    def abandon(self) -> None:
        """Fall silent at once. Raises as :meth:`finish` does."""
        with _told():
            if self._started:
                self._stream.abort()
            self._close()

    def _close(self) -> None:
        self._stream.close()
        _open.discard(self)


def open_sound_device(sample_rate: int) -> SoundDevice:
    """The system's default output, ready to play mono at ``sample_rate`` Hz.

    Raises:
        SoundDeviceFailed: There is none, it does not take the rate, or what is needed to use it is not installed.
    """
    module = _sounddevice()
    with _told(_UNUSABLE):
        stream = module.OutputStream(samplerate=sample_rate, channels=1, dtype="float32", latency=DEVICE_LATENCY_S)
    return SoundDevice(stream, sample_rate)


def sound_device_name() -> str:
    """Of the system's default output. Raises as :func:`open_sound_device` does."""
    module = _sounddevice()
    with _told(_UNUSABLE):
        return str(module.query_devices(kind="output")["name"])


def _sounddevice() -> Any:  # noqa: ANN401 - the extra has no types
    """The module.

    Raises:
        SoundDeviceFailed: It, or the library below it, is not installed.
    """
    try:
        import sounddevice
    except ImportError as error:
        raise SoundDeviceFailed("playing needs the package sounddevice; run: pip install 'yuliu[play]'") from error
    except OSError as error:  # sounddevice is there, PortAudio is not
        reason = "playing needs the library PortAudio; on Debian and Ubuntu run: sudo apt install libportaudio2"
        raise SoundDeviceFailed(reason) from error
    _leave_only_what_is_closed(sounddevice)
    return sounddevice


_UNUSABLE = "no sound device can be used here; plug one in and choose it"
_GONE = "the sound device does not play any more: it was taken away, or its sound server has ended"


@contextmanager
def _told(reason: str = _GONE) -> Iterator[None]:
    """PortAudio's complaints, in words for people; what it says itself is kept as the cause."""
    module = sys.modules.get("sounddevice")
    complaints = (ValueError,) if module is None else (ValueError, module.PortAudioError)
    try:
        yield
    except complaints as error:
        raise SoundDeviceFailed(reason) from error


_open: set[SoundDevice] = set()
"""Devices that play, or hang."""
_exits: list[Callable[[], None]] = []
"""What sounddevice had registered."""


def _leave_only_what_is_closed(module: Any) -> None:  # noqa: ANN401 - the extra has no types
    """Do not close PortAudio at the end of the program while a thread waits in it.

    sounddevice would: it then waits for ever for a sound server that hangs, or crashes.
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
