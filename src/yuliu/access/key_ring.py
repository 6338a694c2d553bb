"""The keys that a server accepts, and the principals that they stand for."""

from __future__ import annotations

import asyncio
import functools
from enum import Enum
from typing import TYPE_CHECKING

from yuliu.access.principal import Principal
from yuliu.access.quotas import KeyUsage
from yuliu.errors import YuliuError
from yuliu.wire.keys import SCOPES, find_key

if TYPE_CHECKING:
    from yuliu.access.key_store import KeyStore
    from yuliu.wire.keys import ApiKey

REREAD_S = 1.0
"""Interval at which a running server looks for keys that were made or revoked."""


class Exempt(Enum):
    """Access rules beside scopes. A route has to choose one of them by name."""

    ANY_KEY = "any key"
    """Every key may use the route."""
    NO_KEY = "no key"
    """The route is public, as probes need it."""


Access = str | Exempt
"""Access rule of a route: a name from :data:`yuliu.wire.keys.SCOPES`, or an exemption."""


class KeyMissing(YuliuError):
    """No key was shown, or none that is known.

    Args:
        was_shown: Whether there was one.
    """

    code = "invalid_api_key"

    def __init__(self, *, was_shown: bool) -> None:
        super().__init__("this key is not known, or was revoked" if was_shown else "this server requires an API key")
        self.was_shown = was_shown


class ScopeMissing(YuliuError):
    """The key is known, but does not have the scope of the route.

    Args:
        scope: The scope that is missing.
    """

    code = "insufficient_scope"

    def __init__(self, scope: str) -> None:
        super().__init__(f"this key has no scope {scope!r}")
        self.scope = scope


def check_access(access: Access) -> None:
    """Refuse what is no access rule.

    Raises:
        ValueError: It is neither a scope nor an exemption.
    """
    if not isinstance(access, Exempt) and access not in SCOPES:
        raise ValueError(f"{access!r} is no access rule; use one of {', '.join(SCOPES)}, or an Exempt")


class KeyRing:
    """The keys that a server accepts, and what was used of each.

    Args:
        store: Keeps the keys; has been read.
        reread_s: Interval at which the store is checked for changes, seconds.
    """

    def __init__(self, store: KeyStore, *, reread_s: float = REREAD_S) -> None:
        self._store = store
        self._reread_s = reread_s
        self._usages: dict[str, KeyUsage] = {}

    def authorise(self, shown: str | None, access: Access) -> Principal:
        """Return the principal that a key stands for, and count the request.

        Args:
            shown: The key; None if the client showed none.
            access: Access rule of the route.

        Raises:
            KeyMissing: The key is missing or not known.
            ScopeMissing: The key has not the scope.
            QuotaExceeded: There were too many requests with the key.
        """
        check_access(access)
        if access is Exempt.NO_KEY:
            return Principal()
        key = None if shown is None else find_key(self._store.keys, shown)
        if key is None:
            raise KeyMissing(was_shown=shown is not None)
        if access is not Exempt.ANY_KEY and access not in key.scopes:
            raise ScopeMissing(str(access))
        usage = self._usages.setdefault(key.digest, KeyUsage())
        principal = Principal(functools.partial(self._find, key.digest), usage, name=key.name)
        principal.request()
        return principal

    async def follow(self) -> None:
        """Read the store again whenever it has changed, on a thread; until cancelled."""
        while True:
            await asyncio.to_thread(self._store.refresh)
            await asyncio.sleep(self._reread_s)

    def _find(self, digest: str) -> ApiKey | None:
        return next((key for key in self._store.keys if key.digest == digest), None)
