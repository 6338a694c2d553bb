"""Lexicons on disk: versions, conflicts and reloading."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest

from yuliu.errors import InvalidRequest, UnknownLexicon, VersionConflict
from yuliu.lexicon_store import GLOBAL, MAX_NAMED, MAX_REQUEST_ENTRIES, LexiconStore, request_words
from yuliu.text.lexicon import Entry
from yuliu.text.lexicon.problems import MAX_ENTRIES

if TYPE_CHECKING:
    from pathlib import Path

SQL = Entry("SQL", "sequel")
GPT = Entry("GPT", "吉皮提", lang="zh", match_case=True)


@pytest.fixture
def store(tmp_path: Path) -> LexiconStore:
    return LexiconStore(tmp_path)


def by_hand(store: LexiconStore, name: str, text: str) -> None:
    """Write a file as an editor does, with a later modification time."""
    path = store.folder / f"{name}.tsv"
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, ns=(before + 10**9, before + 10**9))


def test_a_written_lexicon_is_read_by_another_process(store: LexiconStore) -> None:
    """Another store of the same home sees entries and version, in a file that people can read."""
    store.put("games", [SQL, GPT])
    other = LexiconStore(store.folder.parent).get("games")
    assert (other.version, other.entries) == (1, (SQL, GPT))
    assert store.names() == ["games"]
    text = (store.folder / "games.tsv").read_text(encoding="utf-8")
    assert text == "# yuliu lexicon, version 1\ntext\treading\toptions\nSQL\tsequel\nGPT\t吉皮提\tzh case\n"


def test_each_change_increments_the_version(store: LexiconStore) -> None:
    """Changes are writing, adding and removing; removing an absent entry is not one."""
    assert store.put("a", [SQL]).version == 1
    assert store.add("a", [GPT]).version == 2
    assert store.discard("a", "nothing") == (store.get("a"), 0)
    stored, num_removed = store.discard("a", "sql")
    assert (stored.version, stored.entries, num_removed) == (3, (GPT,), 1)
    store.delete("a")
    assert store.put("a", []).version == 4


def test_an_entry_replaces_the_one_of_the_same_scope(store: LexiconStore) -> None:
    """A new reading for a text takes the position of the old one."""
    store.put("a", [SQL, GPT])
    assert store.add("a", [Entry("sql", "S Q L")]).entries == (Entry("sql", "S Q L"), GPT)


def test_a_change_to_another_version_is_refused(store: LexiconStore) -> None:
    """Two writers cannot overwrite each other unnoticed; the lexicon is unchanged."""
    store.put("a", [SQL], if_version=0)
    for change in (
        lambda: store.put("a", [], if_version=0),
        lambda: store.add("a", [GPT], if_version=7),
        lambda: store.discard("a", "SQL", if_version=2),
        lambda: store.delete("a", if_version=2),
    ):
        with pytest.raises(VersionConflict, match="version 1 by now"):
            change()
    assert store.get("a").entries == (SQL,)
    assert store.put("a", [GPT], if_version=1).version == 2


def test_a_hand_written_file_is_read_on_the_next_access(store: LexiconStore) -> None:
    """A file created and then changed with an editor gets a new version each time."""
    by_hand(store, "mine", "SQL\tsequel\n")
    assert (store.get("mine").version, store.get("mine").entries) == (1, (SQL,))
    by_hand(store, "mine", "GPT\t吉皮提\tzh case\n")
    assert (store.get("mine").version, store.get("mine").entries) == (2, (GPT,))
    with pytest.raises(VersionConflict):
        store.put("mine", [], if_version=1)


def test_an_unchanged_file_is_not_read_again(store: LexiconStore) -> None:
    """The same object is returned until the file changes."""
    store.put("a", [SQL])
    assert store.get("a") is store.get("a")


def test_an_error_in_a_damaged_file_names_lexicon_line_and_remedy(store: LexiconStore) -> None:
    """A damaged global lexicon stops streams and is not left out silently."""
    by_hand(store, GLOBAL, "SQL sequel\n")
    with pytest.raises(InvalidRequest, match="lexicon default: line 1: needs text and reading with a tab"):
        store.words()


def test_a_file_damaged_later_keeps_its_last_entries(store: LexiconStore, caplog: pytest.LogCaptureFixture) -> None:
    """Streams continue with the last valid entries; the log reports it once; a repaired file is read."""
    store.put(GLOBAL, [SQL])
    by_hand(store, GLOBAL, "SQL sequel\n")
    for _ in range(2):
        assert store.words().lexicons[0].entries == (SQL,)
    assert [record.getMessage().partition(" message")[0] for record in caplog.records] == [
        "lexicon_damaged name=default"
    ]
    by_hand(store, GLOBAL, "GPT\t吉皮提\tzh case\n")
    assert store.words().lexicons[0].entries == (GPT,)


def test_words_are_the_global_lexicon_then_named_ones_then_the_request(store: LexiconStore) -> None:
    """Later entries take precedence; the global lexicon is optional and never applied twice."""
    assert store.words().lexicons == ()
    store.put(GLOBAL, [SQL])
    store.put("a", [GPT])
    words = store.words(("a", GLOBAL, "a"), (SQL,))
    assert [lexicon.name for lexicon in words.lexicons] == [GLOBAL, "a", "request"]


def test_limits_of_a_stream_are_enforced(store: LexiconStore) -> None:
    """Too many names or entries, and unknown names, are refused with the field."""
    with pytest.raises(UnknownLexicon) as unknown:
        store.words(("nothing",))
    assert unknown.value.param == "lexicon"
    with pytest.raises(InvalidRequest, match="may be named"):
        store.words(("a",) * (MAX_NAMED + 1))
    with pytest.raises(InvalidRequest, match="at once"):
        request_words((SQL,) * (MAX_REQUEST_ENTRIES + 1))


@pytest.mark.parametrize("name", ["", "A", "a.b", "../a", "a/b", "-a", "a" * 65, "ä", "a\n"])
def test_names_cannot_leave_the_folder(store: LexiconStore, name: str) -> None:
    """Only plain names are accepted, for reading and for writing."""
    for use in (lambda: store.get(name), lambda: store.put(name, [SQL]), lambda: store.words((name,))):
        with pytest.raises(InvalidRequest):
            use()
    assert store.names() == []


def test_too_many_entries_are_refused_and_the_old_ones_stay(store: LexiconStore) -> None:
    """The new lexicon is not written."""
    store.put("a", [SQL])
    with pytest.raises(InvalidRequest, match="at most 20,000"):
        store.add("a", [Entry(f"w{index}", "x") for index in range(MAX_ENTRIES)])
    assert store.get("a").entries == (SQL,)


def test_a_failed_write_leaves_nothing_behind(store: LexiconStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old file is intact, and no part of a new one remains."""
    store.put("a", [SQL])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        store.put("a", [GPT])
    assert LexiconStore(store.folder.parent).get("a").entries == (SQL,)
    assert {path.name for path in store.folder.iterdir()} == {"a.tsv", ".lock"}


def test_concurrent_writers_lose_nothing(store: LexiconStore) -> None:
    """Threads with separate stores add to one lexicon: it has all entries and counts each change."""
    stores = [LexiconStore(store.folder.parent) for _ in range(4)]

    def add(own: LexiconStore, number: int) -> None:
        for index in range(5):
            own.add("a", [Entry(f"w{number}x{index}", "x")])

    threads = [threading.Thread(target=add, args=(own, number)) for number, own in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (store.get("a").version, len(store.get("a").entries)) == (20, 20)
