"""Bytes that are what the manifest promises, or an error: nothing else gets into a voice's folder."""

from __future__ import annotations

import errno
import hashlib
import os
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

from yuliu.errors import PullFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from yuliu.voices.progress import OnBytes

BLOCK_BYTES = 1024 * 1024

_DISK_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
_NOT_ALLOWED = {errno.EACCES, errno.EPERM, errno.EROFS}


class WrongContent(Exception):
    """The bytes are not the ones promised; the text says in what they differ."""


def copy_verified(source: IO[bytes], target: Path, *, size: int, sha256: str, on_bytes: OnBytes) -> None:
    """Write exactly the promised bytes from ``source`` to the new file ``target``, and have them on the disk.

    Reads no more than one byte beyond ``size``. Where it raises, ``target`` does not exist.

    Raises:
        WrongContent: ``source`` holds other bytes.
        OSError: Reading or writing failed.
    """
    with target.open("xb") as file:
        try:
            _copy(source, file, size=size, sha256=sha256, on_bytes=on_bytes)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            file.close()  # Windows deletes no open file
            target.unlink()
            raise


def _copy(source: IO[bytes], target: IO[bytes], *, size: int, sha256: str, on_bytes: OnBytes) -> None:
    digest = hashlib.sha256()
    done = 0
    while block := source.read(min(BLOCK_BYTES, size + 1 - done)):
        done += len(block)
        if done > size:
            raise WrongContent(f"it is longer than the {size} bytes expected")
        digest.update(block)
        target.write(block)
        on_bytes(done)
    if done < size:
        raise WrongContent(f"it is {done} bytes long, {size} were expected")
    if digest.hexdigest() != sha256:
        raise WrongContent(f"its sha256 is {digest.hexdigest()}, {sha256} was expected")


def check_file(path: Path, *, size: int, sha256: str) -> None:
    """Read all of a file and compare it with what was promised.

    Raises:
        WrongContent: It is not that, or not there.
        OSError: It is there but cannot be read.
    """
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno()).st_size
            if found != size:
                raise WrongContent(f"it is {found} bytes long, {size} were expected")
            while block := file.read(BLOCK_BYTES):
                digest.update(block)
    except FileNotFoundError as error:
        raise WrongContent("it is missing") from error
    if digest.hexdigest() != sha256:
        raise WrongContent(f"its sha256 is {digest.hexdigest()}, {sha256} was expected")


def has_content(path: Path, *, size: int, sha256: str) -> bool:
    """Return whether the file exists and holds the promised bytes; an unreadable file does not."""
    try:
        check_file(path, size=size, sha256=sha256)
    except (WrongContent, OSError):
        return False
    return True


@contextmanager
def disk_errors(voice: str, home: Path, *, action: str) -> Iterator[None]:
    """Turn what the disk raises into PullFailed, with what to do about it."""
    try:
        yield
    except OSError as error:
        raise PullFailed(f"voice {voice} was not {action}: {_advice(error, home)}") from error


def _advice(error: OSError, home: Path) -> str:
    if error.errno in _DISK_FULL:
        return f"the disk is full. Make room in {home}, or set YULIU_HOME to a folder on another disk, and pull again."
    if error.errno in _NOT_ALLOWED:
        return f"{home} cannot be written. Set YULIU_HOME to a folder of yours, or pull as its owner."
    return f"the disk failed ({error.strerror or type(error).__name__}) at {error.filename or home}."
