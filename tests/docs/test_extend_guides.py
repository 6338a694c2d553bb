"""The guides for extending Yuliu work when followed to the end, in a new home and without any downloaded voice."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest
from page_examples import run_examples
from pages import ROOT, Page, user_pages

GUIDES = [page for page in user_pages("en") if page.path.parent.name == "extend"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Copy of the source tree, which the guides change."""
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


@pytest.fixture
def environment(tmp_path: Path, checkout: Path) -> dict[str, str]:
    """Environment of a developer: the copy is imported, and pip installs packages into a new folder."""
    packages = str(tmp_path / "packages")
    return os.environ | {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "YULIU_HOME": str(tmp_path / "home"),
        "PIP_TARGET": packages,
        "PIP_NO_DEPS": "1",
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # pip reads this as "do not isolate": hatchling is installed already
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONPATH": os.pathsep.join((packages, str(checkout / "src"))),
        "PYTHONWARNINGS": "error",
    }


@pytest.mark.timeout(120)
@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.path.stem)
def test_guide_can_be_followed(page: Page, checkout: Path, environment: dict[str, str]) -> None:
    """All blocks of a guide succeed when they run in order in a checkout."""
    run_examples(page, checkout, environment)
