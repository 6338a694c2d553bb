"""Files of the real voices, as pulled by ``yuliu voices pull``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from yuliu.voices import VoiceStore

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def baker_files() -> dict[str, Path]:
    """Return the files of the voice "baker" by name, or raise an error that names the command to pull it."""
    return VoiceStore().files("baker")
