"""From an address to a running server: the socket, uvicorn, and the log."""

from __future__ import annotations

import functools
import socket
from dataclasses import replace
from ipaddress import ip_address
from typing import TYPE_CHECKING

import uvicorn

from yuliu.access import KeyRing, KeyStore
from yuliu.errors import InvalidRequest
from yuliu.logger import event_logger
from yuliu.metrics.metrics import Metrics
from yuliu.metrics.report import GaugeValues
from yuliu.metrics.trace import open_tracer
from yuliu.server.app import create_app
from yuliu.server.config import AppConfig, ServerConfig
from yuliu.server.endpoints.phrases import pin_phrases
from yuliu.server.limits import Limits, draining_for, within_descriptors
from yuliu.server.log import configure_log
from yuliu.server.middleware.cors import checked_origin
from yuliu.server.transport.http import UNSENT_BYTES, BoundedConnection
from yuliu.server.transport.tls import check_certificate
from yuliu.server.transport.websocket import BoundedWebSocket
from yuliu.wire.native.decode import MAX_MESSAGE_BYTES
from yuliu.wire.phrases import PhrasesRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp

    from yuliu.server.transport.tls import Certificate
    from yuliu.synthesizer import Synthesizer

_log = event_logger(__name__)


def serve(load: Callable[[Metrics], Synthesizer], config: ServerConfig | None = None) -> None:
    """Serve until SIGINT or SIGTERM. Streams may go on for ``limits.shutdown_s`` after it. Sets up logging.

    Args:
        load: Returns a synthesizer, loaded and warm, which reports to these metrics; called once, on a thread.
        config: Settings.

    Raises:
        InvalidRequest: The address is not a loopback one and ``expose`` is false; there are no keys though ``expose``
            is true; the file of keys, an origin or the certificate is wrong. ``param`` names the setting.
        OSError: The address cannot be listened on.
        KeyboardInterrupt: SIGINT ended the server. SIGTERM ends the process, as it would have without a server.
        YuliuError: The voices could not be loaded; whatever ``load`` raises ends the server.
    """
    config = _checked(config or ServerConfig())
    keys = _keys(config)
    listener = listening_socket(config.host, config.port, expose=config.expose, stall_s=config.limits.stall_s)
    configure_log(config.log_format)  # before uvicorn turns off its access log, or it would turn it on again
    limits = within_descriptors(config.limits)
    metrics = Metrics(tracer=open_tracer())
    failures: list[BaseException] = []

    def load_or_stop() -> Synthesizer:
        try:
            return _prepared(load(metrics), config)
        except BaseException as error:
            failures.append(error)
            server.should_exit = True
            raise

    app = create_app(load_or_stop, replace(_app_config(config, keys), limits=limits, metrics=metrics))
    server = make_server(app, limits, config.certificate)
    metrics.gauge_source(lambda: GaugeValues(num_connections=len(server.server_state.connections)))
    host, port = listener.getsockname()[:2]
    _log.info("listening", host=host, port=port)
    _log.info("entry", keys="required" if keys else "none", tls="yes" if config.certificate else "no")
    server.run(sockets=[listener])
    if failures:
        raise failures[0]


def _checked(config: ServerConfig) -> ServerConfig:
    """Return settings that hold together, with the limits for the time that a drain may take."""
    if config.certificate is not None:
        check_certificate(config.certificate)
    limits = config.limits if config.drain_s is None else draining_for(config.limits, config.drain_s)
    return replace(config, limits=limits, origins=tuple(map(checked_origin, config.origins)))


def _app_config(config: ServerConfig, keys: KeyRing | None) -> AppConfig:
    is_open = config.expose and not config.hosts
    return AppConfig(
        hosts=None if is_open and keys else config.hosts,
        nearby=is_open,
        origins=config.origins,
        keys=keys,
        presets=config.presets,
    )


def _keys(config: ServerConfig) -> KeyRing | None:
    """Return the keys that are required; None if there are none."""
    if config.no_keys:
        return None
    store = config.keys or KeyStore()
    if store.read():
        return KeyRing(store)
    if config.expose:
        raise InvalidRequest(
            "other machines are to be let in, and there are no keys that they could show", param="expose"
        )
    return None


def _prepared(synthesizer: Synthesizer, config: ServerConfig) -> Synthesizer:
    """Speak the phrases ahead; close the synthesizer if that fails."""
    try:
        pin_phrases(synthesizer, PhrasesRequest(tuple(config.phrases)), config.presets, config.limits)
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
