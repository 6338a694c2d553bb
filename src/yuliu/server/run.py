"""From an address to a running server: the socket, uvicorn, and the log."""

from __future__ import annotations

import functools
import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING

import uvicorn

from yuliu.access.key_store import KeyStore
from yuliu.errors import InvalidRequest
from yuliu.logger import event_logger
from yuliu.metrics.metrics import Metrics
from yuliu.metrics.report import GaugeValues
from yuliu.metrics.trace import open_tracer
from yuliu.presets import presets as known_presets
from yuliu.server.app import create_app
from yuliu.server.endpoints.phrases import pin_phrases
from yuliu.server.limits import Limits, draining_for, within_descriptors
from yuliu.server.log import configure_log
from yuliu.server.middleware.auth import KeyRing
from yuliu.server.middleware.cors import checked_origin
from yuliu.server.transport.http import UNSENT_BYTES, BoundedConnection
from yuliu.server.transport.tls import check_certificate
from yuliu.server.transport.websocket import BoundedWebSocket
from yuliu.wire.native.decode import MAX_MESSAGE_BYTES
from yuliu.wire.phrases import PhrasesRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from starlette.types import ASGIApp

    from yuliu.presets import Preset
    from yuliu.server.log import LogFormat
    from yuliu.server.transport.tls import Certificate
    from yuliu.synthesizer import Synthesizer

_log = event_logger(__name__)


def serve(  # noqa: PLR0913 - the options of `yuliu serve`
    load: Callable[[Metrics], Synthesizer],
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    expose: bool = False,
    hosts: Sequence[str] = (),
    origins: Sequence[str] = (),
    keys: KeyStore | None = None,
    no_keys: bool = False,
    certificate: Certificate | None = None,
    drain_s: int | None = None,
    limits: Limits | None = None,
    log_format: LogFormat = "line",
    presets: Mapping[str, Preset] | None = None,
    phrases: Sequence[str] = (),
) -> None:
    """Serve until SIGINT or SIGTERM; then streams under way may go on for ``limits.shutdown_s``. Sets up logging.

    Args:
        load: Makes a synthesizer, loaded and warm, which tells these metrics; called once, on a thread.
        host: Name or address to listen on.
        port: 0 takes any free one.
        expose: Whether it may be an address that other machines reach; then there must be keys, or ``no_keys``.
        hosts: Names that the Host header may give beside loopback ones. With ``expose`` and no names it may give any
            if keys are wanted, else addresses and names that nobody can own from afar: a key is what keeps pages out
            that give their own name to this server's address.
        origins: Web pages that may use it beside its own, such as ``https://example.org``.
        keys: Who may use it, if there are any; None takes those of this machine.
        no_keys: Whether anyone may use it, even if there are keys.
        certificate: For TLS; None speaks plain HTTP.
        drain_s: Whole seconds that streams may go on after SIGINT or SIGTERM; None takes those of ``limits``.
        limits: What is taken at once.
        log_format: How lines of the log are written.
        presets: Those that requests may name; None takes those that come with Yuliu.
        phrases: What the default voice speaks ahead before the server is ready.

    Raises:
        InvalidRequest: The address is not a loopback one and ``expose`` is false; there are no keys though ``expose``
            is true; the file of keys, an origin or the certificate is wrong. ``param`` names the argument.
        OSError: The address cannot be listened on.
        KeyboardInterrupt: It was ended by SIGINT. SIGTERM ends the process, as it would have without a server.
        YuliuError: The voices could not be loaded; whatever ``load`` raises ends the server.
    """
    limits = limits or Limits()
    limits = limits if drain_s is None else draining_for(limits, drain_s)
    known = _known_keys(keys or KeyStore(), expose=expose, no_keys=no_keys)
    origins = tuple(map(checked_origin, origins))
    if certificate is not None:
        check_certificate(certificate)
    listener = listening_socket(host, port, expose=expose, stall_s=limits.stall_s)
    configure_log(log_format)  # before uvicorn turns off its access log, or it would turn it on again
    limits = within_descriptors(limits)
    presets = known_presets() if presets is None else presets
    metrics = Metrics(tracer=open_tracer())
    prepare = functools.partial(pin_phrases, asked=PhrasesRequest(tuple(phrases)), presets=presets, limits=limits)
    failures: list[BaseException] = []

    def load_or_stop() -> Synthesizer:
        try:
            return _prepared(load(metrics), prepare)
        except BaseException as error:
            failures.append(error)
            server.should_exit = True
            raise

    is_open = expose and not hosts
    app = create_app(
        load_or_stop,
        limits=limits,
        hosts=None if is_open and known else hosts,
        nearby=is_open,
        metrics=metrics,
        presets=presets,
        origins=origins,
        keys=known,
    )
    server = make_server(app, limits, certificate)
    metrics.gauge_source(lambda: GaugeValues(num_connections=len(server.server_state.connections)))
    host, port = listener.getsockname()[:2]
    _log.info("listening", host=host, port=port)
    _log.info("entry", keys="wanted" if known else "none", tls="yes" if certificate else "no")
    server.run(sockets=[listener])
    if failures:
        raise failures[0]


def _known_keys(store: KeyStore, *, expose: bool, no_keys: bool) -> KeyRing | None:
    """Those that are wanted of who calls; None if anyone may."""
    if no_keys:
        return None
    if store.read():
        return KeyRing(store)
    if expose:
        raise InvalidRequest(
            "other machines are to be let in, and there are no keys that they could show", param="expose"
        )
    return None


def _prepared(synthesizer: Synthesizer, prepare: Callable[[Synthesizer], None]) -> Synthesizer:
    try:
        prepare(synthesizer)
    except BaseException:
        synthesizer.close()
        raise
    return synthesizer


def make_server(app: ASGIApp, limits: Limits, certificate: Certificate | None = None) -> uvicorn.Server:
    """A uvicorn server for sockets from :func:`listening_socket`."""
    config = uvicorn.Config(
        app,
        http=functools.partial(BoundedConnection, limits=limits),  # type: ignore[arg-type] # it is only called
        ws=functools.partial(BoundedWebSocket, limits=limits),  # type: ignore[arg-type] # it is only called
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_ping_interval=limits.native.ping_s,
        ws_ping_timeout=limits.native.ping_s,
        ws_per_message_deflate=False,
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=limits.keep_alive_s,
        timeout_graceful_shutdown=limits.shutdown_s,
        ssl_certfile=None if certificate is None else certificate.chain,
        ssl_keyfile=None if certificate is None else certificate.key,
    )
    return uvicorn.Server(config)


def listening_socket(host: str, port: int, *, expose: bool, stall_s: float) -> socket.socket:
    """An open socket whose connections send at once, buffer little, and are cut when the peer is lost for ``stall_s``.

    Raises:
        InvalidRequest: The address is not a loopback one and ``expose`` is false.
        OSError: There is no such address, or it is in use.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    if not (expose or ip_address(str(address[0]).partition("%")[0]).is_loopback):
        raise InvalidRequest(f"other machines reach {host}, and they were not asked for", param="host")
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        _configure(listener, stall_s)
        listener.bind(address)
        listener.listen()
    except OSError:
        listener.close()
        raise
    return listener


def _configure(listener: socket.socket, stall_s: float) -> None:
    """Options that accepted connections inherit (on Linux all of them)."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for name, value in (("TCP_NOTSENT_LOWAT", UNSENT_BYTES), ("TCP_USER_TIMEOUT", round(1000 * stall_s))):
        if (option := getattr(socket, name, None)) is not None:
            listener.setsockopt(socket.IPPROTO_TCP, option, value)
