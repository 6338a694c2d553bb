"""Options and output that all bench commands share."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

_FILE = click.Path(dir_okay=False, path_type=Path)
out_option = click.option("--out", type=_FILE, help="Write the report as JSON to this file.")
table_option = click.option("--table", type=_FILE, help="Write the table (Markdown) to this file.")


def typed_command(program: str = "yuliu") -> str:
    """Return the command as typed, without the names of folders of peers, which mean nothing elsewhere."""
    words = [program, *sys.argv[1:]]
    return " ".join("DIR" if before == "--peers" else word for before, word in zip(["", *words], words, strict=False))


def progress_to(*, quiet: bool) -> Callable[[str], None]:
    """Return a function that writes lines to standard error, or nowhere."""
    return lambda line: None if quiet else click.echo(line, err=True)


def deliver(
    report: dict[str, Any], page: str, out: Path | None, table: Path | None, *, printed: str | None = None
) -> None:
    """Write the report and the page to their files, and print the page or ``printed``."""
    for path, content in ((out, as_json(report) + "\n"), (table, page)):
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
    click.echo(page if printed is None else printed)


def as_json(report: dict[str, Any]) -> str:
    """Return a report as JSON text."""
    return json.dumps(report, ensure_ascii=False, indent=1)
