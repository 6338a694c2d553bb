"""Standard input, output and error, which whoever starts the program may have closed."""

from __future__ import annotations

import os
import sys


def open_closed_descriptors() -> None:
    """Open what is closed of the descriptors 0 to 2 on the null device, and give ``sys.stderr`` something to write to.

    Otherwise the next file that is opened would get the number, and what is written to standard error, by libraries
    below Python too, would end up in it. ``sys.stdin`` and ``sys.stdout`` stay None, so that commands can tell.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is taken, which is this one.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115 - lives on
