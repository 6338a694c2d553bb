"""The receipt of an installed voice: which files it has, and in which folder. Written last; without it nothing is."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

RECEIPT = "installed.json"
_SCHEMA = 1
_MAX_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class InstalledFile:
    """A file as it was when it was installed."""

    name: str
    size: int
    """Bytes."""
    sha256: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """What is installed of a voice."""

    fingerprint: str
    """Of the manifest that it was installed from."""
    generation: str
    """Name of the folder that holds the files, beside the receipt. A new installation gets a new folder, so that
    replacing the receipt replaces all files in one step."""
    files: tuple[InstalledFile, ...]


def read_receipt(folder: Path) -> Receipt | None:
    """The receipt in ``folder``, or None if there is none.

    Raises:
        ValueError: There is something else in its place.
    """
    try:
        with (folder / RECEIPT).open("rb") as file:
            content = file.read(_MAX_BYTES)
    except FileNotFoundError:
        return None
    try:
        values = json.loads(content)
        return _receipt(values) if values["schema"] == _SCHEMA else None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError("the receipt is damaged") from error


def _receipt(values: dict[str, object]) -> Receipt:
    files = values["files"]
    if not isinstance(files, dict):
        raise TypeError("files must be an object")
    generation = str(values["generation"])
    names = [generation, *files]
    if any(name != os.path.basename(name) or name in {"", ".", ".."} for name in names):
        raise ValueError("a name leads out of the folder")
    installed = tuple(InstalledFile(name, int(of["size"]), str(of["sha256"])) for name, of in files.items())
    return Receipt(str(values["fingerprint"]), generation, installed)


def write_receipt(folder: Path, receipt: Receipt) -> None:
    """Put the receipt into ``folder``, replacing an older one in one step.

    Raises:
        OSError: The disk did not take it; the older one stays.
    """
    values = {
        "schema": _SCHEMA,
        "fingerprint": receipt.fingerprint,
        "generation": receipt.generation,
        "files": {file.name: {"size": file.size, "sha256": file.sha256} for file in receipt.files},
    }
    draft = folder / f"{receipt.generation}.receipt"
    try:
        with draft.open("w", encoding="utf-8") as file:
            json.dump(values, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(folder / RECEIPT)
    finally:
        draft.unlink(missing_ok=True)
