"""Shared parts of all endpoints of one server."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yuliu.delivery.gateway import Gateway
    from yuliu.lexicon_store import LexiconStore
    from yuliu.server.endpoints.native.registry import StreamRegistry
    from yuliu.server.limits import Limits
    from yuliu.server.loading import Loading
    from yuliu.server.loop_gauge import LoopGauge


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerContext:
    """Shared parts of all endpoints of one server."""

    gateway: Gateway
    loading: Loading
    """The voices, once they are loaded."""
    limits: Limits
    lexicons: LexiconStore
    """Lexicons that clients can read and change."""
    streams: StreamRegistry
    """Streams that clients can resume."""
    loop_gauge: LoopGauge
    pinning: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while phrases are spoken ahead."""
