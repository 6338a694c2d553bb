"""Reading manifests: TOML text to the values of ``manifest``, or an error that names the key. Pure."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, cast

from yuliu.errors import InvalidRequest
from yuliu.text.languages import all_languages, find_language
from yuliu.voices.manifest import (
    CompositeManifest,
    DerivedFiles,
    FolderSource,
    HubSource,
    Licence,
    Manifest,
    Source,
    Streaming,
    UrlSource,
    VoiceFile,
    VoiceManifest,
    WheelSource,
)
from yuliu.voices.table import TomlTable

if TYPE_CHECKING:
    from yuliu.types import Lang

MAX_FILE_BYTES = 16 * 2**30
"""Larger files are refused: no voice that this library can run comes near."""

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VERSION = re.compile(r"[0-9][0-9A-Za-z.+!_-]{0,63}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}/[A-Za-z0-9][A-Za-z0-9._-]{0,95}")
_BASE_URL = re.compile(r"https://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?/([A-Za-z0-9._~%/+-]*/)?")
_LANGUAGE_TAG = re.compile(r"[A-Za-z0-9_-]{2,64}")
_STREAMING = re.compile(r"exact|crossfade")
_SCHEMA = 1


def parse_manifest(text: str, *, where: str, folder: Path | None = None) -> Manifest:
    """Read one manifest.

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
    table = TomlTable(values, where)
    table.integer("schema", low=_SCHEMA, high=_SCHEMA)
    manifest = _composite(table) if table.has("parts") else _voice(table, folder)
    table.finish()
    return manifest


def _composite(table: TomlTable) -> CompositeManifest:
    parts = table.table("parts")
    pairs = tuple((_lang(parts, key, key=key), parts.text(key, pattern=_NAME)) for key in parts.names())
    if not pairs:
        raise table.error("parts", "must name a voice for one language at least")
    return CompositeManifest(
        name=table.text("name", pattern=_NAME),
        description=table.text("description"),
        sample_rate=table.integer("sample_rate", low=8000, high=192_000),
        parts=pairs,
    )


def _lang(table: TomlTable, tag: str, *, key: str) -> Lang:
    lang = find_language(tag)
    if lang is None:
        raise table.error(key, f"names no language that text can be read in; there are {', '.join(all_languages())}")
    return lang


def _languages(table: TomlTable) -> tuple[Lang, ...]:
    tags = table.texts("languages", pattern=_LANGUAGE_TAG)
    languages = tuple(dict.fromkeys(_lang(table, tag, key="languages") for tag in tags))
    if len(languages) < len(tags):
        raise table.error("languages", "must be different languages")
    return languages


def _voice(table: TomlTable, folder: Path | None) -> VoiceManifest:
    sources = table.table("sources")
    manifest = VoiceManifest(
        name=table.text("name", pattern=_NAME),
        description=table.text("description"),
        engine=table.text("engine", pattern=_NAME),
        languages=_languages(table),
        sample_rate=table.integer("sample_rate", low=8000, high=192_000),
        streaming=cast("Streaming", table.text("streaming", pattern=_STREAMING)),
        gain_db=table.number("gain_db", low=-40.0, high=40.0, default=0.0),
        speaker=table.text("speaker", default="", pattern=_WORD),
        licence=_licence(table.table("licence")),
        sources=tuple(_source(sources.table(key), key, folder) for key in sources.names()),
        files=tuple(_file(entry) for entry in table.tables("files", needed=True)),
        derived=tuple(_derived(entry) for entry in table.tables("derived", needed=False)),
    )
    _check_names(table, manifest)
    return manifest


def _licence(table: TomlTable) -> Licence:
    licence = Licence(
        name=table.text("name"),
        commercial_use=table.flag("commercial_use"),
        notice=table.text("notice"),
    )
    table.finish()
    return licence


def _source(table: TomlTable, name: str, folder: Path | None) -> Source:
    kind = table.text("kind", pattern=re.compile("wheel|url|hub|folder"))
    source: Source
    if kind == "wheel":
        source = WheelSource(
            name=name,
            distribution=table.text("distribution", pattern=_WORD),
            version=table.text("version", pattern=_VERSION),
            size=table.integer("size", low=1, high=MAX_FILE_BYTES),
            sha256=table.text("sha256", pattern=_SHA256),
        )
    elif kind == "url":
        source = UrlSource(name=name, base_url=table.text("base_url", pattern=_BASE_URL))
    elif kind == "hub":
        repository = table.text("repository", pattern=_REPOSITORY)
        source = HubSource(name=name, repository=repository, commit=table.text("commit", pattern=_COMMIT))
    else:
        source = _folder_source(table, name, folder)
    table.finish()
    return source


def _folder_source(table: TomlTable, name: str, folder: Path | None) -> FolderSource:
    path = table.text("path")
    if folder is None:
        raise table.error("kind", "must not be folder here: built-in voices come from elsewhere")
    return FolderSource(name=name, path=folder / Path(path).expanduser())


def _file(table: TomlTable) -> VoiceFile:
    name = table.text("name", pattern=_FILE_NAME)
    file = VoiceFile(
        name=name,
        source=table.text("source"),
        member=table.text("member", default=name),
        size=table.integer("size", low=1, high=MAX_FILE_BYTES),
        sha256=table.text("sha256", pattern=_SHA256),
    )
    parts = PurePosixPath(file.member)
    if parts.is_absolute() or ".." in parts.parts or "\\" in file.member or not parts.parts:
        raise table.error("member", "must be a relative path with forward slashes and without ..")
    table.finish()
    return file


def _derived(table: TomlTable) -> DerivedFiles:
    derived = DerivedFiles(
        function=table.text("function", pattern=_NAME),
        version=table.integer("version", low=1, high=1_000_000),
        inputs=table.texts("inputs", pattern=_FILE_NAME),
        outputs=table.texts("outputs", pattern=_FILE_NAME),
    )
    table.finish()
    return derived


def _check_names(table: TomlTable, manifest: VoiceManifest) -> None:
    """Names refer to what is there, and no two files share one."""
    sources = {source.name for source in manifest.sources}
    for index, file in enumerate(manifest.files):
        if file.source not in sources:
            raise table.error(f"files[{index}].source", f"names no source; sources are {', '.join(sorted(sources))}")
    # Compared without case: two names that differ only in case are one file on macOS and Windows.
    names = [name.casefold() for name in manifest.file_names]
    if len(set(names)) != len(names):
        raise table.error("files", "and derived outputs must all have different names")
    known = {file.name for file in manifest.files}
    for index, step in enumerate(manifest.derived):
        if not known.issuperset(step.inputs):
            raise table.error(f"derived[{index}].inputs", "must name fetched files or outputs of earlier derivations")
        known.update(step.outputs)
