"""A server that requires API keys."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from serving import Running, running_server

from yuliu.access import KeyRing
from yuliu.access.key_store import KeyStore
from yuliu.server.routes import ROUTES
from yuliu.wire.keys import ApiKey

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import httpx

    from yuliu.server.routing import Route


class KeyedServer:
    """A server that requires API keys."""

    def __init__(self, running: Running, store: KeyStore) -> None:
        self.running = running
        self.store = store

    def key(self, name: str = "one", **terms: Any) -> dict[str, str]:
        """Create a key and return the header that holds it."""
        shown = self.store.add(lambda digest: ApiKey(name, digest, **terms))
        return {"Authorization": f"Bearer {shown}"}

    def ask(self, method: str, path: str, headers: dict[str, str], **request: Any) -> httpx.Response:
        return self.running.client.request(method, path, headers=headers, **request)

    def speak(self, text: str, headers: dict[str, str], **fields: Any) -> httpx.Response:
        body = {"input": text, "response_format": "pcm", **fields}
        return self.ask("POST", "/v1/audio/speech", headers, json=body)


@contextmanager
def keyed_server(folder: Path, *, routes: Iterable[Route] = ROUTES, **server: Any) -> Iterator[KeyedServer]:
    store = KeyStore(folder)
    app = {"keys": KeyRing(store, reread_s=0.01), "routes": routes}
    with running_server(app=app, **server) as running:
        yield KeyedServer(running, store)


def code_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]
