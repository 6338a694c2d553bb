"""The catalogue of voices: built-in ones and the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from yuliu.errors import InvalidRequest
from yuliu.voices.catalogue import MAX_MANIFEST_BYTES, load_catalogue

if TYPE_CHECKING:
    from pathlib import Path

DUO = 'schema = 1\nname = "{name}"\ndescription = "Two"\nsample_rate = 24000\n[parts]\n{part}\n'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "voices.d").mkdir()
    return tmp_path


def add(home: Path, file: str, content: str | bytes) -> None:
    data = content.encode() if isinstance(content, str) else content
    (home / "voices.d" / file).write_bytes(data)


def test_user_voices_are_added_to_the_built_in_ones(home: Path) -> None:
    """A manifest in voices.d adds a voice; other files there are ignored."""
    add(home, "english.toml", DUO.format(name="english", part='en = "heart"'))
    add(home, "notes.txt", "not a manifest")
    assert list(load_catalogue(home)) == ["baker", "english", "heart", "yuliu"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (DUO.format(name="baker", part='en = "heart"'), r"mine\.toml: the name baker is taken"),
        (DUO.format(name="mine", part='en = "nobody"'), r"voice mine: parts\.en must name a voice"),
        (DUO.format(name="mine", part='en = "yuliu"'), r"voice mine: parts\.en must name a voice with files"),
        (DUO.format(name="mine", part='en = "mine"'), r"voice mine: parts\.en must name a voice with files"),
        (DUO.format(name="mine", part='zh = "heart"'), r"parts\.zh names heart, which speaks en only"),
        (b"\xff\xfe", r"mine\.toml: is not UTF-8"),
        (b"#" * (MAX_MANIFEST_BYTES + 1), r"mine\.toml: is larger than"),
    ],
)
def test_an_invalid_user_manifest_is_refused(home: Path, content: str | bytes, message: str) -> None:
    """The error names the manifest, which is never left out silently."""
    add(home, "mine.toml", content)
    with pytest.raises(InvalidRequest, match=message):
        load_catalogue(home)


def test_an_unreadable_user_manifest_is_refused(home: Path) -> None:
    """The error holds the message of the system."""
    (home / "voices.d" / "mine.toml").mkdir()
    with pytest.raises(InvalidRequest, match=r"mine\.toml: cannot be read"):
        load_catalogue(home)
