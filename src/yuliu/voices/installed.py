"""What is installed of a voice, and whether it is what it should be. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from yuliu.voices.content import WrongContent, check_file
from yuliu.voices.receipt import Receipt, read_receipt

if TYPE_CHECKING:
    from pathlib import Path

    from yuliu.voices.manifest import VoiceManifest

State = Literal["absent", "ready", "damaged", "outdated"]
"""``outdated``: installed from another version of the manifest; a pull fetches only what changed."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A voice's folder, as it was found."""

    state: State
    problem: str
    """What is wrong with it, in words that follow "voice NAME is"; empty if it is ready."""
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
