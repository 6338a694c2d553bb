"""Keeping the notices of model libraries from a person's terminal."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

STDERR = 2
NOTICE = b"INFO: "
"""How LiteRT begins "Created TensorFlow Lite XNNPACK delegate for CPU."; no setting of it keeps that back."""


@contextmanager
def without_notices() -> Iterator[None]:
    """Hold back what libraries below Python write to standard error, then let through all but the notices.

    For the whole process: only where nobody else writes, as while voices are loaded.
    """
    sys.stderr.flush()
    with tempfile.TemporaryFile() as held:
        kept = os.dup(STDERR)
        os.dup2(held.fileno(), STDERR)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(kept, STDERR)
            os.close(kept)
            held.seek(0)
            os.write(STDERR, b"".join(line for line in held if not line.startswith(NOTICE)))
