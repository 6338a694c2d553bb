"""Engine specs, the registry of the families that engines are built from, and the conversions of voice files.

A family is a function that takes an :class:`EngineSpec`, loads the shared data of its engines, and returns a
function that makes one engine. Families are found by name: those of this package first, then those registered in this
process with :func:`register`, then the entry points of the group ``yuliu.engines`` of installed packages::

    [project.entry-points."yuliu.engines"]
    choir = "choir.engine:prepare"

The runtime of an engine is imported when the engine is first needed: listing voices loads no model library.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.metadata import entry_points
from threading import Lock
from typing import TYPE_CHECKING, Literal, cast

from yuliu.errors import VoiceNotReady

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from yuliu.engines.api import AsyncEngine, Engine
    from yuliu.types import Segment
    from yuliu.voices import Derivation, VoiceManifest

    AnyEngine = Engine | AsyncEngine
    MakeEngine = Callable[[], AnyEngine]
    EngineFamily = Callable[["EngineSpec"], MakeEngine]

GROUP = "yuliu.engines"
"""Entry-point group of installed engine families."""

KINDS = ("thread", "async")
"""Kinds of workers that run engines."""
MAX_WORDS = 4096
"""Number of words whose phonemes from the net for unknown words are remembered: names come again in a text."""

_registered: dict[str, EngineFamily] = {}
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class EngineSpec:
    """Description of an engine, from which a worker builds it.

    A plain value that pickles: the worker may be a thread, a process or another machine.
    """

    name: str
    """Name of the engine in the scheduler; also that of its voice."""
    family: str
    """Registered name of its family."""
    files: tuple[tuple[str, Path], ...] = ()
    """Files of the voice, by name."""
    parameters: tuple[tuple[str, float | str], ...] = ()
    """Settings that the family knows, by name."""
    warm_up: tuple[Segment, ...] = ()
    """Segments that a new engine renders before it is announced: the first run of a model allocates and compiles."""
    kind: Literal["thread", "async"] = "thread"
    """Kind of worker that runs it: a thread for an engine that computes, an event loop for one that waits for a
    network."""
    num_workers: int | None = None
    """Number of workers that carry this engine alone; None shares the threads of the scheduler (``thread``), or takes
    one event loop (``async``)."""
    slots: int = 1
    """Number of calls that a worker of kind ``async`` carries at once."""

    def __post_init__(self) -> None:
        """Refuse a spec that no worker could carry.

        Raises:
            ValueError: The kind is not known, or a number is below 1.
        """
        if self.kind not in KINDS:
            raise ValueError(f"engine {self.name!r}: kind must be one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.slots < 1 or (self.num_workers is not None and self.num_workers < 1):
            raise ValueError(f"engine {self.name!r}: slots and num_workers must be at least 1")


class Loader:
    """Builds engines from specs, and loads the shared data of each spec once. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._makers: dict[str, MakeEngine] = {}  # by the spec's name

    def load(self, spec: EngineSpec) -> AnyEngine:
        """Return a new engine.

        Raises:
            VoiceNotReady: A file is damaged, or the family is not installed.
        """
        with self._lock:
            if spec.name not in self._makers:
                self._makers[spec.name] = find_family(spec.family)(spec)
            make = self._makers[spec.name]
        return make()


def register(name: str, family: EngineFamily) -> None:
    """Add a family for the life of this process; it replaces an earlier one of that name."""
    _registered[name] = family


def local_spec(
    name: str,
    make: MakeEngine,
    *,
    kind: Literal["thread", "async"] = "thread",
    num_workers: int | None = None,
    slots: int = 1,
) -> EngineSpec:
    """Register a function that makes engines, and return a spec for it. For tests and toy engines.

    The spec is good in this process only.

    Args:
        name: Name of the engine.
        make: Called once for each worker, and again for each replacement.
        kind: Kind of worker that runs it.
        num_workers: Number of workers that carry it alone; see :attr:`EngineSpec.num_workers`.
        slots: Number of calls at once, for the kind ``async``.
    """
    family = f"in-process-{next(_numbers)}"
    register(family, lambda _: make)
    return EngineSpec(name, family, kind=kind, num_workers=num_workers, slots=slots)


def find_family(name: str) -> EngineFamily:
    """Return the family of a name.

    Raises:
        VoiceNotReady: No installed package has it.
    """
    if (family := _BUILT_IN.get(name) or _registered.get(name)) is not None:
        return family
    for found in entry_points(group=GROUP, name=name):
        return cast("EngineFamily", found.load())
    raise VoiceNotReady(f"there is no engine {name!r}; this version has {', '.join(family_names())}")


def family_names() -> tuple[str, ...]:
    """Return the names of the families in this package and in installed ones."""
    return (*_BUILT_IN, *sorted({found.name for found in entry_points(group=GROUP)} - set(_BUILT_IN)))


def engine_spec(manifest: VoiceManifest, files: Mapping[str, Path], warm_up: tuple[Segment, ...] = ()) -> EngineSpec:
    """Return the spec of a voice's engine.

    Args:
        manifest: Describes the voice.
        files: Its files, by name.
        warm_up: Segments that a new engine renders before it is announced.

    Raises:
        VoiceNotReady: The manifest names an engine that is not installed.
    """
    try:
        find_family(manifest.engine)
    except VoiceNotReady as error:
        known = ", ".join(family_names())
        message = f"voice {manifest.name!r} wants engine {manifest.engine!r}; this version has {known}"
        raise VoiceNotReady(message) from error
    gain = 10 ** (manifest.gain_db / 20)
    return EngineSpec(manifest.name, manifest.engine, tuple(files.items()), (("gain", gain),), warm_up)


def _fastspeech2(spec: EngineSpec) -> MakeEngine:
    from yuliu.engines.fastspeech2.engine import FastSpeech2Engine
    from yuliu.text.frontend import Remembered
    from yuliu.text.zh import Mandarin

    files, gain = dict(spec.files), float(dict(spec.parameters)["gain"])
    acoustic, vocoder, symbols = files["fastspeech2.tflite"], files["melgan.onnx"], files["baker_mapper.json"]
    return partial(FastSpeech2Engine.load, acoustic, vocoder, symbols, front_end=Remembered(Mandarin()), gain=gain)


def _hibari(spec: EngineSpec) -> MakeEngine:
    from yuliu.engines.hibari.engine import HibariEngine, load_oov
    from yuliu.text.en import English
    from yuliu.text.frontend import Remembered

    files, gain = dict(spec.files), float(dict(spec.parameters)["gain"])
    oov = lru_cache(MAX_WORDS)(load_oov(files["oov.onnx"]))
    return partial(HibariEngine.load, files, front_end=Remembered(English(oov)), gain=gain)


_BUILT_IN: Mapping[str, EngineFamily] = {"fastspeech2": _fastspeech2, "hibari": _hibari}


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
"""Conversions of fetched files that manifests may ask for, by name."""
