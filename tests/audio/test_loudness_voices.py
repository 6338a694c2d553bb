"""Tests of the levels of the real voices, before and after levelling."""

from __future__ import annotations

import asyncio
import math
import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pyloudnorm
import pytest
from effects import RATE

import yuliu
from bench.corpus import articles
from yuliu.audio.chain import Effects
from yuliu.audio.loudness import TARGET_LUFS, Levelling
from yuliu.stream import StreamOptions

if TYPE_CHECKING:
    from yuliu.synthesizer import Synthesizer
    from yuliu.text.lexicon import Words
    from yuliu.types import Samples, Span

pytestmark = pytest.mark.voices
NUM_SENTENCES = 12


@cache
def spoken() -> dict[str, list[Samples]]:
    """Return sentences of articles by voice, spoken once."""
    found: dict[str, list[Samples]] = {}
    with yuliu.open("baker", "heart") as synthesizer:
        for voice, article in (("baker", "zh_article"), ("heart", "en_article")):
            parts = re.split(r"(?<=[。！？])|(?<=[.!?])\s+|\n", articles()[article])
            texts = [part for part in parts if 16 < len(part) < 160][:NUM_SENTENCES]
            found[voice] = [synthesizer.speak(text, voice=voice).samples for text in texts]
    return found


def lufs(samples: Samples) -> float:
    return float(pyloudnorm.Meter(RATE).integrated_loudness(samples.astype(np.float64)))


def levelled(sentences: list[Samples], offsets_db: list[float]) -> list[float]:
    """Return the loudness of each sentence after applying a gain to each and levelling them as one stream."""
    levelling, loudnesses = Levelling(RATE), []
    for samples, offset_db in zip(sentences, offsets_db, strict=True):
        loudnesses.append(lufs(levelling.push(samples * np.float32(10 ** (offset_db / 20)))))
        levelling.push(np.zeros(RATE // 4, np.float32))
    return loudnesses


@pytest.mark.parametrize("voice", ["baker", "heart"])
def test_the_gain_in_the_manifest_brings_a_voice_to_the_common_loudness(voice: str) -> None:
    assert lufs(np.concatenate(spoken()[voice])) == pytest.approx(TARGET_LUFS, abs=1.0)


def mixed_text() -> str:
    """Return a text that changes its language with every sentence."""
    sentences = [
        [part.strip() for part in re.split(r"(?<=[。！？])|(?<=[.!?])\s+|\n", articles()[name]) if 10 < len(part) < 140]
        for name in ("zh_article", "en_article")
    ]
    return " ".join(each for pair in zip(*sentences, strict=False) for each in pair)[:2000]


async def segments(synthesizer: Synthesizer, text: str, options: StreamOptions, words: Words) -> list[float]:
    """Return the loudness of each segment of at least 1.5 s."""
    found: dict[Span, list[Samples]] = {}
    async with synthesizer.stream(options=options, words=words) as stream:
        await stream.push(text)
        await stream.end()
        async for chunk in stream:
            found.setdefault(chunk.source, []).append(chunk.samples)
    whole = (np.concatenate(pieces) for pieces in found.values())
    return [lufs(samples) for samples in whole if len(samples) >= 1.5 * RATE]


@pytest.mark.timeout(120)
def test_levelled_segments_of_a_mixed_stream_differ_by_less_than_three_decibels() -> None:
    """Without levelling they differ by 3 to 4.5 dB. Short clauses do not count, since one word may be soft."""
    with yuliu.open() as synthesizer:
        text = mixed_text()
        both = [StreamOptions(effects=Effects(level=level), stall_s=math.inf) for level in (False, True)]
        plain, level = (
            asyncio.run(segments(synthesizer, text, options, synthesizer.words(options))) for options in both
        )
    assert len(level) == len(plain) > 20
    assert np.ptp(level) < 3.0
    assert np.ptp(level) < 0.75 * np.ptp(plain)
    assert np.mean(level) == pytest.approx(TARGET_LUFS, abs=1.0)


def test_sentences_of_both_voices_differ_by_less_than_three_decibels() -> None:
    """The languages alternate, once at their own levels and once with a level that falls by 6 dB."""
    both = [samples for pair in zip(*spoken().values(), strict=True) for samples in pair]
    assert np.ptp(levelled(both, [0.0] * len(both))) < 2.5
    drift = list(np.linspace(0.0, -6.0, len(both)))
    assert np.ptp([lufs(samples) + db for samples, db in zip(both, drift, strict=True)]) > 5.0
    assert np.ptp(levelled(both, drift)) < 3.0


@pytest.mark.parametrize("voice", ["baker", "heart"])
def test_a_step_of_the_level_is_corrected_within_a_sentence(voice: str) -> None:
    """After a drop of 5 dB all sentences but the first are within 3 dB of the ones before."""
    half = NUM_SENTENCES // 2
    loudnesses = levelled(spoken()[voice], [0.0] * half + [-5.0] * (NUM_SENTENCES - half))
    assert np.ptp(loudnesses[:half] + loudnesses[half + 1 :]) < 3.0
