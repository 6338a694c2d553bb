"""Effect options of the command line, for voices here and on a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from native import pcm_of
from program import wav_samples
from serving import running_server

from yuliu.audio.chain import Effects
from yuliu.audio.compressor import Compression
from yuliu.audio.pcm import to_s16le
from yuliu.cli.audio_io.effect_options import EffectsGiven
from yuliu.stream import StreamOptions
from yuliu.wire.effects import effects_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from program import Start

    from yuliu.synthesizer import Synthesizer

TEXT = "One two three, four five six."
OPTIONS = ("--volume-db", "6", "--pitch", "-2", "--level", "--compress", "--highpass")
EFFECTS = Effects(6.0, -2.0, level=True, compression=Compression(), highpass=True)


def test_say_applies_the_effects_of_the_library(start: Start, tmp_path: Path, tone_synthesizer: Synthesizer) -> None:
    process = start("say", TEXT, *OPTIONS, "-o", tmp_path / "out.wav")
    _, errors = process.communicate()
    assert (process.returncode, errors) == (0, b"")
    wanted = tone_synthesizer.speak(TEXT, options=StreamOptions(effects=EFFECTS)).samples
    assert wav_samples(tmp_path / "out.wav") == to_s16le(wanted)


def test_client_requests_effects_from_its_server(start: Start, tmp_path: Path, tone_synthesizer: Synthesizer) -> None:
    with running_server() as running:
        process = start("client", TEXT, *OPTIONS, "--url", running.url, "-o", tmp_path / "out.wav")
        _, errors = process.communicate()
        plain = pcm_of(running, TEXT)
    assert (process.returncode, errors) == (0, b"")
    wanted = to_s16le(tone_synthesizer.speak(TEXT, options=StreamOptions(effects=EFFECTS)).samples)
    assert wav_samples(tmp_path / "out.wav") == wanted != plain


@pytest.mark.parametrize("options", [("--volume-db", "21"), ("--pitch", "13"), ("--pitch", "high")])
def test_invalid_effect_is_wrong_usage(start: Start, options: tuple[str, ...]) -> None:
    process = start("say", TEXT, *options, "-o", "-")
    _, errors = process.communicate()
    assert process.returncode == 2
    assert options[0].encode() in errors


@pytest.mark.parametrize(
    "given",
    [EffectsGiven(), EffectsGiven(volume_db=-3.0, denoise=True), EffectsGiven(3.0, 1.0, level=True, compress=True)],
)
def test_local_and_remote_effects_are_equal(given: EffectsGiven) -> None:
    """A server applies the same effects as this machine."""
    assert effects_of(cast("Mapping[str, object]", given.start_fields())) == given.effects()
