"""The file of the scheduler's event log, if the environment asks for one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from yuliu.errors import InvalidRequest
from yuliu.logger import event_logger
from yuliu.scheduler.policy.event_log import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.scheduler.policy.costs import EngineFacts
    from yuliu.scheduler.policy.tuning import Tuning

RECORD = "YULIU_RECORD"
"""Environment variable that names the file."""

_log = event_logger("yuliu.scheduler")


class EventLogFile:
    """A file that takes lines as long as it can: speaking goes on where the disk is full.

    Args:
        descriptor: Open for writing.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def write(self, line: str) -> None:
        """Add a line, ASCII with its end. The first one that cannot be written whole is the last."""
        if self._descriptor is None:
            return
        data = line.encode("ascii")
        try:
            num_written, reason = os.write(self._descriptor, data), "no room"
        except OSError as error:
            num_written, reason = 0, str(error.strerror)
        if num_written < len(data):
            _log.error("recording_ended", reason=reason)
            os.close(self._descriptor)
            self._descriptor = None


def recording(environ: Mapping[str, str]) -> Callable[[Mapping[str, EngineFacts], Tuning], Recorder] | None:
    """Return a factory of the recorder that the environment asks for; None if it asks for none.

    An older file of that name is overwritten. The file stays open until the program ends, or a line cannot be written;
    every line is written at once, so that the log of a killed program is complete up to its end.

    Args:
        environ: As ``os.environ``.

    Raises:
        InvalidRequest: The file cannot be written.
    """
    if not (name := environ.get(RECORD)):
        return None
    try:
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    except OSError as error:
        message = f"the log of the scheduler cannot be written to {name}: {error.strerror}"
        raise InvalidRequest(message, param="record") from error
    return lambda engines, tuning: Recorder(EventLogFile(descriptor).write, engines, tuning)
