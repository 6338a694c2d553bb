"""The voice store, with the real pip and a folder as its package index."""

from __future__ import annotations

import errno
import mmap
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest
from toy_voice import MEMBERS, NAMES, WEIGHTS, Toy, double, sha256, write_wheel

from yuliu.errors import PullFailed, UnknownVoice, VoiceNotReady
from yuliu.voices import PullProgress, VoiceStore
from yuliu.voices import installed as installed_module

if TYPE_CHECKING:
    from collections.abc import Mapping

INSTALLED = {"weights.bin": WEIGHTS, "names.json": NAMES, "twice.bin": WEIGHTS * 2}
POSIX = pytest.mark.skipif(os.name != "posix", reason="POSIX only")


def contents(store: VoiceStore) -> dict[str, bytes]:
    return {name: path.read_bytes() for name, path in store.files("toy").items()}


def damage(path: Path) -> None:
    """Change one byte but not the size."""
    content = bytearray(path.read_bytes())
    content[7] ^= 1
    path.write_bytes(content)


def test_a_pull_installs_fetched_and_derived_files(toy: Toy) -> None:
    """A pulled voice has the members of its wheel and the files derived from them; nothing else is kept."""
    store = toy.store()
    before = store.info("toy")
    store.pull("toy")
    assert (before.state, before.num_bytes_on_disk) == ("absent", 0)
    assert before.num_bytes_to_fetch == toy.wheel.stat().st_size
    assert contents(store) == INSTALLED
    after = store.info("toy")
    assert (after.state, after.num_bytes_to_fetch) == ("ready", 0)
    assert after.num_bytes_on_disk == sum(len(content) for content in INSTALLED.values())
    assert {Path(path).name for path in toy.left()} == {*INSTALLED, "installed.json"}
    store.verify("toy")


def test_every_stage_reports_its_progress(toy: Toy) -> None:
    """Fetching, verifying and deriving are reported with the name of the file and end complete."""
    told: list[PullProgress] = []
    toy.store().pull("toy", told.append)
    last = {(event.stage, event.file): event for event in told}
    assert list(last) == [
        ("fetch", "toybox-1.0.whl"),
        ("verify", "weights.bin"),
        ("verify", "names.json"),
        ("derive", "twice.bin"),
    ]
    assert [event.bytes_done for event in last.values()] == [
        toy.wheel.stat().st_size,
        len(WEIGHTS),
        len(NAMES),
        2 * len(WEIGHTS),
    ]
    assert {event.voice for event in told} == {"toy"}


def test_an_absent_voice_names_the_command(toy: Toy) -> None:
    """Opening a voice that was never pulled raises an error with the command that pulls it."""
    for look in (toy.store().files, toy.store().verify):
        with pytest.raises(VoiceNotReady, match="yuliu voices pull toy"):
            look("toy")


def test_an_unknown_voice_lists_the_known_ones(toy: Toy) -> None:
    """An unknown name is the caller's error, and the message lists the known names."""
    store = toy.store()
    for call in (store.info, store.files, store.verify, store.pull, store.remove):
        with pytest.raises(UnknownVoice, match="baker, heart, toy, yuliu"):
            call("../toy")


def test_pulling_a_ready_voice_does_nothing(fetched: Toy) -> None:
    """A second pull fetches, writes and reports nothing and takes no lock: the home may be read-only by then."""
    store = fetched.store()
    store.pull("toy")
    paths = store.files("toy")
    fetched.wheel.unlink()
    lock = fetched.home / "pull.lock"
    lock.unlink()
    told: list[PullProgress] = []
    store.pull("toy", told.append)
    assert told == []
    assert store.files("toy") == paths
    assert not lock.exists()


def test_a_missing_wheel_fails_the_pull(toy: Toy) -> None:
    """The error says that the index does not have the wheel, and no file remains."""
    toy.wheel.unlink()
    with pytest.raises(PullFailed, match=r"toybox==1\.0 could not be fetched.*does not have it"):
        toy.store().pull("toy")
    assert toy.left() == set()
    assert toy.store().info("toy").state == "absent"


