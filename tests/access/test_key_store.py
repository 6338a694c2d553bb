"""The key file: creation, changes, reloading and damage."""

from __future__ import annotations

import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from yuliu.access.key_store import KEY_BYTES, KeyStore
from yuliu.errors import InvalidRequest
from yuliu.wire.keys import PREFIX, ApiKey, find_key

if TYPE_CHECKING:
    from pathlib import Path


def add(store: KeyStore, name: str) -> str:
    return store.add(lambda digest: ApiKey(name, digest))


def test_a_key_is_shown_once_and_not_stored(tmp_path: Path) -> None:
    """The file holds digests only, and only its owner may read it."""
    store = KeyStore(tmp_path / "new")
    shown = add(store, "phone")
    assert shown.startswith(PREFIX)
    assert len(shown) > KEY_BYTES * 4 / 3
    assert shown not in store.path.read_text(encoding="utf-8")
    assert shown[len(PREFIX) :] not in repr(store.keys)
    assert [key.name for key in KeyStore(tmp_path / "new").read()] == ["phone"]
    assert find_key(store.keys, shown) == store.keys[0]
    assert [path.name for path in store.path.parent.glob("*") if path.name[0] != "."] == ["keys.json"]
    if sys.platform != "win32":
        assert stat.S_IMODE(store.path.stat().st_mode) == 0o600


def test_a_name_is_unique_until_it_is_revoked(tmp_path: Path) -> None:
    """With two keys of one name it would be unclear which one to revoke."""
    store = KeyStore(tmp_path)
    first = add(store, "phone")
    with pytest.raises(InvalidRequest, match="named phone"):
        add(store, "phone")
    store.revoke("phone")
    assert store.read() == ()
    with pytest.raises(InvalidRequest, match="no key of that name"):
        store.revoke("phone")
    assert add(store, "phone") != first


def test_several_processes_may_add_keys_at_once(tmp_path: Path) -> None:
    """No key is lost."""
    names = [f"k{index}" for index in range(24)]
    with ThreadPoolExecutor(8) as pool:
        shown = list(pool.map(lambda name: add(KeyStore(tmp_path), name), names))
    found = KeyStore(tmp_path).read()
    assert sorted(key.name for key in found) == sorted(names)
    assert [getattr(find_key(found, each), "name", None) for each in shown] == names


def test_refresh_notices_a_change(tmp_path: Path) -> None:
    """Keys that another process adds or revokes are noticed, and so is the loss of all keys."""
    server, other = KeyStore(tmp_path), KeyStore(tmp_path)
    server.refresh()
    assert not server.keys
    add(other, "phone")
    assert not server.keys
    server.refresh()
    assert [key.name for key in server.keys] == ["phone"]
    other.revoke("phone")
    server.refresh()
    assert not server.keys
    add(other, "phone")
    server.refresh()
    server.path.unlink()
    server.refresh()
    assert not server.keys


def test_a_damaged_file_keeps_the_keys(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The keys that were read before stay valid, and the damage is logged once."""
    store = KeyStore(tmp_path)
    add(store, "phone")
    good = store.path.read_bytes()
    store.path.write_bytes(good[:-20])
    for _ in range(3):
        store.refresh()
    assert [key.name for key in store.keys] == ["phone"]
    assert caplog.text.count("keys_unreadable") == 1
    with pytest.raises(InvalidRequest, match="not valid JSON"):
        KeyStore(tmp_path).read()
    with pytest.raises(InvalidRequest, match="not valid JSON"):
        add(store, "other")  # nor does it replace a file that a person may want to repair
    assert store.path.read_bytes() == good[:-20]


@pytest.mark.skipif(sys.platform == "win32", reason="has no such modes")
def test_a_file_that_others_may_write_is_refused(tmp_path: Path) -> None:
    """Anyone who can write the file could make keys."""
    store = KeyStore(tmp_path)
    add(store, "phone")
    store.path.chmod(0o620)
    with pytest.raises(InvalidRequest, match="chmod 600"):
        KeyStore(tmp_path).read()
    store.path.chmod(0o640)
    assert len(KeyStore(tmp_path).read()) == 1


def test_an_unreadable_file_is_an_error(tmp_path: Path) -> None:
    """It is not read as an empty file."""
    store = KeyStore(tmp_path)
    store.path.mkdir()
    with pytest.raises(InvalidRequest, match="cannot be read"):
        store.read()
    store.refresh()
    assert not store.keys
