"""The changelog follows Keep a Changelog and agrees with the version of the package."""

from __future__ import annotations

import re
import tomllib
from datetime import date

from pages import ROOT

CHANGELOG = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security", "Migration", "Known limits"}


def releases() -> list[tuple[tuple[int, ...], date]]:
    """Return the version and the date of each release, in the order of the file."""
    found = re.findall(r"^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$", CHANGELOG, re.MULTILINE)
    return [(tuple(map(int, version.split("."))), date.fromisoformat(day)) for version, day in found]


def test_the_newest_release_is_the_version_of_the_package() -> None:
    """pyproject.toml and the lock file state the version of the newest release."""
    newest = ".".join(map(str, releases()[0][0]))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    packages = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))["package"]
    assert project["version"] == newest
    assert [package["version"] for package in packages if package["name"] == "yuliu"] == [newest]


def test_releases_are_in_descending_order() -> None:
    """The newest release comes first, by version and by date, after the unreleased changes."""
    assert releases() == sorted(releases(), reverse=True)
    headings = re.findall(r"^## (.*)$", CHANGELOG, re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    assert len(headings) == 1 + len(releases())


def test_changes_are_grouped_by_known_kinds() -> None:
    """Sections of a release have the names of Keep a Changelog, or are a migration table or known limits."""
    assert set(re.findall(r"^### (.*)$", CHANGELOG, re.MULTILINE)) <= KINDS