def test_another_wheel_of_the_same_version_is_refused(toy: Toy) -> None:
    """A wheel that differs from the promised one is refused before any member is unpacked."""
    write_wheel(toy.wheel, MEMBERS | {"toybox/weights.bin": b"other"})
    with pytest.raises(PullFailed, match="do not use it"):
        toy.store().pull("toy")
    assert toy.left() == set()


def test_a_wheel_with_another_member_than_promised_is_refused(fetched: Toy) -> None:
    """If a file differs from its description in the manifest, nothing is installed, and the error names the file."""
    path = fetched.home / "voices.d" / "toy.toml"
    path.write_text(path.read_text().replace(sha256(NAMES), sha256(b"")))
    with pytest.raises(PullFailed, match=r"names\.json is not the known file: its sha256"):
        fetched.store().pull("toy")
    assert not (fetched.home / "voices" / "toy").exists()


def test_a_wheel_that_lacks_a_member_is_refused(fetched: Toy) -> None:
    """The error names the missing member."""
    path = fetched.home / "voices.d" / "toy.toml"
    path.write_text(path.read_text().replace("toybox/names.json", "toybox/other.json"))
    with pytest.raises(PullFailed, match=r"names\.json .* the wheel does not hold it"):
        fetched.store().pull("toy")


def test_members_outside_the_folder_are_not_written(toy: Toy) -> None:
    """Members whose paths lead upwards have no effect outside the voice's folder."""
    toy.publish(MEMBERS | {"../evil.txt": b"evil", "/tmp/evil-toybox.txt": b"evil"})
    path = toy.home / "voices.d" / "toy.toml"
    text = path.read_text()
    path.write_text(text[: text.index('[[files]]\nname = "evil.txt"')] + text[text.index("[[derived]]") :])
    toy.fetch()
    toy.store().pull("toy")
    assert contents(toy.store()) == INSTALLED
    assert not list(toy.root.rglob("*evil*"))
    assert not Path("/tmp/evil-toybox.txt").exists()


def test_a_failed_derivation_keeps_the_download(toy: Toy) -> None:
    """The pull fails if a derivation refuses its input; the next pull does not download again."""

    def refuse(_files: Mapping[str, bytes]) -> NoReturn:
        raise ValueError("not the graph known")

    failing = replace(toy, derivations={"double": refuse})
    with pytest.raises(PullFailed, match=r"twice\.bin could not be made: not the graph known"):
        failing.store().pull("toy")
    assert {Path(path).suffix for path in toy.left()} == {".whl"}
    assert toy.store().info("toy").num_bytes_to_fetch == 0
    toy.wheel.unlink()
    toy.store().pull("toy")
    assert contents(toy.store()) == INSTALLED
    assert not any(path.endswith(".whl") for path in toy.left())


def test_a_damaged_kept_download_is_fetched_again(toy: Toy) -> None:
    """A kept download is verified before it is used."""
    toy.fetch()
    toy.kept.write_bytes(bytes(toy.wheel.stat().st_size))
    toy.store().pull("toy")
    assert contents(toy.store()) == INSTALLED


def test_a_derivation_that_makes_other_files_is_refused(fetched: Toy) -> None:
    """A derivation must make exactly the files named in the manifest."""
    other = replace(fetched, derivations={"double": lambda _: {"thrice.bin": b""}})
    with pytest.raises(PullFailed, match=r"other files than twice\.bin"):
        other.store().pull("toy")
    assert not (fetched.home / "voices" / "toy").exists()


def test_an_unknown_derivation_fails_before_fetching(toy: Toy) -> None:
    """A version without the derivation reports that at once."""
    told: list[PullProgress] = []
    with pytest.raises(PullFailed, match="needs the derivation double"):
        VoiceStore(toy.home).pull("toy", told.append)
    assert told == []


def test_an_interrupted_pull_leaves_nothing_half_installed(fetched: Toy) -> None:
    """Ctrl-C during a derivation leaves the download and no part of the voice."""

    def interrupt(_files: Mapping[str, bytes]) -> NoReturn:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replace(fetched, derivations={"double": interrupt}).store().pull("toy")
    assert not (fetched.home / "voices" / "toy").exists()
    fetched.store().pull("toy")
    assert contents(fetched.store()) == INSTALLED


