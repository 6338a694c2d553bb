"""What all commands of ``yuliu bench`` share: where reports go, and what is told meanwhile."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

_FILE = click.Path(dir_okay=False, path_type=Path)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="No progress.")
out_option = click.option("--out", type=_FILE, help="Write the report as JSON here.")
table_option = click.option("--table", type=_FILE, help="Write the table (Markdown) here.")


def typed() -> str:
    """The command as typed, but for the places of folders, which say nothing to others."""
    words = ["yuliu", *sys.argv[1:]]
    return " ".join("DIR" if before == "--peers" else word for before, word in zip(["", *words], words, strict=False))


def progress_to(*, quiet: bool) -> Callable[[str], None]:
    """Lines for people, on standard error."""
    return lambda line: None if quiet else click.echo(line, err=True)


def deliver(
    report: dict[str, Any], page: str, out: Path | None, table: Path | None, *, printed: str | None = None
) -> None:
    """Write the report where it is wanted, and print the page or what is given instead."""
    for path, content in ((out, json.dumps(report, ensure_ascii=False, indent=1) + "\n"), (table, page)):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    click.echo(page if printed is None else printed)
