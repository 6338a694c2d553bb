"""``yuliu serve``."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from yuliu.cli.voicenames import complete_voice
from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from yuliu.cli.wiring import Wiring

EXAMPLES = """\b
Examples:
  yuliu serve                                  on this machine only
  yuliu serve --voice heart --port 9000        one voice, another port
  yuliu serve --host 0.0.0.0 --expose          for other machines too
  yuliu serve --log-format json 2>serve.log    for whatever collects logs

\b
Ctrl-C stops it; streams under way may go on for half a minute.
"""


@click.command(epilog=EXAMPLES)
@click.option("--host", default="127.0.0.1", show_default=True, help="Name or address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes any free one.")
@click.option(
    "--voice",
    "voices",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_voice,
    help="Load this voice; may be given several times, the first is the default.",
)
@click.option(
    "--expose", is_flag=True, help="Let other machines in, too. There are no keys: whoever gets in may use it."
)
@click.option(
    "--allow-host",
    "hosts",
    metavar="NAME",
    multiple=True,
    help="A name under which clients may address the server; may be given several times.",
)
@click.option(
    "--log-format",
    type=click.Choice(["line", "json"]),
    default="line",
    show_default=True,
    help="How the log on standard error is written.",
)
@click.pass_obj
def command(wiring: Wiring, /, voices: tuple[str, ...], **options: Any) -> None:  # noqa: ANN401 - those of serve
    """Run the HTTP server until it is told to stop."""
    from yuliu.server import serve

    try:
        serve(partial(wiring.open_speaker, voices), **options)
    except KeyboardInterrupt:
        return  # that is how it is told to stop
    except InvalidRequest as error:
        if error.param == "host":
            error.add_note("if that is what you want: --expose")
        raise
    except OSError as error:
        error.add_note(f"choose where to listen with --host and --port, not {options['host']} and {options['port']}")
        raise