def test_an_interrupt_ends_a_running_pip(toy: Toy) -> None:
    """A callback that raises during the download ends the pull and leaves none of pip's files."""

    def stop(progress: PullProgress) -> None:
        if progress.stage == "fetch" and progress.bytes_done == progress.bytes_total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        toy.store().pull("toy", stop)
    assert {Path(path).suffix for path in toy.left()} <= {".whl"}
    assert toy.store().info("toy").state == "absent"


KILLED = """
import os, signal, sys
from pathlib import Path
from yuliu.voices import VoiceStore

VoiceStore(Path(sys.argv[1]), derivations={"double": lambda files: os.kill(os.getpid(), signal.SIGKILL)}).pull("toy")
"""


@POSIX
def test_a_killed_pull_leaves_no_voice_and_its_files_are_removed(fetched: Toy) -> None:
    """A killed pull holds no lock and installs nothing; the next one removes its files."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(fetched.home)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert any("/files-" in path for path in fetched.left())
    assert fetched.store().info("toy").state == "absent"
    fetched.store().pull("toy")
    assert contents(fetched.store()) == INSTALLED
    assert {Path(path).name for path in fetched.left()} == {*INSTALLED, "installed.json"}


LIMITED = """
import resource, sys
from pathlib import Path
from yuliu.errors import PullFailed
from yuliu.voices import VoiceStore

store = VoiceStore(Path(sys.argv[1]), derivations={"double": lambda files: {"twice.bin": files["weights.bin"] * 2}})
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    store.pull("toy")
except PullFailed as error:
    print(error)
