"""Installed files of a voice, and their check. Reads only."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from yuliu.voices.content import WrongContent, check_file

if TYPE_CHECKING:
    from pathlib import Path

    from yuliu.voices.manifest import VoiceManifest

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
    """Record of an installed voice."""

    fingerprint: str
    """Fingerprint of the manifest that it was installed from."""
    generation: str
    """Name of the folder that holds the files, beside the receipt. A new installation gets a new folder, so that
    replacing the receipt replaces all files in one step."""
    files: tuple[InstalledFile, ...]


def read_receipt(folder: Path) -> Receipt | None:
    """Return the receipt in ``folder``, or None if there is none.

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


InstallState = Literal["absent", "ready", "damaged", "outdated"]
"""``outdated``: installed from another version of the manifest; a pull fetches only what changed."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A voice's folder, as it was found."""

    state: InstallState
    problem: str
    """Problem, in words that follow "voice NAME is"; empty if it is ready."""
    folder: Path | None = None
    """Folder of the files, if there is one."""
    receipt: Receipt | None = None

    @property
    def paths(self) -> dict[str, Path]:
        """The installed files by name, whatever their state."""
        if self.receipt is None or self.folder is None:
            return {}
        return {file.name: self.folder / file.name for file in self.receipt.files}

    @property
    def num_bytes(self) -> int:
        """Size of the files by the receipt."""
        return sum(file.size for file in self.receipt.files) if self.receipt else 0


def inspect(manifest: VoiceManifest, folder: Path) -> Installed:
    """Look at the receipt and at the sizes of the files that it lists; ``folder`` is the voice's own."""
    found = _inspect(manifest, folder)
    while found.state == "damaged":
        # A pull may have replaced the files between the look at the receipt and the look at the files.
        again = _inspect(manifest, folder)
        if again.receipt == found.receipt:
            break
        found = again
    return found


def _inspect(manifest: VoiceManifest, folder: Path) -> Installed:
    try:
        receipt = read_receipt(folder)
    except ValueError:
        return Installed("damaged", "damaged (its receipt)")
    except OSError as error:
        return Installed("damaged", f"unreadable ({error.strerror})")
    if receipt is None:
        return Installed("absent", "not installed")
    files = folder / receipt.generation
    if receipt.fingerprint != manifest.fingerprint or {file.name for file in receipt.files} != set(manifest.file_names):
        return Installed("outdated", "installed in another version", files, receipt)
    found = Installed("ready", "", files, receipt)
    wrong = [file.name for file in receipt.files if _size(found.paths[file.name]) != file.size]
    if wrong:
        return Installed("damaged", f"damaged ({', '.join(wrong)})", files, receipt)
    return found


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None


def damage(installed: Installed) -> list[str]:
    """Hash every file; "NAME: what is wrong with it" for each that is not as it was installed."""
    problems = []
    for file in installed.receipt.files if installed.receipt else ():
        try:
            check_file(installed.paths[file.name], size=file.size, sha256=file.sha256)
        except WrongContent as error:
            problems.append(f"{file.name}: {error}")
        except OSError as error:
            problems.append(f"{file.name}: it cannot be read ({error.strerror})")
    return problems
