"""``yuliu lexicon``: adding, listing, importing, exporting, checking, removing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from yuliu.cli.app import run
from yuliu.cli.commands import lexicon
from yuliu.cli.wiring import Wiring
from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine
from yuliu.lexicon_store import GLOBAL, LexiconStore
from yuliu.synthesizer import Synthesizer
from yuliu.text.lexicon import Entry

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from yuliu.types import Lang


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LexiconStore:
    monkeypatch.setenv("YULIU_HOME", str(tmp_path))
    return LexiconStore()


def out(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> str:
    """Run the command, and return its output."""
    assert run(["lexicon", *args], None) == code
    printed = capsys.readouterr()
    return printed.out if code == 0 else printed.out + printed.err


def test_global_lexicon_has_one_name() -> None:
    """The command repeats the name of the store, so that help loads nothing."""
    assert lexicon.GLOBAL == GLOBAL


def test_entry_is_added_listed_and_removed(capsys: pytest.CaptureFixture[str]) -> None:
    """Each change reports the new state."""
    assert "there are no lexicons" in out(capsys, "list")
    assert out(capsys, "add", "SQL", "sequel") == "default: 1 entry, version 1\n"
    assert out(capsys, "add", "行业", "hang2 ye4", "--options", "pinyin zh") == "default: 2 entries, version 2\n"
    assert out(capsys, "list") == "default: 2 entries, version 2\n"
    assert out(capsys, "list", "default") == "text\treading\toptions\nSQL\tsequel\n行业\thang2 ye4\tpinyin zh\n"
    assert out(capsys, "remove", "sql") == "default: 1 entry, version 3\n"
    assert "no entry for this text" in out(capsys, "remove", "sql", code=1)
    assert out(capsys, "remove", "--all") == "default: removed\n"
    assert "there is no lexicon" in out(capsys, "remove", "--all", code=2)


def test_lists_are_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Both the list of lexicons and one lexicon can be JSON."""
    out(capsys, "add", "SQL", "sequel", "--to", "games")
    assert json.loads(out(capsys, "list", "--json")) == [{"name": "games", "version": 1, "entries": 1}]
    assert json.loads(out(capsys, "list", "games", "--json")) == [{"text": "SQL", "reading": "sequel"}]


@pytest.mark.parametrize("file_format", ["tsv", "pls"])
def test_exported_lexicon_can_be_imported(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, store: LexiconStore, file_format: str
) -> None:
    """The suffix selects TSV or PLS; --replace removes existing entries."""
    out(capsys, "add", "SQL", "sequel")
    out(capsys, "add", "GPT", "吉皮提", "--options", "zh case")
    path = tmp_path / f"words.{file_format}"
    path.write_text(out(capsys, "export", "--format", file_format), encoding="utf-8")
    out(capsys, "add", "old", "gone", "--to", "games")
    assert out(capsys, "import", str(path), "--to", "games") == "games: 3 entries, version 2\n"
    assert out(capsys, "import", str(path), "--to", "games", "--replace") == "games: 2 entries, version 3\n"
    assert store.get("games").entries == store.get("default").entries


def test_file_is_checked_line_by_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Invalid lines and phonemes fail, conflicts are only reported. Importing an invalid file changes nothing."""
    path = tmp_path / "words.tsv"
    path.write_text("a\tb\nA\tc\nx\tzz\tpinyin\nno tab\n", encoding="utf-8")
    told = out(capsys, "check", str(path), code=1).splitlines()
    assert [line.partition(":")[0] for line in told] == ["line 2", "line 3", "line 4"]
    assert "line 3" in out(capsys, "import", str(path), code=2)
    assert "there are no lexicons" in out(capsys, "list")
    path.write_text("a\tb\nA\tc\n", encoding="utf-8")
    assert out(capsys, "check", str(path)).splitlines()[-1] == "2 entries: every line is valid"


@pytest.mark.parametrize(
    ("args", "says", "code"),
    [
        (["add", "a", "zz", "--options", "pinyin"], "no pinyin syllable", 1),
        (["add", "a", "b", "--options", "foo"], "no such option", 2),
        (["add", "a", "b", "--to", "../x"], "names of lexicons", 2),
        (["remove"], "either TEXT or --all", 2),
        (["remove", "a", "--all"], "either TEXT or --all", 2),
        (["export"], "there is no lexicon", 2),
        (["list", "nothing"], "there is no lexicon", 2),
    ],
)
def test_wrong_usage_is_reported(capsys: pytest.CaptureFixture[str], args: list[str], says: str, code: int) -> None:
    """The message names the error."""
    assert says in out(capsys, *args, code=code)


def test_say_refuses_an_unknown_lexicon(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, store: LexiconStore
) -> None:
    """A named lexicon is used; an unknown one ends the command before any audio."""
    workers: dict[Lang, str] = {"zh": "tone", "en": "tone"}

    def open_synthesizer(_: Sequence[str]) -> Synthesizer:
        return Synthesizer([local_spec("tone", ToneEngine)], {"tone": workers}, default="tone", lexicons=store)

    store.put("games", [Entry("SQL", "sequel")])
    say = ["say", "SQL.", "-o", str(tmp_path / "a.wav"), "--lexicon"]
    assert run([*say, "nothing"], Wiring(open_synthesizer=open_synthesizer)) == 2
    assert "there is no lexicon of that name" in capsys.readouterr().err
    assert not (tmp_path / "a.wav").exists()
    assert run([*say, "games"], Wiring(open_synthesizer=open_synthesizer)) == 0
