"""Command line: ``yuliu say``, ``serve``, ``voices``, ``doctor`` and others.

Neither this package nor ``yuliu --help`` imports anything heavy: each command imports what it needs when it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.cli.wiring import Wiring

__all__ = ["main"]


def main(args: Sequence[str] | None = None, *, obj: Wiring | None = None) -> NoReturn:
    """Run the command line and exit the process: 0 success, 1 failure, 2 wrong usage, 130 interrupted.

    Args:
        args: Arguments without the program's name; those of the process by default.
        obj: Source of synthesizers and voices; the installed voices by default.
    """
    from yuliu.cli.app import run

    raise SystemExit(run(args, obj))
