"""Settings of a server, as values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from yuliu.presets import presets as known_presets
from yuliu.server.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from yuliu.access import KeyRing, KeyStore
    from yuliu.lexicon_store import LexiconStore
    from yuliu.metrics.metrics import Metrics
    from yuliu.presets import Preset
    from yuliu.server.log import LogFormat
    from yuliu.server.transport.tls import Certificate

_PRESETS = known_presets()  # read with the module: an application may be made in a running loop


@dataclass(frozen=True, slots=True, kw_only=True)
class AppConfig:
    """Settings of an application."""

    limits: Limits = field(default_factory=Limits)
    hosts: Collection[str] | None = ()
    """Names that a request's Host header may give beside loopback names; None allows all."""
    nearby: bool = False
    """Accept addresses, and names that cannot be registered, as well: neither can be made to point here from afar."""
    origins: Collection[str] = ()
    """Web pages that may use the server beside its own, such as ``https://example.org``."""
    keys: KeyRing | None = None
    """Keys that are accepted; None requires none."""
    lexicons: LexiconStore | None = None
    """Lexicons that can be read and changed; None takes those of this machine."""
    presets: Mapping[str, Preset] = field(default_factory=lambda: _PRESETS)
    """Presets that requests may name."""
    metrics: Metrics | None = None
    """Measurements that the server collects and shows; None makes new ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerConfig:
    """Settings of a server process, as ``yuliu serve`` takes them."""

    host: str = "127.0.0.1"
    """Name or address to listen on."""
    port: int = 8000
    """Port to listen on; 0 takes any free one."""
    expose: bool = False
    """Allow an address that other machines reach. Then there must be keys, or ``no_keys``."""
    hosts: Collection[str] = ()
    """Names that the Host header may give beside loopback names.

    With ``expose`` and no names it may give any if keys are required, else addresses and names that cannot be
    registered: a key is what keeps out pages that make their own name point to this server.
    """
    origins: Collection[str] = ()
    """Web pages that may use the server beside its own, such as ``https://example.org``."""
    keys: KeyStore | None = None
    """Keys that are accepted, if there are any; None takes those of this machine."""
    no_keys: bool = False
    """Require no key, even if there are some."""
    certificate: Certificate | None = None
    """Certificate for TLS; None speaks plain HTTP."""
    drain_s: int | None = None
    """Whole seconds that streams may go on after SIGINT or SIGTERM; None takes those of ``limits``."""
    limits: Limits = field(default_factory=Limits)
    log_format: LogFormat = "line"
    presets: Mapping[str, Preset] = field(default_factory=lambda: _PRESETS)
    """Presets that requests may name."""
    phrases: Collection[str] = ()
    """Phrases that the default voice speaks ahead, before the server is ready."""
