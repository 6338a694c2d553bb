"""The gate before all paths: no key, no entry. HTTP and WebSockets alike."""

from __future__ import annotations

import asyncio
import functools
from typing import TYPE_CHECKING

from yuliu.access.quotas import KeyUsage
from yuliu.errors import YuliuError
from yuliu.logger import event_logger
from yuliu.server.principal import Principal, remember
from yuliu.server.responses import headers_of, problem_response, request_id
from yuliu.wire.keys import (
    OPEN_PATHS,
    SUBPROTOCOL,
    find_key,
    key_missing,
    scope_missing,
    scope_of,
    shown_key,
    subprotocols,
)
from yuliu.wire.problems import problem_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from yuliu.access.key_store import KeyStore
    from yuliu.wire.keys import ApiKey
    from yuliu.wire.problems import Problem

_log = event_logger(__name__)

REREAD_S = 1.0
"""So soon a running server learns of keys that were made or revoked."""


class KeyRing:
    """The keys that a server knows, and what was used of each.

    Args:
        store: Where they are; was read.
        reread_s: How often is looked whether the file has changed, seconds.
    """

    def __init__(self, store: KeyStore, *, reread_s: float = REREAD_S) -> None:
        self._store = store
        self._reread_s = reread_s
        self._usages: dict[str, KeyUsage] = {}

    def guest(self, shown: str) -> tuple[ApiKey, Principal] | None:
        """Who shows this key; None if it is not known."""
        key = find_key(self._store.keys, shown)
        if key is None:
            return None
        usage = self._usages.setdefault(key.digest, KeyUsage())
        return key, Principal(functools.partial(self._now, key.digest), usage)

    async def follow(self) -> None:
        """Read the file again whenever it has changed, on a thread; until cancelled."""
        while True:
            await asyncio.to_thread(self._store.refresh)
            await asyncio.sleep(self._reread_s)

    def _now(self, digest: str) -> ApiKey | None:
        return next((key for key in self._store.keys if key.digest == digest), None)


class AuthMiddleware:
    """Lets in who has a key for the path, and tells the path who it is.

    Args:
        app: What is behind it.
        keys: Those that are known.
    """

    def __init__(self, app: ASGIApp, keys: KeyRing) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 401, 403 or 429 before anything of its body is read."""
        if scope["type"] not in ("http", "websocket") or scope["path"] in OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        problem = self._problem(scope)
        if problem is not None:
            _log.info("refused", id=request_id(scope), code=problem.code, status=problem.status)
            await problem_response(scope, problem)(scope, receive, send)
            return
        await self._app(scope, receive, _with_subprotocol(scope, send) if scope["type"] == "websocket" else send)

    def _problem(self, scope: Scope) -> Problem | None:
        """Why it is not let in; if it is, its guest is remembered."""
        shown = shown_key(headers_of(scope))
        found = None if shown is None else self._keys.guest(shown)
        if found is None:
            return key_missing(was_shown=shown is not None)
        key, guest = found
        needed = scope_of(scope["path"])
        if needed is not None and needed not in key.scopes:
            return scope_missing(needed)
        try:
            guest.request()
        except YuliuError as error:
            return problem_of(error)
        remember(scope, guest)
        _log.info("request", id=request_id(scope), key=key.name)
        return None


def _with_subprotocol(scope: Scope, send: Send) -> Send:
    """Browsers give a connection up that takes none of the subprotocols they named, and the key is in one."""
    if SUBPROTOCOL not in subprotocols(headers_of(scope)):
        return send

    async def accepting(message: Message) -> None:
        if message["type"] == "websocket.accept":
            message = {**message, "subprotocol": SUBPROTOCOL}
        await send(message)

    return accepting
