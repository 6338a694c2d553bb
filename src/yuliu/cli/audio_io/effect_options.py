"""What commands that speak let one do to the sound: the options, and what they come to."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from yuliu.audio.chain import Effects
    from yuliu.client.fields import StartFields

_OPTIONS = (
    click.option(
        "--volume-db",
        type=click.FloatRange(-60, 20),
        default=0.0,
        metavar="DB",
        help="Louder or softer, -60 to 20 dB; never clipped.",
    ),
    click.option(
        "--pitch",
        type=click.FloatRange(-12, 12),
        default=0.0,
        metavar="SEMITONES",
        help="Higher or lower, -12 to 12 semitones; beyond 3 it is another person.",
    ),
    click.option("--level", is_flag=True, help="Bring all sentences slowly to one loudness."),
    click.option("--compress", is_flag=True, help="Make loud and soft sounds more alike, for cars and streets."),
    click.option("--highpass", is_flag=True, help="Take away what lies below a voice."),
    click.option("--denoise", is_flag=True, help="Take noise away; needs the extra denoise where the voice is."),
)


@dataclass(frozen=True, slots=True)
class EffectsGiven:
    """The options as they were given."""

    volume_db: float = 0.0
    pitch: float = 0.0
    level: bool = False
    compress: bool = False
    highpass: bool = False
    denoise: bool = False

    def check(self) -> None:
        """Find what cannot be done on this machine, before anything is loaded.

        Raises:
            InvalidRequest: Noise is to be taken away, and what does it is not installed.
        """
        if self.denoise:
            from yuliu.audio.denoise import require_denoise

            require_denoise()

    def effects(self) -> Effects:
        """For a voice of this machine."""
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

    def start_fields(self) -> StartFields:
        """For a voice of a server; empty where nothing is wanted."""
        switches = ("level", "compress", "highpass", "denoise")
        wanted: dict[str, object] = {name: True for name in switches if getattr(self, name)}
        found: StartFields = {}
        if self.volume_db:
            found["volume_db"] = self.volume_db
        if self.pitch:
            found["pitch_semitones"] = self.pitch
        if wanted:
            found["effects"] = wanted
        return found


def effect_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def take_effects(options: dict[str, Any]) -> EffectsGiven:
    """What was given; taken out of all options of a command."""
    return EffectsGiven(**{each.name: options.pop(each.name) for each in fields(EffectsGiven)})
