"""The home folder of voices and its lock."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from yuliu.errors import VoiceNotReady
from yuliu.voices.home import default_home, exclusive

HOME = Path.home()


@pytest.mark.skipif(os.name != "posix", reason="the paths are POSIX ones")
@pytest.mark.parametrize(
    ("environ", "platform", "home"),
    [
        ({}, "linux", HOME / ".local/share/yuliu"),
        ({"XDG_DATA_HOME": "/data"}, "linux", Path("/data/yuliu")),
        ({"XDG_DATA_HOME": "data"}, "linux", HOME / ".local/share/yuliu"),
        ({"XDG_DATA_HOME": ""}, "freebsd14", HOME / ".local/share/yuliu"),
        ({"XDG_DATA_HOME": "/data"}, "darwin", HOME / "Library/Application Support/yuliu"),
        ({"LOCALAPPDATA": "/local"}, "win32", Path("/local/yuliu")),
        ({}, "win32", HOME / "AppData/Local/yuliu"),
        ({"YULIU_HOME": "/voices", "XDG_DATA_HOME": "/data"}, "linux", Path("/voices")),
        ({"YULIU_HOME": "~/voices"}, "darwin", HOME / "voices"),
        ({"YULIU_HOME": ""}, "linux", HOME / ".local/share/yuliu"),
    ],
)
def test_the_default_home_depends_on_environment_and_platform(
    environ: dict[str, str], platform: str, home: Path
) -> None:
    """$YULIU_HOME takes precedence over the platform's folder for application data."""
    assert default_home(environ, platform=platform) == home


@pytest.mark.skipif(os.name != "posix", reason="the paths are POSIX ones")
@pytest.mark.parametrize("environ", [{}, {"YULIU_HOME": "~/voices"}, {"YULIU_HOME": "~nobody-of-that-name/voices"}])
@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_missing_home_folder_names_the_setting(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], platform: str
) -> None:
    """A container may run under a user id without a home folder: the error names the variable to set."""
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    with pytest.raises(VoiceNotReady, match="set YULIU_HOME"):
        default_home(environ, platform=platform)


def test_exclusive_admits_one_at_a_time(tmp_path: Path) -> None:
    """A second process is told to wait, and enters after the first has left."""
    path = tmp_path / "new" / "lock"
    order: list[str] = []
    waits = threading.Event()

    def second() -> None:
        with exclusive(path, on_wait=waits.set):
            order.append("second")

    thread = threading.Thread(target=second)
    with exclusive(path, on_wait=lambda: order.append("nobody was there")):
        thread.start()
        assert waits.wait(30)
        order.append("first")
    thread.join(30)
    assert order == ["first", "second"]


def test_an_error_releases_the_lock(tmp_path: Path) -> None:
    """The lock is free after an error inside the block."""
    with pytest.raises(KeyError), exclusive(tmp_path / "lock", on_wait=lambda: None):
        raise KeyError
    waited: list[bool] = []
    with exclusive(tmp_path / "lock", on_wait=lambda: waited.append(True)):
        assert waited == []
