"""The engines by the names that manifests use, and what is made of fetched files when a voice is pulled.

Each engine's runtime is imported when it is first needed: listing voices loads no model library.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

from yuliu.errors import VoiceNotReady

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from yuliu.engines.api import Engine
    from yuliu.voices import Derivation, VoiceManifest

    MakeEngine = Callable[[], Engine]

MAX_WORDS = 4096
"""Words whose phonemes the net for unknown words made, that are remembered: names come again in a text."""


def engine_factory(manifest: VoiceManifest, files: Mapping[str, Path]) -> MakeEngine:
    """What makes engines of a voice, any number of them. Takes up to a second.

    Each call loads the voice's models anew, since one thread owns a model; the front end (tables of words and readings)
    is loaded here, once, and shared by all engines made. The calls may come from several threads at once.

    Raises:
        VoiceNotReady: A file is damaged, or the manifest names an engine that this version does not have. The calls
            raise it as well.
    """
    prepare = _ENGINES.get(manifest.engine)
    if prepare is None:
        known = ", ".join(_ENGINES)
        raise VoiceNotReady(f"voice {manifest.name!r} wants engine {manifest.engine!r}; this version has {known}")
    return prepare(files, 10 ** (manifest.gain_db / 20))


def _fastspeech2(files: Mapping[str, Path], gain: float) -> MakeEngine:
    from yuliu.engines.fastspeech2.engine import FastSpeech2Engine
    from yuliu.text.frontend import Remembered
    from yuliu.text.zh import Mandarin

    acoustic, vocoder, symbols = files["fastspeech2.tflite"], files["melgan.onnx"], files["baker_mapper.json"]
    return partial(FastSpeech2Engine.load, acoustic, vocoder, symbols, front_end=Remembered(Mandarin()), gain=gain)


def _hibari(files: Mapping[str, Path], gain: float) -> MakeEngine:
    from yuliu.engines.hibari.engine import HibariEngine, load_oov
    from yuliu.text.en import English
    from yuliu.text.frontend import Remembered

    oov = lru_cache(MAX_WORDS)(load_oov(files["oov.onnx"]))
    return partial(HibariEngine.load, files, front_end=Remembered(English(oov)), gain=gain)


_ENGINES: Mapping[str, Callable[[Mapping[str, Path], float], MakeEngine]] = {
    "fastspeech2": _fastspeech2,
    "hibari": _hibari,
}


def _without_dropout(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    from yuliu.engines.fastspeech2.convert_acoustic import remove_dropout

    return {"fastspeech2.tflite": remove_dropout(files["fastspeech2_quan.tflite"])}


def _melgan(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    from yuliu.engines.fastspeech2.convert_melgan import melgan_to_onnx

    return {"melgan.onnx": melgan_to_onnx(files["mb_melgan.tflite"])}


def _split(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    from yuliu.engines.hibari.convert import split_hibari

    return split_hibari(files["hibari.onnx"])


DERIVATIONS: Mapping[str, Derivation] = {
    "fastspeech2_without_dropout": _without_dropout,
    "melgan_to_onnx": _melgan,
    "hibari_split": _split,
}
"""What manifests may have made of fetched files, by name."""