"""


@POSIX
@pytest.mark.parametrize(
    ("limit", "downloaded", "message"),
    [
        (100, False, "toybox==1.0 could not be fetched: the disk is full"),
        (len(WEIGHTS) - 1, True, "voice toy was not installed: the disk is full"),
        (len(WEIGHTS) + 1, True, "voice toy was not installed: the disk is full"),
    ],
    ids=["pip", "fetched file", "derived file"],
)
def test_a_full_disk_fails_the_pull(toy: Toy, limit: int, downloaded: bool, message: str) -> None:
    """The error is reported for pip, a fetched file and a derived one, and no file remains."""
    if downloaded:
        toy.fetch()
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(toy.home), str(limit)], check=True, capture_output=True, text=True
    )
    assert message in done.stdout
    assert not (toy.home / "voices" / "toy").exists()
    assert toy.store().info("toy").state == "absent"


def test_a_full_disk_keeps_the_old_installation(fetched: Toy) -> None:
    """A repair that fills the disk leaves the previous files in place."""
    store = fetched.store()
    store.pull("toy")
    damage(store.files("toy")["twice.bin"])

    def full(_files: Mapping[str, bytes]) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = fetched.left()
    with pytest.raises(PullFailed, match=r"the disk is full.*YULIU_HOME"):
        replace(fetched, derivations={"double": full}).store().pull("toy")
    assert fetched.left() == before


def test_a_home_that_is_not_a_folder_is_reported(toy: Toy, tmp_path: Path) -> None:
    """The error names the path of a home that cannot be created."""
    home = tmp_path / "file" / "home"
    home.parent.write_text("")
    with pytest.raises(PullFailed, match="voice heart was not installed: the disk failed"):
        VoiceStore(home, derivations={"hibari_split": double}).pull("heart")


def test_only_verify_finds_a_changed_byte(fetched: Toy) -> None:
    """A changed byte passes the quick check of sizes and fails the full one, which names the file."""
    store = fetched.store()
    store.pull("toy")
    damage(store.files("toy")["names.json"])
    assert store.info("toy").state == "ready"
    with pytest.raises(VoiceNotReady, match=r"names\.json: its sha256.*yuliu voices pull toy"):
        store.verify("toy")


@pytest.mark.parametrize("name", INSTALLED)
def test_a_truncated_or_missing_file_is_found_at_once(fetched: Toy, name: str) -> None:
    """The quick check of sizes finds it."""
    store = fetched.store()
    store.pull("toy")
    path = store.files("toy")[name]
    path.write_bytes(path.read_bytes()[:-1])
    assert store.info("toy").state == "damaged"
    with pytest.raises(VoiceNotReady, match=name):
        store.files("toy")
    path.unlink()
    with pytest.raises(VoiceNotReady, match=name):
        store.files("toy")


def test_a_damaged_receipt_is_repaired_by_a_pull(fetched: Toy) -> None:
    """A receipt that cannot be read makes the voice damaged."""
    store = fetched.store()
    store.pull("toy")
    receipt = fetched.home / "voices" / "toy" / "installed.json"
    receipt.write_text(receipt.read_text()[:-20])
    assert store.info("toy").state == "damaged"
    with pytest.raises(VoiceNotReady, match="receipt"):
        store.files("toy")
    store.pull("toy")
    assert contents(store) == INSTALLED


def test_repairing_a_derived_file_downloads_nothing(fetched: Toy) -> None:
    """A damaged derived file is made again from intact fetched ones."""
    store = fetched.store()
    store.pull("toy")
    damage(store.files("toy")["twice.bin"])
    fetched.wheel.unlink()
    store.pull("toy")
    assert contents(store) == INSTALLED
    store.verify("toy")


def test_a_damaged_fetched_file_is_fetched_again(fetched: Toy) -> None:
    """The replaced file is removed."""
    store = fetched.store()
    store.pull("toy")
    damage(store.files("toy")["weights.bin"])
    store.pull("toy")
    assert contents(store) == INSTALLED
    assert len(list((fetched.home / "voices" / "toy").glob("files-*"))) == 1


def test_a_new_version_of_a_derivation_makes_the_voice_outdated(fetched: Toy) -> None:
    """The voice needs a pull, which downloads nothing."""
    fetched.store().pull("toy")
    path = fetched.home / "voices.d" / "toy.toml"
    path.write_text(path.read_text().replace("version = 1\n", "version = 2\n"))
    store = replace(fetched, derivations={"double": lambda files: {"twice.bin": files["weights.bin"][:9]}}).store()
    info = store.info("toy")
    assert (info.state, info.num_bytes_to_fetch) == ("outdated", 0)
    with pytest.raises(VoiceNotReady, match="another version"):
        store.files("toy")
    fetched.wheel.unlink()
    store.pull("toy")
    assert contents(store)["twice.bin"] == WEIGHTS[:9]


def test_a_new_description_does_not_make_the_voice_outdated(fetched: Toy) -> None:
    """Changes that do not affect the files need no pull."""
    fetched.store().pull("toy")
    path = fetched.home / "voices.d" / "toy.toml"
    path.write_text(path.read_text().replace("A voice for tests", "Another text"))
    assert fetched.store().info("toy").state == "ready"


def test_two_concurrent_pulls_both_succeed(fetched: Toy) -> None:
    """The second pull waits for the first, then finds the voice ready and fetches nothing."""
    second_waits = threading.Event()
    told: list[PullProgress] = []

    def slow(files: Mapping[str, bytes]) -> dict[str, bytes]:
        started.set()
        assert second_waits.wait(30)
        return double(files)

    def tell(progress: PullProgress) -> None:
        told.append(progress)
        second_waits.set()

    started = threading.Event()
    first = threading.Thread(target=lambda: replace(fetched, derivations={"double": slow}).store().pull("toy"))
    first.start()
    assert started.wait(30)
    fetched.store().pull("toy", tell)
    first.join()
    assert [progress.stage for progress in told] == ["wait"]
    assert contents(fetched.store()) == INSTALLED


def test_an_installed_package_replaces_the_download(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pip runs only if the package is absent or one of its files differs."""
    site = toy.root / "site"
    (site / "toybox").mkdir(parents=True)
    (site / "toybox-1.0.dist-info").mkdir()
    (site / "toybox-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: toybox\nVersion: 1.0\n")
    for name, content in MEMBERS.items():
        (site / name).write_bytes(content)
    monkeypatch.syspath_prepend(str(site))
    assert toy.store().info("toy").num_bytes_to_fetch == 0
    told: list[PullProgress] = []
    toy.store().pull("toy", told.append)
    assert "fetch" not in {progress.stage for progress in told}
    assert contents(toy.store()) == INSTALLED
    toy.store().remove("toy")
    damage(site / "toybox" / "weights.bin")
    toy.store().pull("toy", told.append)
    assert "fetch" in {progress.stage for progress in told}
    assert contents(toy.store()) == INSTALLED


