"""Sound device of the command line, with advice where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.cli.console.errors import CommandError

if TYPE_CHECKING:
    from yuliu.playback.device import SoundDevice


class NoSoundDevice(CommandError):
    """No sound device can be used; the message says what to do."""


ELSE_WRITE = "or write a file with -o out.wav"


def open_device(sample_rate: int) -> SoundDevice:
    """Open the system's default output for mono at ``sample_rate`` Hz.

    Raises:
        NoSoundDevice: There is no device, or it does not support the rate.
    """
    from yuliu.playback.device import SoundDeviceFailed, open_sound_device

    try:
        return open_sound_device(sample_rate)
    except SoundDeviceFailed as error:
        raise NoSoundDevice(f"{error.message}, {ELSE_WRITE}") from error


def default_device_name() -> str:
    """Return the name of the system's default output.

    Raises:
        NoSoundDevice: There is no device.
    """
    from yuliu.playback.device import SoundDeviceFailed, sound_device_name

    try:
        return sound_device_name()
    except SoundDeviceFailed as error:
        raise NoSoundDevice(f"{error.message}, {ELSE_WRITE}") from error
