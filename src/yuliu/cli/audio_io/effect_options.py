"""Effect options of ``say`` and ``client``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from yuliu.audio.chain import Effects
    from yuliu.client.fields import StreamFields

_OPTIONS = (
    click.option(
        "--volume-db",
        type=click.FloatRange(-60, 20),
        default=0.0,
        metavar="DB",
        help="Volume change, -60 to 20 dB; the audio never clips.",
    ),
    click.option(
        "--pitch",
        type=click.FloatRange(-12, 12),
        default=0.0,
        metavar="SEMITONES",
        help="Pitch shift, -12 to 12 semitones; beyond 3 it sounds like another person.",
    ),
    click.option("--level", is_flag=True, help="Level the loudness of sentences."),
    click.option("--compress", is_flag=True, help="Compress the dynamic range, for noisy surroundings."),
    click.option("--highpass", is_flag=True, help="Remove frequencies below the voice."),
    click.option("--denoise", is_flag=True, help="Remove noise; needs yuliu[denoise] where the voice runs."),
)


@dataclass(frozen=True, slots=True)
class EffectsGiven:
    """Effect options as given."""

    volume_db: float = 0.0
    pitch: float = 0.0
    level: bool = False
    compress: bool = False
    highpass: bool = False
    denoise: bool = False

    def check(self) -> None:
        """Refuse effects that this machine cannot apply, before anything is loaded.

        Raises:
            InvalidRequest: ``--denoise`` was given, and its extra is not installed.
        """
        if self.denoise:
            from yuliu.audio.denoise import require_denoise

            require_denoise()

    def effects(self) -> Effects:
        """Return the effects for a voice on this machine."""
        from yuliu.audio.chain import Effects
        from yuliu.audio.compressor import Compression

        return Effects(
            volume_db=self.volume_db,
            pitch_semitones=self.pitch,
            level=self.level,
            compression=Compression() if self.compress else None,
            highpass=self.highpass,
            denoise=self.denoise,
        )

    def start_fields(self) -> StreamFields:
        """Return the effects for a voice on a server; empty if there are none."""
        switches = ("level", "compress", "highpass", "denoise")
        wanted: dict[str, object] = {name: True for name in switches if getattr(self, name)}
        found: StreamFields = {}
        if self.volume_db:
            found["volume_db"] = self.volume_db
        if self.pitch:
            found["pitch_semitones"] = self.pitch
        if wanted:
            found["effects"] = wanted
        return found


def effect_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the effect options to a command."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def take_effects(options: dict[str, Any]) -> EffectsGiven:
    """Remove the effect options from the options of a command, and return them."""
    return EffectsGiven(**{each.name: options.pop(each.name) for each in fields(EffectsGiven)})
