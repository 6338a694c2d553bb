"""``yuliu serve``."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from yuliu.cli.console.errors import CommandError
from yuliu.cli.voice_completion import complete_voice
from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from yuliu.cli.wiring import Wiring
    from yuliu.metrics.metrics import Metrics
    from yuliu.synthesizer import Synthesizer

EXAMPLES = """\b
Examples:
  yuliu serve                                  on this machine only
  yuliu serve --voice heart --port 9000        one voice, another port
  yuliu keys add phone
  yuliu serve --host 0.0.0.0 --expose          for others that have a key
  yuliu serve --log-format json 2>serve.log    for whatever collects logs
  yuliu serve --workers 2 --cache 64             two threads, 64 MB of sound
  yuliu serve --presets ours.toml              presets of your own
  yuliu serve --phrases greetings.txt          spoken ahead, sent at once

\b
If there are keys, they are wanted of everyone.
Ctrl-C stops it; streams under way may go on for half a minute.
"""


_ADVICE = {
    "host": "if that is what you want: --expose",
    "expose": "make one with: yuliu keys add NAME; if anyone may use the server: --no-keys",
}
"""What to do about an argument of ``serve`` that is refused."""


def _record(_ctx: click.Context, _param: click.Parameter, name: str | None) -> None:
    """As if the environment had said so."""
    if name:
        os.environ["YULIU_RECORD"] = name


@click.command(epilog=EXAMPLES)
@click.option("--host", metavar="NAME", default="127.0.0.1", show_default=True, help="Name or address to listen on.")
@click.option(
    "--port", metavar="N", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes any free one."
)
@click.option(
    "--voice",
    "voices",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_voice,
    help="Load this voice; may be given several times, the first is the default.",
)
@click.option("--expose", is_flag=True, help="Let other machines in, too, with keys (see: yuliu keys).")
@click.option("--no-keys", is_flag=True, help="Want no keys: whoever reaches the port may use it.")
@click.option(
    "--allow-origin",
    "origins",
    metavar="ORIGIN",
    multiple=True,
    help="Web pages that may use the server, as https://example.org; may be given several times.",
)
@click.option(
    "--tls-cert",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Speak TLS: the certificate, with those between it and the root, as PEM.",
)
@click.option(
    "--tls-key",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The private key of the certificate, as PEM.  [default: in the file of the certificate]",
)
@click.option(
    "--drain-s",
    type=click.IntRange(1, 3600),
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="How long streams may go on after Ctrl-C or SIGTERM.",
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
@click.option(
    "--workers", type=click.IntRange(1, 64), metavar="N", help="Threads that speak. Default: one a core, four at most."
)
@click.option(
    "--cache",
    "cache_mb",
    type=click.IntRange(0, 65536),
    default=0,
    metavar="MB",
    show_default=True,
    help="Sound spoken lately that is kept, to be sent again.",
)
@click.option(
    "--adaptive/--no-adaptive",
    default=True,
    show_default=True,
    help="Let steps and, in dialogues, first segments follow what is measured: under load they get shorter.",
)
@click.option(
    "--presets",
    "preset_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Presets beside those there are, or changes of them, as TOML.",
)
@click.option(
    "--record",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    expose_value=False,
    callback=_record,
    help="Log every decision of the scheduler here, for `yuliu replay`.",
)
@click.option(
    "--phrases",
    "phrase_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Phrases that the default voice speaks ahead: one a line, # begins a comment.",
)
@click.pass_obj
def command(  # noqa: PLR0913 - its options
    wiring: Wiring,
    /,
    voices: tuple[str, ...],
    workers: int | None,
    cache_mb: int,
    adaptive: bool,
    preset_file: Path | None,
    phrase_file: Path | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    **options: Any,  # noqa: ANN401 - those of serve
) -> None:
    """Run the HTTP server until it is told to stop."""
    from yuliu.presets import load_presets
    from yuliu.server import Certificate, serve

    if tls_cert is None and tls_key is not None:
        raise InvalidRequest("--tls-key needs --tls-cert", param="tls_key")
    options["certificate"] = Certificate(tls_cert, tls_key) if tls_cert is not None else None
    opening = {"workers": workers, "cache_bytes": cache_mb * 1_000_000, "adaptive": adaptive}

    def load(metrics: Metrics) -> Synthesizer:
        return wiring.open_synthesizer(voices, metrics=metrics, **opening)

    try:
        presets = load_presets(preset_file) if preset_file else None
        serve(load, presets=presets, phrases=_phrases(phrase_file) if phrase_file else (), **options)
    except KeyboardInterrupt:
        return  # that is how it is told to stop
    except InvalidRequest as error:
        if (advice := _ADVICE.get(error.param or "")) is not None:
            error.add_note(advice)
        raise
    except OSError as error:
        raise _no_listening(error, options["host"], options["port"]) from error


def _no_listening(error: OSError, host: str, port: int) -> CommandError:
    if error.errno == errno.EADDRINUSE:
        return CommandError(f"port {port} is in use; take another one with --port, or with --port 0 any that is free")
    return CommandError(f"cannot listen on {host}, port {port}: {error.strerror}; choose with --host and --port")


def _phrases(path: Path) -> tuple[str, ...]:
    from yuliu.wire.phrases import MAX_BODY_BYTES, parse_phrase_file

    try:
        with path.open("rb") as file:
            content = file.read(MAX_BODY_BYTES + 1)
    except OSError as error:
        raise InvalidRequest(f"{path.name}: cannot be read: {error.strerror}") from error
    if len(content) > MAX_BODY_BYTES:
        raise InvalidRequest(f"{path.name}: is larger than {MAX_BODY_BYTES} bytes")
    try:
        return parse_phrase_file(content.decode("utf-8"), where=path.name)
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path.name}: is not UTF-8") from error
