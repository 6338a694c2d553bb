"""Where the log of the scheduler goes: a file, when somebody asks for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from yuliu.errors import InvalidRequest
from yuliu.scheduler.record import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from yuliu.scheduler.costs import EngineFacts
    from yuliu.scheduler.tuning import Tuning

RECORD = "YULIU_RECORD"
"""Environment variable that names the file."""


def recording(environ: Mapping[str, str]) -> Callable[[Mapping[str, EngineFacts], Tuning], Recorder] | None:
    """What makes the recorder that the environment asks for; None if it asks for none.

    An older file of that name is overwritten. The file stays open until the program ends; every line is written at
    once, so that a program that is killed leaves what it did before.

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
    return lambda engines, tuning: Recorder(lambda line: os.write(descriptor, line.encode("ascii")), engines, tuning)
