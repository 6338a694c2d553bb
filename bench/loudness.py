"""``python -m bench loudness``: loudness of voices, and the ``gain_db`` that would bring them to the common one.

Each voice speaks sentences of the articles in its language; loudness is that of ITU-R BS.1770, by pyloudnorm.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyloudnorm

import yuliu
from bench.corpus import articles
from yuliu.audio.gain import KNEE_DB
from yuliu.audio.loudness import TARGET_LUFS
from yuliu.voices import VoiceManifest, VoiceStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from yuliu.synthesizer import Synthesizer

MIN_CHARACTERS, MAX_CHARACTERS = 8, 160
MAX_SENTENCES = 50


@dataclass(frozen=True, slots=True)
class VoiceLoudness:
    """Measurements of one voice at the gain of its manifest."""

    sentences_lufs: tuple[float, ...]
    whole_lufs: float
    """Loudness of all sentences one after the other."""
    peak_db: float
    num_bent: int
    """Samples above the knee, which the gain bends towards full scale."""


def sentences(lang: str) -> list[str]:
    """Return sentences of moderate length from all articles in a language."""
    texts = [text for name, text in articles().items() if name.startswith(lang)]
    parts = [part.strip() for text in texts for part in re.split(r"(?<=[。！？])|(?<=[.!?])\s+|\n", text)]
    return [part for part in parts if MIN_CHARACTERS < len(part) < MAX_CHARACTERS][:MAX_SENTENCES]


def measure_loudness(synthesizer: Synthesizer, voice: str) -> VoiceLoudness:
    """Speak the sentences of a voice and measure them."""
    meter = pyloudnorm.Meter(synthesizer.sample_rate)
    lang = synthesizer.languages(voice)[0]
    spoken = [synthesizer.speak(text, voice=voice).samples.astype(np.float64) for text in sentences(lang)]
    spoken = [samples for samples in spoken if len(samples) > synthesizer.sample_rate]
    whole = np.concatenate(spoken)
    return VoiceLoudness(
        tuple(float(meter.integrated_loudness(samples)) for samples in spoken),
        float(meter.integrated_loudness(whole)),
        float(20 * np.log10(np.abs(whole).max())),
        int(np.count_nonzero(np.abs(whole) > 10 ** (KNEE_DB / 20))),
    )


def describe_loudness(voice: str, gain_db: float, found: VoiceLoudness) -> str:
    """Return two lines for people."""
    each = found.sentences_lufs
    return (
        f"{voice}: {found.whole_lufs:.1f} LUFS over {len(each)} sentences ({min(each):.1f} to {max(each):.1f}), "
        f"highest peak {found.peak_db:.1f} dBFS, {found.num_bent} samples bent\n"
        f"  gain_db = {gain_db + TARGET_LUFS - found.whole_lufs:.1f} would give {TARGET_LUFS:g} LUFS; now {gain_db:g}\n"
    )


def report_loudness(voices: Sequence[str]) -> Iterator[str]:
    """Measure voices and yield a description of each."""
    with yuliu.open(*voices) as synthesizer:
        for voice in voices:
            manifest = VoiceStore().manifest(voice)
            if not isinstance(manifest, VoiceManifest):
                raise TypeError(f"{voice} consists of other voices; measure those")
            yield describe_loudness(voice, manifest.gain_db, measure_loudness(synthesizer, voice))
