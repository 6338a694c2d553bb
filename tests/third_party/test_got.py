"""What was fetched is here, and is what is written down."""

from __future__ import annotations

import json
import re

import pytest

from third_party import NPM, ROOT, find, required

REQUIREMENTS = ROOT / "requirements"
PIN = re.compile(r"^([a-z0-9-]+)(?:\[\w+\])?==(\S+)", re.MULTILINE)
NOT_PROGRAMS = {"libportaudio2"}


def test_all_that_was_fetched_is_found() -> None:
    """Else tests that look for a program by themselves would be skipped where they must not be."""
    assert not {name for name in required() - NOT_PROGRAMS if find(name) is None}


def test_the_lock_is_that_of_what_is_asked_for() -> None:
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
    """Everyone has their own: packages are known by their names and hashes."""
    with open(path) as lock:
        text = lock.read()
    assert "://" not in text
    assert "sha256:" in text or "sha512-" in text
