"""Folder of the voices on this machine, a lock between programs, and atomic writes of files."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING

from yuliu.errors import VoiceNotReady

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


def default_home(environ: Mapping[str, str], *, platform: str = sys.platform) -> Path:
    """$YULIU_HOME, or the user's folder for data of applications on this platform.

    Data folders rather than cache folders: systems may empty a cache at any time, and a voice that vanishes is not
    fetched again while requests are served.

    Args:
        environ: The environment, as ``os.environ``.
        platform: As ``sys.platform``.

    Raises:
        VoiceNotReady: The user has no home folder, as in containers that run under a number, or ~NAME is nobody's.
    """
    try:
        return _home(environ, platform)
    except RuntimeError as error:  # what pathlib raises
        raise VoiceNotReady("there is no such home folder; set YULIU_HOME to a folder for the voices") from error


def _home(environ: Mapping[str, str], platform: str) -> Path:
    if environ.get("YULIU_HOME"):
        return Path(environ["YULIU_HOME"]).expanduser().absolute()
    if platform == "win32":
        local = environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "yuliu"
    if platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "yuliu"
    data = Path(environ.get("XDG_DATA_HOME", ""))
    # The XDG base directory specification: a relative path is to be ignored.
    return (data if data.is_absolute() else Path.home() / ".local" / "share") / "yuliu"


@contextmanager
def exclusive(path: Path, *, on_wait: Callable[[], None]) -> Iterator[None]:
    """Hold the lock on the file ``path`` (made if need be); the system drops it if the program dies.

    Args:
        path: The lock file; its content does not matter.
        on_wait: Called once, before waiting, if another program holds the lock.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        if not _lock(file, wait=False):
            on_wait()
            while not _lock(file, wait=True):
                pass
        yield  # closing the file unlocks it


if sys.platform == "win32":

    def _lock(file: IO[bytes], *, wait: bool) -> bool:
        file.seek(0)
        try:
            # LK_LOCK waits up to ten seconds.
            msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:

    def _lock(file: IO[bytes], *, wait: bool) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def write_whole(path: Path, content: str) -> None:
    """Write a file atomically: synced before it replaces the old one, and readable by its owner only."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".part")  # with mode 0600
    try:
        with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
