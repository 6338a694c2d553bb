"""Measure the loudness of voices and say what ``gain_db`` in their manifests would bring them to the common one.

    .venv/bin/python scripts/calibrate.py baker heart

Each voice speaks sentences of the bench's articles in its language; loudness is that of ITU-R BS.1770, by pyloudnorm.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyloudnorm

import yuliu
from yuliu.audio.gain import KNEE_DB
from yuliu.audio.loudness import TARGET_LUFS
from yuliu.bench.texts import articles
from yuliu.voices.store import VoiceStore

if TYPE_CHECKING:
    from yuliu.synthesizer import Synthesizer

MIN_CHARACTERS, MAX_CHARACTERS = 8, 160
MAX_SENTENCES = 50


@dataclass(frozen=True, slots=True)
class Loudness:
    """What was measured of one voice, at the gain that its manifest has now."""

    sentences_lufs: tuple[float, ...]
    whole_lufs: float
    """Of all sentences one after the other."""
    peak_db: float
    num_bent: int
    """Samples that the gain took so near to full scale that they were bent."""


def sentences(lang: str) -> list[str]:
    """Sentences of moderate length from all articles in a language."""
    texts = [text for name, text in articles().items() if name.startswith(lang)]
    parts = [part.strip() for text in texts for part in re.split(r"(?<=[。！？])|(?<=[.!?])\s+|\n", text)]
    return [part for part in parts if MIN_CHARACTERS < len(part) < MAX_CHARACTERS][:MAX_SENTENCES]


def measure(synthesizer: Synthesizer, voice: str) -> Loudness:
    """Speak and listen."""
    meter = pyloudnorm.Meter(synthesizer.sample_rate)
    lang = synthesizer.languages(voice)[0]
    spoken = [synthesizer.speak(text, voice=voice).samples.astype(np.float64) for text in sentences(lang)]
    spoken = [samples for samples in spoken if len(samples) > synthesizer.sample_rate]
    whole = np.concatenate(spoken)
    return Loudness(
        tuple(float(meter.integrated_loudness(samples)) for samples in spoken),
        float(meter.integrated_loudness(whole)),
        float(20 * np.log10(np.abs(whole).max())),
        int(np.count_nonzero(np.abs(whole) > 10 ** (KNEE_DB / 20))),
    )


def report(voice: str, gain_db: float, found: Loudness) -> str:
    """Two lines for people."""
    each = found.sentences_lufs
    return (
        f"{voice}: {found.whole_lufs:.1f} LUFS over {len(each)} sentences ({min(each):.1f} to {max(each):.1f}), "
        f"highest peak {found.peak_db:.1f} dBFS, {found.num_bent} samples bent\n"
        f"  gain_db = {gain_db + TARGET_LUFS - found.whole_lufs:.1f} would give {TARGET_LUFS:g} LUFS; now {gain_db:g}\n"
    )


def main(voices: list[str]) -> None:
    """Measure each of the voices."""
    with yuliu.open(*voices) as synthesizer:
        for voice in voices:
            gain_db = VoiceStore().manifest(voice).gain_db
            sys.stdout.write(report(voice, gain_db, measure(synthesizer, voice)))


if __name__ == "__main__":
    if not sys.argv[1:]:
        sys.exit(__doc__)
    main(sys.argv[1:])
