"""Opening the sound device, with advice for whoever has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.cli.console.errors import CommandError

if TYPE_CHECKING:
    from yuliu.playback.device import SoundDevice


class NoSoundDevice(CommandError):
    """Nothing can be played here; the message says what to do."""


ELSE_WRITE = "or write a file, with -o out.wav"


def open_device(sample_rate: int) -> SoundDevice:
    """The system's default output, ready to play mono at ``sample_rate`` Hz.

    Raises:
        NoSoundDevice: There is none, or it does not take the format.
    """
    from yuliu.playback.device import SoundDeviceFailed, open_sound_device

    try:
        return open_sound_device(sample_rate)
    except SoundDeviceFailed as error:
        raise NoSoundDevice(f"{error.message}, {ELSE_WRITE}") from error


def default_device_name() -> str:
    """Of the system's default output.

    Raises:
        NoSoundDevice: There is none.
    """
    from yuliu.playback.device import SoundDeviceFailed, sound_device_name

    try:
        return sound_device_name()
    except SoundDeviceFailed as error:
        raise NoSoundDevice(f"{error.message}, {ELSE_WRITE}") from error
