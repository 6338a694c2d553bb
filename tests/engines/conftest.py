"""The files of the real voices, as ``yuliu voices pull`` left them on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from yuliu.voices import VoiceStore

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="session")
def baker_files() -> dict[str, Path]:
    """The files of the voice "baker", by name; an error that names the command to run if it is not pulled."""
    return VoiceStore().files("baker")
