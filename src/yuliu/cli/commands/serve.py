"""``yuliu serve``: the server."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from yuliu.cli.console.errors import CommandError
from yuliu.cli.options import complete_voice
from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from yuliu.cli.wiring import Wiring
    from yuliu.metrics.metrics import Metrics
    from yuliu.synthesizer import Synthesizer

EXAMPLES = """\b
Examples:
  yuliu serve                                  serve this machine only
  yuliu serve --voice heart --port 9000        one voice, another port
  yuliu keys add phone
  yuliu serve --host 0.0.0.0 --expose          serve clients that have a key
  yuliu serve --log-format json 2>serve.log    log for a log collector
  yuliu serve --workers 2 --cache 64           two threads, 64 MB of cache
  yuliu serve --presets ours.toml              add your own presets
  yuliu serve --phrases greetings.txt          synthesize phrases ahead

\b
If any keys exist, every client needs one.
Ctrl-C stops the server; open streams may continue for half a minute.
"""


_ADVICE = {
    "host": "to allow it: --expose",
    "expose": "create one with: yuliu keys add NAME; to let anyone use the server: --no-keys",
}
"""Remedies for arguments that ``serve`` refuses."""


def _record(_ctx: click.Context, _param: click.Parameter, name: str | None) -> None:
    """Set the environment variable that turns recording on."""
    if name:
        os.environ["YULIU_RECORD"] = name


@click.command(epilog=EXAMPLES)
@click.option("--host", metavar="NAME", default="127.0.0.1", show_default=True, help="Name or address to listen on.")
@click.option(
    "--port",
    metavar="N",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
@click.option(
    "--voice",
    "voices",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_voice,
    help="Voice to load; may be given several times, the first is the default.",
)
@click.option("--expose", is_flag=True, help="Accept clients on other machines, with keys (see: yuliu keys).")
@click.option("--no-keys", is_flag=True, help="Require no keys: anyone who can reach the port may use the server.")
@click.option(
    "--allow-origin",
    "origins",
    metavar="ORIGIN",
    multiple=True,
    help="Origin of web pages that may use the server, such as https://example.org; may be given several times.",
)
@click.option(
    "--tls-cert",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Use TLS with this certificate chain (PEM, without the root).",
)
@click.option(
    "--tls-key",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Private key of the certificate (PEM).  [default: in the certificate file]",
)
@click.option(
    "--drain-s",
    type=click.IntRange(1, 3600),
    default=30,
    show_default=True,
    metavar="SECONDS",
    help="Maximum time for open streams after Ctrl-C or SIGTERM.",
)
@click.option(
    "--allow-host",
    "hosts",
    metavar="NAME",
    multiple=True,
    help="Host name by which clients may address the server; may be given several times.",
)
@click.option(
    "--log-format",
    type=click.Choice(["line", "json"]),
    default="line",
    show_default=True,
    help="Format of the log on standard error.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    metavar="N",
    help="Number of worker threads. Default: one per core, at most four.",
)
@click.option(
    "--cache",
    "cache_mb",
    type=click.IntRange(0, 65536),
    default=0,
    metavar="MB",
    show_default=True,
    help="Size of the cache of recent speech.",
)
@click.option(
    "--adaptive/--no-adaptive",
    default=True,
    show_default=True,
    help="Adapt the length of steps and, in dialogues, of first segments: both get shorter under load.",
)
@click.option(
    "--presets",
    "preset_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="TOML file that adds or changes presets.",
)
@click.option(
    "--record",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    expose_value=False,
    callback=_record,
    help="Record every decision of the scheduler to this file, for `yuliu replay`.",
)
@click.option(
    "--phrases",
    "phrase_file",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File of phrases to synthesize ahead with the default voice, one per line; # starts a comment.",
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
    """Run the HTTP server until it is stopped."""
    from yuliu.presets import load_presets
    from yuliu.server import Certificate, ServerConfig, serve

    if tls_cert is None and tls_key is not None:
        raise InvalidRequest("--tls-key needs --tls-cert", param="tls_key")
    options["certificate"] = Certificate(tls_cert, tls_key) if tls_cert is not None else None
    opening = {"workers": workers, "cache_bytes": cache_mb * 1_000_000, "adaptive": adaptive}

    def load(metrics: Metrics) -> Synthesizer:
        return wiring.open_synthesizer(voices, metrics=metrics, **opening)

    try:
        if preset_file:
            options["presets"] = load_presets(preset_file)
        if phrase_file:
            options["phrases"] = _phrases(phrase_file)
        serve(load, ServerConfig(**options))
    except KeyboardInterrupt:
        return  # Ctrl-C is the normal way to stop it
    except InvalidRequest as error:
        if (advice := _ADVICE.get(error.param or "")) is not None:
            error.add_note(advice)
        raise
    except OSError as error:
        raise _no_listening(error, options["host"], options["port"]) from error


def _no_listening(error: OSError, host: str, port: int) -> CommandError:
    if error.errno == errno.EADDRINUSE:
        return CommandError(f"port {port} is in use; choose another one with --port, or any free one with --port 0")
    return CommandError(f"cannot listen on {host}, port {port}: {error.strerror}; choose others with --host and --port")


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
