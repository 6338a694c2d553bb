"""Manifests read from TOML text, or an error that names the key. Pure."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from yuliu.errors import InvalidRequest
from yuliu.text.languages import all_languages, find_language
from yuliu.voices.manifest import (
    LINE_WORDS,
    CompositeManifest,
    FolderSource,
    Manifest,
    Name,
    Source,
    VoiceManifest,
)
from yuliu.wire.schema import convert_toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from yuliu.types import Lang

_LANGUAGE_TAG = re.compile(r"[A-Za-z0-9_-]{2,64}")


def parse_manifest(text: str, *, where: str, folder: Path | None = None) -> Manifest:
    """Return one manifest.

    Args:
        text: The TOML; docs/en/reference/voices.md lists the keys.
        where: Name of the file, for messages.
        folder: Folder of the file. Relative folder sources count from it; None forbids folder sources.

    Raises:
        InvalidRequest: It is no TOML, or a key is missing, unknown or wrong; the message says which.
    """
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InvalidRequest(f"{where}: not valid TOML: {error}") from error
    reader = _ManifestReader(f"{where}: ", folder)
    return reader.composite(values) if "parts" in values else reader.voice(values)


class _ManifestReader:
    """One file being read.

    Args:
        where: What stands before the key in messages.
        folder: Folder of the file.
    """

    def __init__(self, where: str, folder: Path | None) -> None:
        self._where, self._folder = where, folder

    def composite(self, values: dict[str, Any]) -> CompositeManifest:
        """Return a voice that is made of others."""
        parts = values["parts"]
        if not isinstance(parts, dict) or not parts:
            raise self._error("parts", "must name a voice for at least one language")
        named = {
            self._lang(tag, f"parts.{tag}"): convert_toml(name, Name, where=self._where, at=("parts", tag))
            for tag, name in parts.items()
        }
        manifest: CompositeManifest = convert_toml({**values, "parts": named}, CompositeManifest, where=self._where)
        self._check_lines({"description": manifest.description})
        return manifest

    def voice(self, values: dict[str, Any]) -> VoiceManifest:
        """Return a voice with files of its own."""
        if isinstance(sources := values.get("sources"), dict):
            values = {**values, "sources": {name: self._source(name, table) for name, table in sources.items()}}
        if isinstance(files := values.get("files"), list):
            values = {**values, "files": [_with_member(file) for file in files]}
        manifest: VoiceManifest = convert_toml(values, VoiceManifest, where=self._where)
        manifest = replace(manifest, languages=self._languages(manifest.languages))
        self._check_lines(dict(_lines(manifest)))
        self._check_names(manifest)
        return manifest

    def _source(self, name: str, table: object) -> Source:
        if isinstance(table, dict) and table.get("kind") == "folder" and self._folder is None:
            message = "must not be folder here: built-in voices come from elsewhere"
            raise self._error(f"sources.{name}.kind", message)
        source: Source = convert_toml(table, Source, where=self._where, at=("sources", name))
        if isinstance(source, FolderSource) and self._folder is not None:
            return FolderSource(str(self._folder / Path(source.path).expanduser()))
        return source

    def _lang(self, tag: str, key: str) -> Lang:
        lang = find_language(tag) if _LANGUAGE_TAG.fullmatch(tag) else None
        if lang is None:
            known = ", ".join(all_languages())
            raise self._error(key, f"names no language that text can be read in; there are {known}")
        return lang

    def _languages(self, tags: tuple[str, ...]) -> tuple[Lang, ...]:
        languages = tuple(dict.fromkeys(self._lang(tag, "languages") for tag in tags))
        if len(languages) < len(tags):
            raise self._error("languages", "must be different languages")
        return languages

    def _check_lines(self, lines: Mapping[str, str]) -> None:
        for key, line in lines.items():
            if not line.isprintable():
                raise self._error(key, f"must be {LINE_WORDS}")

    def _check_names(self, manifest: VoiceManifest) -> None:
        """Check that names refer to what is there, and that no two files share one."""
        for index, file in enumerate(manifest.files):
            if file.source not in manifest.sources:
                known = ", ".join(sorted(manifest.sources))
                raise self._error(f"files[{index}].source", f"names no source; sources are {known}")
            parts = PurePosixPath(file.member)
            if parts.is_absolute() or ".." in parts.parts or "\\" in file.member or not parts.parts:
                message = "must be a relative path with forward slashes and without .."
                raise self._error(f"files[{index}].member", message)
        # Compared without case: two names that differ only in case are one file on macOS and Windows.
        names = [name.casefold() for name in manifest.file_names]
        if len(set(names)) != len(names):
            raise self._error("files", "and derived outputs must all have different names")
        known_files = {file.name for file in manifest.files}
        for index, step in enumerate(manifest.derived):
            if not known_files.issuperset(step.inputs) or len(set(step.inputs)) < len(step.inputs):
                message = "must name different fetched files or outputs of earlier derivations"
                raise self._error(f"derived[{index}].inputs", message)
            known_files.update(step.outputs)

    def _error(self, key: str, problem: str) -> InvalidRequest:
        return InvalidRequest(f"{self._where}{key} {problem}", param=key)


def _with_member(file: object) -> object:
    """Return the table of a file; its path inside the source is its name, unless another one is given."""
    return {"member": file["name"], **file} if isinstance(file, dict) and "name" in file else file


def _lines(manifest: VoiceManifest) -> Iterator[tuple[str, str]]:
    yield "description", manifest.description
    yield "licence.name", manifest.licence.name
    yield "licence.notice", manifest.licence.notice
    for name, source in manifest.sources.items():
        if isinstance(source, FolderSource):
            yield f"sources.{name}.path", source.path
    for index, file in enumerate(manifest.files):
        yield f"files[{index}].member", file.member
