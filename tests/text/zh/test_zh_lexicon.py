"""Readings read from the data files of the dictionary package."""

from __future__ import annotations

import json
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING

import pytest

from yuliu.text.zh import lexicon

if TYPE_CHECKING:
    from pathlib import Path

CHARACTERS = {"好": "hǎo,hào", "绿": "lǜ", "们": "men", "诶": "ê̄,éi", "歌": "ɡē", "嗯": "n'g"}
PHRASES = {"好好": [["hǎo"], ["hāo"]], "好绿": [["hǎo"], ["lǜ"]], "好,歌": [["hǎo"], ["gē"]]}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small dictionary in place of the installed one."""
    readings = {str(ord(char)): pinyin for char, pinyin in CHARACTERS.items()}
    (tmp_path / "pinyin_dict.json").write_text(json.dumps(readings), encoding="utf-8")
    (tmp_path / "phrases_dict.json").write_text(json.dumps(PHRASES), encoding="utf-8")
    module = ModuleType("pypinyin")
    module.__spec__ = ModuleSpec("pypinyin", None, origin=str(tmp_path / "__init__.py"))
    monkeypatch.setitem(sys.modules, "pypinyin", module)
    return tmp_path


@pytest.mark.usefixtures("package")
def test_readings_have_a_tone_digit() -> None:
    """The first reading counts; ü is v, and letters of other alphabets are plain ones."""
    found = lexicon.load().characters
    assert [found[char] for char in "们歌诶嗯"] == ["men5", "ge1", "ê1", "ng5"]
    assert found["绿"] == "lv4"


@pytest.mark.usefixtures("package")
def test_phrases_are_kept_where_they_differ_from_their_characters() -> None:
    """Phrases with marks between their characters are not usable."""
    found = lexicon.load().phrases.readings
    assert found["好好"] == ("hao3", "hao1")
    assert found["好绿"] is None
    assert "好,歌" not in found


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Mandarin cannot be read without it."""
    monkeypatch.setitem(sys.modules, "pypinyin", None)
    with pytest.raises(ModuleNotFoundError, match="pypinyin is needed to read Mandarin"):
        lexicon.load()
