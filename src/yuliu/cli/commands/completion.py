"""``yuliu completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

EXAMPLES = """\b
Examples:
  yuliu completion bash >> ~/.bashrc
  yuliu completion zsh >> ~/.zshrc
  yuliu completion fish > ~/.config/fish/completions/yuliu.fish
"""


@click.command(epilog=EXAMPLES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script that makes SHELL complete commands, options and voice names."""
    completion = get_completion_class(shell)
    assert completion is not None  # noqa: S101 - click has these three
    click.echo(completion(ctx.find_root().command, {}, "yuliu", "_YULIU_COMPLETE").source())
