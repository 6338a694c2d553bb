"""A toy voice: a tiny wheel, a folder that serves as package index, and a manifest in its own home."""

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
    """Write a reproducible wheel that pip accepts; return its content."""
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
    """The index and the home of the toy voice."""

    root: Path
    derivations: dict[str, Derivation] = field(default_factory=lambda: {"double": double})

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def wheel(self) -> Path:
        """Path of the wheel in the index."""
        return self.root / "index" / "toybox-1.0-py3-none-any.whl"

    def publish(self, members: Mapping[str, bytes] = MEMBERS) -> None:
        """Add a wheel with these members to the index, and the matching manifest to the home."""
        self.describe(wheel_source(write_wheel(self.wheel, members)), members)

    def describe(self, sources: str, members: Mapping[str, bytes] = MEMBERS) -> None:
        """Write a manifest with these sources into the home."""
        path = self.home / "voices.d" / "toy.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(manifest_text(sources, members), encoding="utf-8")

    @property
    def kept(self) -> Path:
        """Path of the wheel between its download and the end of the installation."""
        return self.home / "downloads" / f"{sha256(self.wheel.read_bytes())}.whl"

    def fetch(self) -> None:
        """Simulate an earlier pull that downloaded the wheel, so that pip is not started."""
        self.kept.parent.mkdir(parents=True, exist_ok=True)
        self.kept.write_bytes(self.wheel.read_bytes())

    def store(self) -> VoiceStore:
        return VoiceStore(self.home, derivations=self.derivations)

    def left(self) -> set[str]:
        """Return the relative paths in the home besides the manifest and the lock."""
        paths = {path.relative_to(self.home).as_posix() for path in self.home.rglob("*") if path.is_file()}
        return paths - {"voices.d/toy.toml", "pull.lock"}
