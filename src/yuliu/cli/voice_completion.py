"""Names of voices on the command line: completed by the shell from what the catalogue lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.shell_completion import CompletionItem

from yuliu.errors import YuliuError

if TYPE_CHECKING:
    import click

    from yuliu.cli.wiring import Wiring


def complete_voice(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The voices whose names begin so; given to click as ``shell_complete``."""
    wiring: Wiring = ctx.find_root().obj
    try:
        known = wiring.open_store().list()
    except (YuliuError, OSError):  # in the middle of a command line no message can be shown
        return []
    return [CompletionItem(voice.name, help=voice.description) for voice in known if voice.name.startswith(incomplete)]
