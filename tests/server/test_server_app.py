"""Paths beside speech, loading, and the Host check."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from serving import PATIENCE_S, serving, tone_synthesizer

from yuliu.engines.tone import ToneEngine
from yuliu.errors import VoiceNotReady
from yuliu.server.app import create_app
from yuliu.server.config import AppConfig
from yuliu.wire.openai import MODELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from yuliu.synthesizer import Synthesizer


class SlowLoad:
    """A load that waits for the test."""

    def __init__(self, error: Exception | None = None) -> None:
        self.engine = ToneEngine()
        self._error = error
        self._go = threading.Event()

    def __call__(self) -> Synthesizer:
        assert self._go.wait(PATIENCE_S)
        if self._error is not None:
            raise self._error
        return tone_synthesizer(self.engine)

    def go(self) -> None:
        self._go.set()


def get_until(client: httpx.Client, path: str, accept: Callable[[httpx.Response], bool]) -> httpx.Response:
    for _ in range(5_000):
        answer = client.get(path)
        if accept(answer):
            return answer
    raise AssertionError("the answer never changed")


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    """A client of a server that is ready."""
    with (
        serving(lambda: tone_synthesizer(ToneEngine())) as port,
        httpx.Client(base_url=f"http://localhost:{port}") as client,
    ):
        get_until(client, "/ready", lambda answer: answer.status_code == 200)
        yield client


def test_the_port_is_open_while_voices_load() -> None:
    """The server answers from the start; paths that need a voice answer 503."""
    load = SlowLoad()
    with serving(load) as port, httpx.Client(base_url=f"http://localhost:{port}") as client:
        assert client.get("/health").status_code == 200
        for path in ("/ready", "/v1/models", "/v1/audio/voices"):
            answer = client.get(path)
            assert (answer.status_code, answer.json()["error"]["code"]) == (503, "voice_not_ready")
            assert int(answer.headers["retry-after"]) >= 1
        assert client.post("/v1/audio/speech", json={"input": "hi"}).status_code == 503
        load.go()
        get_until(client, "/ready", lambda answer: answer.status_code == 200)
        assert client.post("/v1/audio/speech", json={"input": "hi"}).status_code == 200


def test_the_synthesizer_is_closed_at_the_end() -> None:
    """Engines are released when the server stops, also while loading."""
    load = SlowLoad()
    with serving(load):
        load.go()
    assert load.engine.closed


@pytest.mark.parametrize(
    ("error", "says"),
    [(VoiceNotReady("run 'yuliu voices pull'"), "run 'yuliu"), (ValueError("a path"), "server's log")],
)
def test_a_failed_load_is_reported(error: Exception, says: str) -> None:
    """The server never becomes ready, and reports reasons meant for clients."""
    load = SlowLoad(error)
    with serving(load) as port, httpx.Client(base_url=f"http://localhost:{port}") as client:
        load.go()
        answer = get_until(client, "/ready", lambda answer: "being loaded" not in answer.text)
        assert answer.status_code == 503
        assert says in answer.json()["error"]["message"]
        assert "a path" not in answer.text


def test_models_and_voices_are_listed(client: httpx.Client) -> None:
    """The lists have all models and voices."""
    models = client.get("/v1/models").json()["data"]
    assert [model["id"] for model in models] == [*MODELS, "tone"]
    assert client.get("/v1/models/tone").json()["id"] == "tone"
    voice = {"id": "tone", "name": "tone", "languages": ["zh", "en"], "sample_rate": 24_000, "default": True}
    assert client.get("/v1/audio/voices").json() == {"voices": [voice]}
    assert client.get("/v1/audio/voices?format=names").json() == {"voices": ["tone"]}


@pytest.mark.parametrize("path", ["/", "/v1/audio/speech/", "/v1/nothing", "/v1/models/nothing", "/%ff", "//"])
def test_an_unknown_path_is_a_404_in_the_envelope(client: httpx.Client, path: str) -> None:
    """An unknown path is a 404 in the envelope, without a redirect."""
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] in ("not_found", "model_not_found")


@pytest.mark.parametrize("path", ["/health", "/ready", "/v1/models", "/v1/audio/voices"])
def test_a_wrong_method_is_a_405_in_the_envelope(client: httpx.Client, path: str) -> None:
    """A read-only path refuses POST."""
    answer = client.post(path)
    assert answer.status_code == 405
    assert "GET" in answer.headers["allow"]
    assert answer.json()["error"]["code"] == "method_not_allowed"


@pytest.mark.parametrize("path", ["/health", "/ready"])
def test_probes_may_use_head(client: httpx.Client, path: str) -> None:
    """A probe that needs no body gets the same status."""
    assert client.head(path).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8000", 200),
        ("tts.localhost:1", 200),
        ("127.0.0.1", 200),
        ("127.9.9.9:8000", 200),
        ("[::1]:8000", 200),
        ("yuliu.example", 421),
        ("localhost.yuliu.example", 421),
        ("127.0.0.1.yuliu.example", 421),
        ("10.0.0.1:8000", 421),
        ("[::2]", 421),
        ("", 421),
        ("[", 421),
    ],
)
async def test_only_loopback_names_are_answered(host: str, status: int) -> None:
    """Only loopback names are accepted in the Host header."""
    answer = await get_health(host)
    assert answer.status_code == status
    if status == 421:
        assert answer.json()["error"]["code"] == "misdirected_request"


@pytest.mark.parametrize(
    ("allowed", "host"),
    [
        ("Box.Example", "box.example"),
        ("box.example", "BOX.example:8000"),
        ("box.example:443", "box.example"),
        ("10.0.0.1:8000", "10.0.0.1:8000"),
        ("FE80::1", "[fe80::1]:8000"),
        ("[fe80::1]:8000", "[FE80::1]"),
    ],
)
async def test_names_are_allowed_however_they_are_written(allowed: str, host: str) -> None:
    """Names have no case, and a port beside one does not matter."""
    assert (await get_health(host, hosts={allowed})).status_code == 200
    assert (await get_health(f"x{host}", hosts={allowed})).status_code == 421


async def test_names_can_be_allowed() -> None:
    """A proxy's name may be allowed, or all names."""
    assert (await get_health("yuliu.example:80", hosts={"yuliu.example"})).status_code == 200
    assert (await get_health("other.example", hosts={"yuliu.example"})).status_code == 421
    assert (await get_health("other.example", hosts=None)).status_code == 200


async def get_health(host: str, **options: Any) -> httpx.Response:
    app = create_app(lambda: tone_synthesizer(ToneEngine()), AppConfig(**options))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        return await client.get("/health", headers={"Host": host})
