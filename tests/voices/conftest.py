"""A toy voice for each test, and a pip configured with the toy's index only."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from toy_voice import Toy

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    """Return the toy voice, published in an index that the real pip reads offline."""
    toy = Toy(tmp_path)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(toy.wheel.parent))
    toy.publish()
    return toy


@pytest.fixture
def fetched(toy: Toy) -> Toy:
    """Return the toy voice with its wheel downloaded, but not installed."""
    toy.fetch()
    return toy