def test_remove_deletes_all_files_of_a_voice(fetched: Toy) -> None:
    """Removing it again is no error, and it can be pulled again."""
    store = fetched.store()
    store.pull("toy")
    store.remove("toy")
    assert fetched.left() == set()
    assert store.info("toy").state == "absent"
    store.remove("toy")
    store.pull("toy")
    assert contents(store) == INSTALLED


def test_a_replacement_during_a_check_is_not_damage(fetched: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pull may replace the files between the checks of the receipt and of the files."""
    store = fetched.store()
    store.pull("toy")
    damage(store.files("toy")["twice.bin"])
    real = installed_module._size

    def replaced_before(path: Path) -> int | None:
        monkeypatch.setattr(installed_module, "_size", real)
        store.pull("toy")
        return real(path)

    monkeypatch.setattr(installed_module, "_size", replaced_before)
    assert store.info("toy").state == "ready"
    assert contents(store) == INSTALLED


@POSIX
def test_a_voice_in_use_can_be_removed(fetched: Toy) -> None:
    """A process that has mapped a file can still read it after the voice is removed and pulled again."""
    store = fetched.store()
    store.pull("toy")
    with (
        store.files("toy")["weights.bin"].open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as used,
    ):
        store.remove("toy")
        assert store.info("toy").state == "absent"
        store.pull("toy")
        assert used[:] == WEIGHTS
    assert contents(store) == INSTALLED


def test_remove_deletes_kept_downloads(toy: Toy) -> None:
    """The download of an interrupted pull is deleted with the voice."""
    toy.fetch()
    toy.store().remove("toy")
    assert toy.left() == set()


def test_files_are_taken_from_a_folder(toy: Toy) -> None:
    """The folder is relative to the manifest; the error for a missing file names it."""
    toy.describe('[sources.box]\nkind = "folder"\npath = "../../mine"')
    with pytest.raises(PullFailed, match=r"weights\.bin .* cannot be read"):
        toy.store().pull("toy")
    for name, content in MEMBERS.items():
        (toy.root / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (toy.root / "mine" / name).write_bytes(content)
    toy.store().pull("toy")
    assert contents(toy.store()) == INSTALLED


def test_a_composite_acts_on_its_parts(fetched: Toy) -> None:
    """It has no files; pulling, verifying and removing it applies to its parts."""
    text = 'schema = 1\nname = "duo"\ndescription = "Two"\nsample_rate = 24000\n[parts]\nzh = "toy"\n'
    (fetched.home / "voices.d" / "duo.toml").write_text(text)
    store = fetched.store()
    with pytest.raises(VoiceNotReady, match="pull toy"):
        store.files("duo")
    store.pull("duo")
    assert store.files("duo") == {}
    assert contents(store) == INSTALLED
    info = store.info("duo")
    assert (info.engine, info.state, info.parts, info.commercial_use) == ("composite", "ready", (("zh", "toy"),), True)
    damage(store.files("toy")["twice.bin"])
    with pytest.raises(VoiceNotReady, match="voice toy is damaged"):
        store.verify("duo")
    store.remove("duo")
    assert store.info("toy").state == "absent"


def test_listing_does_not_write(tmp_path: Path) -> None:
    """All voices of a home that does not exist are listed as absent, and no folder is created."""
    home = tmp_path / "home"
    voices = {info.name: info for info in VoiceStore(home).list()}
    assert list(voices) == ["baker", "heart", "yuliu"]
    assert {info.state for info in voices.values()} == {"absent"}
    assert not voices["baker"].commercial_use
    assert voices["heart"].commercial_use
    assert not voices["yuliu"].commercial_use
    assert not home.exists()
