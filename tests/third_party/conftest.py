"""Servers for the third-party clients."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from chromium import pages
from serving import PATIENCE_S, running_server, serving
from third_party_clients import THIRD_PARTY

import yuliu
from yuliu.access import KeyRing
from yuliu.access.key_store import KeyStore
from yuliu.wire.keys import ApiKey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from serving import Running

    from yuliu.synthesizer import Synthesizer

Address = tuple[str, str]
"""Base URL and key for a client."""
KEYS: list[tuple[str, dict[str, Any]]] = [("scope", {"scopes": ("metrics",)}), ("busy", {"per_minute": 1})]
"""A key without the scope for speech, and one for a single request a minute."""


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    """An ordinary server, shared by the tests of a file."""
    with running_server() as server:
        yield server


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    """Origin of the web page of the tests; under the name ``localhost`` it is another origin."""
    with pages(THIRD_PARTY / "page") as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def voices(origin: str) -> Iterator[tuple[str, Synthesizer]]:
    """URL and synthesizer of a server with the real voices, shared by the tests of a file."""
    synthesizer = yuliu.open()
    with (
        serving(lambda: synthesizer, origins=[origin]) as port,
        httpx.Client(base_url=f"http://127.0.0.1:{port}") as client,
    ):
        deadline_s = time.monotonic() + PATIENCE_S
        while client.get("/ready").status_code != 200:
            assert time.monotonic() < deadline_s
        yield str(client.base_url).rstrip("/"), synthesizer


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Address]]:
    """Servers that refuse or fail, with the key that shows it: ``key``, ``scope``, ``busy``, ``failing``."""
    store = KeyStore(tmp_path_factory.mktemp("keys"))
    shown = {name: store.add(partial(ApiKey, name, **terms)) for name, terms in KEYS}
    with (
        running_server(app={"keys": KeyRing(store)}) as locked,
        running_server(fail_steps=frozenset(range(1_000))) as failing,
    ):
        locked.client.get("/v1/models", headers={"Authorization": f"Bearer {shown['busy']}"})
        servers = {"key": locked, "scope": locked, "busy": locked, "failing": failing}
        yield {name: (f"{server.url}/v1", shown.get(name, "wrong")) for name, server in servers.items()}


@pytest.fixture
def cut() -> Iterator[Running]:
    """A server that fails after at least 1 s of audio."""
    with running_server(fail_steps=frozenset({3, 4})) as server:
        yield server
