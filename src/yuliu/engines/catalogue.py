"""The engines by the names that manifests use, and what is made of fetched files when a voice is pulled.

Each engine's runtime is imported when it is first needed: listing voices loads no model library.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from yuliu.errors import VoiceNotReady

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from yuliu.engines.api import Engine
    from yuliu.voices import Derivation, VoiceManifest

    Load = Callable[[Mapping[str, Path], float], Engine]

MAX_WORDS = 4096
"""Words whose phonemes the net for unknown words made, that are remembered: names come again in a text."""


def load_engine(manifest: VoiceManifest, files: Mapping[str, Path]) -> Engine:
    """The engine of a voice, with its weights loaded. Takes up to a second.

    Raises:
        VoiceNotReady: A file is damaged, or the manifest names an engine that this version does not have.
    """
    load = _ENGINES.get(manifest.engine)
    if load is None:
        known = ", ".join(_ENGINES)
        raise VoiceNotReady(f"voice {manifest.name!r} wants engine {manifest.engine!r}; this version has {known}")
    return load(files, 10 ** (manifest.gain_db / 20))


def _fastspeech2(files: Mapping[str, Path], gain: float) -> Engine:
    from yuliu.engines.fastspeech2 import FastSpeech2Engine
    from yuliu.text.remembered import Remembered
    from yuliu.text.zh import Mandarin

    acoustic, vocoder = files["fastspeech2.tflite"], files["melgan.onnx"]
    front_end = Remembered(Mandarin())
    return FastSpeech2Engine.load(acoustic, vocoder, files["baker_mapper.json"], front_end=front_end, gain=gain)


def _hibari(files: Mapping[str, Path], gain: float) -> Engine:
    from yuliu.engines.hibari import HibariEngine, load_oov
    from yuliu.text.en import English
    from yuliu.text.remembered import Remembered

    oov = lru_cache(MAX_WORDS)(load_oov(files["oov.onnx"]))
    return HibariEngine.load(files, front_end=Remembered(English(oov)), gain=gain)


_ENGINES: Mapping[str, Load] = {"fastspeech2": _fastspeech2, "hibari": _hibari}


def _without_dropout(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    from yuliu.engines.surgery.tflite import remove_dropout

    return {"fastspeech2.tflite": remove_dropout(files["fastspeech2_quan.tflite"])}


def _melgan(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    from yuliu.engines.surgery.melgan import melgan_to_onnx

    return {"melgan.onnx": melgan_to_onnx(files["mb_melgan.tflite"])}


def _split(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    from yuliu.engines.surgery.onnx import split_hibari

    return split_hibari(files["hibari.onnx"])


DERIVATIONS: Mapping[str, Derivation] = {
    "fastspeech2_without_dropout": _without_dropout,
    "melgan_to_onnx": _melgan,
    "hibari_split": _split,
}
"""What manifests may have made of fetched files, by name."""
