"""Known voices: the manifests in the package and those of the user."""

from __future__ import annotations

from pathlib import Path

from yuliu.errors import InvalidRequest
from yuliu.voices.manifest import CompositeManifest, Manifest
from yuliu.voices.toml import parse_manifest

USER_FOLDER = "voices.d"
"""Folder of the user's manifests, inside the home folder."""
MAX_MANIFEST_BYTES = 256 * 1024
_BUILT_IN = Path(__file__).with_name("manifests")


def load_catalogue(home: Path) -> dict[str, Manifest]:
    """Read all manifests: the built-in ones, then ``home/voices.d/*.toml``; by name, in alphabetical order.

    Raises:
        InvalidRequest: A manifest is wrong, has the name of another one, or is a composite of voices that do not fit.
    """
    catalogue: dict[str, Manifest] = {}
    for path in sorted(_BUILT_IN.glob("*.toml")):
        manifest = parse_manifest(path.read_text(encoding="utf-8"), where=path.name)
        catalogue[manifest.name] = manifest
    for path in sorted((home / USER_FOLDER).glob("*.toml")):
        manifest = parse_manifest(_text(path), where=path.name, folder=path.parent)
        if manifest.name in catalogue:
            raise InvalidRequest(
                f"{path.name}: the name {manifest.name} is taken by another voice; choose another one", param="name"
            )
        catalogue[manifest.name] = manifest
    for manifest in catalogue.values():
        if isinstance(manifest, CompositeManifest):
            _check_parts(manifest, catalogue)
    return dict(sorted(catalogue.items()))


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_MANIFEST_BYTES + 1)
    except OSError as error:
        raise InvalidRequest(f"{path.name}: cannot be read: {error.strerror}") from error
    if len(content) > MAX_MANIFEST_BYTES:
        raise InvalidRequest(f"{path.name}: is larger than {MAX_MANIFEST_BYTES} bytes; no manifest needs that")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path.name}: is not UTF-8, as TOML must be") from error


def _check_parts(composite: CompositeManifest, catalogue: dict[str, Manifest]) -> None:
    for lang, name in composite.parts.items():
        part = catalogue.get(name)
        if part is None or isinstance(part, CompositeManifest):
            raise InvalidRequest(
                f"voice {composite.name}: parts.{lang} must name a voice with files of its own, {name} is none",
                param=f"parts.{lang}",
            )
        if lang not in part.languages:
            raise InvalidRequest(
                f"voice {composite.name}: parts.{lang} names {name}, which speaks {', '.join(part.languages)} only",
                param=f"parts.{lang}",
            )
