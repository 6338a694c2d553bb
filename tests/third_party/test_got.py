"""The installed clients are found, and their locks are current."""

from __future__ import annotations

import json
import re

import pytest
from third_party_clients import NPM, ROOT, find, required

REQUIREMENTS = ROOT / "requirements"
PIN = re.compile(r"^([a-z0-9-]+)(?:\[\w+\])?==(\S+)", re.MULTILINE)
NOT_PROGRAMS = {"libportaudio2"}


def test_all_required_clients_are_found() -> None:
    """Otherwise tests that look for a program themselves would be skipped silently."""
    assert not {name for name in required() - NOT_PROGRAMS if find(name) is None}


def test_the_locks_match_the_requirements() -> None:
    """``make lock`` was run after the last change."""
    asked = dict(PIN.findall((REQUIREMENTS / "third-party.in").read_text()))
    locked = dict(PIN.findall((REQUIREMENTS / "third-party.txt").read_text()))
    assert asked
    assert asked.items() <= locked.items()
    asked = json.loads((NPM / "package.json").read_text())["dependencies"]
    packages = json.loads((NPM / "package-lock.json").read_text())["packages"]
    assert packages[""]["dependencies"] == asked
    assert all(packages[f"node_modules/{name}"]["version"] == version for name, version in asked.items())


@pytest.mark.parametrize(
    "path", [REQUIREMENTS / "third-party.txt", NPM / "package-lock.json"], ids=lambda path: path.name
)
def test_locks_name_no_registry(path: str) -> None:
    """Users have their own: packages are identified by name and hash."""
    with open(path) as lock:
        text = lock.read()
    assert "://" not in text
    assert "sha256:" in text or "sha512-" in text
