"""API keys on HTTP and WebSockets: authentication, scopes and quotas."""

from __future__ import annotations

import itertools
import json
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NoReturn

import openai
import pytest
from keyed_server import KeyedServer, code_of, keyed_server
from native import LONG, talking
from serving import short_answer
from websockets.exceptions import InvalidStatus

from yuliu.access import Exempt, KeyStore
from yuliu.access.principal import Principal
from yuliu.errors import Overloaded
from yuliu.server.limits import Limits
from yuliu.server.routes import ROUTES
from yuliu.server.routing import WEBSOCKET
from yuliu.stream import StreamOptions
from yuliu.wire.keys import SCOPES, ApiKey
from yuliu.wire.synthesis_options import FIELDS, SynthesisOptions

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


PATHS = sorted({route.path for route in ROUTES})
OPEN_PATHS = {route.path for route in ROUTES if route.access is Exempt.NO_KEY}
METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS")
BAD: list[dict[str, str]] = [
    {},
    {"Authorization": "Bearer yuliu_wrong"},
    {"Authorization": "Basic eXVsaXU6eXVsaXU="},
    {"Authorization": "Bearer"},
    {"X-API-Key": "yuliu_wrong"},
    {"X-API-Key": "x" * 5000},
    {"Sec-WebSocket-Protocol": "yuliu, yuliu.key.yuliu_wrong"},
]
HANDSHAKE = (
    "GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{}\r\n"
)


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[KeyedServer]:
    with keyed_server(tmp_path) as locked:
        yield locked


def test_no_path_lets_a_bad_key_in(locked: KeyedServer) -> None:
    """Every route, method and unknown path answers 401 in the envelope; only probes need no key."""
    locked.key()
    assert {"/v1/audio/speech", "/v1/stream", "/metrics", "/v1/lexicons/{name}"} <= set(PATHS)
    paths = [path.replace("{name}", "tone").replace("{text:path}", "a/b") for path in PATHS]
    for path in [*paths, "/", "/nothing", "/v1/stream/", "//v1/models", "/health/", "/healthy", "/%68ealth/x"]:
        for method, headers in itertools.product(METHODS, BAD):
            answer = locked.ask(method, path, headers)
            if path in OPEN_PATHS:
                assert answer.status_code in (200, 405), path
                continue
            assert answer.status_code == 401, (method, path)
            assert answer.headers["www-authenticate"].startswith("Bearer")
            assert answer.headers["x-request-id"]
            if method != "HEAD":
                assert answer.json()["error"]["code"] == "invalid_api_key"
    for headers in BAD:
        assert code_of(locked.speak("Hello.", headers)) == (401, "invalid_api_key")


def test_a_key_opens_what_its_scopes_say(tmp_path: Path) -> None:
    """A route that needs a scope answers 403 without it, and with it whatever it has to say."""
    with keyed_server(tmp_path) as locked:
        by_scope = {scope: locked.key(scope, scopes=(scope,)) for scope in SCOPES}
        for route, (scope, headers) in itertools.product(ROUTES, by_scope.items()):
            path = route.path.replace("{name}", "tone").replace("{text:path}", "a")
            methods = [each for each in route.methods if each != WEBSOCKET]
            for method in ("GET", *methods):
                answer = locked.ask(method, path, headers, content=b"{")
                if route.access in (*Exempt, scope):
                    assert answer.status_code not in (401, 403), (path, method, scope)
                else:
                    assert code_of(answer) == (403, "insufficient_scope"), (path, method, scope)
                    assert f'scope="{route.access}"' in answer.headers["www-authenticate"]


def test_routes_without_a_scope_say_so() -> None:
    """The list of exempt routes is explicit."""
    assert {"/health", "/ready"} == OPEN_PATHS
    any_key = {route.path for route in ROUTES if route.access is Exempt.ANY_KEY}
    reference = {"/openapi.json", "/asyncapi.json", "/docs"}
    assert any_key == {"/v1/models", "/v1/models/{name}", "/v1/audio/voices", "/v1/presets", *reference}


def test_no_spelling_of_a_path_needs_less(locked: KeyedServer) -> None:
    """Every spelling that the router accepts needs the scope of the path; others are not found."""
    headers = locked.key()
    for path in ("/%6Detrics", "/metrics?a", "/metrics#a"):
        assert code_of(locked.ask("GET", path, headers)) == (403, "insufficient_scope"), path
    for path in ("/metrics%0A", "/v1/stats%0a", "/v1/phrases%0A", "/v1/lexicons%0A"):
        assert code_of(locked.ask("GET", path, headers)) == (404, "not_found"), path


def test_a_key_may_be_sent_in_either_header(locked: KeyedServer) -> None:
    """OpenAI's client can show a key, and raises its own error without one."""
    headers = locked.key()
    shown = headers["Authorization"].removeprefix("Bearer ")
    assert locked.speak("Hello.", headers).status_code == 200
    assert locked.speak("Hello.", {"X-API-Key": shown}).status_code == 200
    asked: dict[str, Any] = {"model": "tts-1", "voice": "alloy", "input": "Hello.", "response_format": "pcm"}
    for given, raised in ((shown, None), ("yuliu_wrong", openai.AuthenticationError)):
        with openai.OpenAI(base_url=f"{locked.running.url}/v1", api_key=given, max_retries=0) as client:
            if raised is None:
                assert client.audio.speech.create(**asked).content
            else:
                with pytest.raises(raised):
                    client.audio.speech.create(**asked)


def test_new_and_revoked_keys_are_noticed(locked: KeyedServer) -> None:
    """The server notices both; a running stream is spoken to its end."""
    KeyStore(locked.store.path.parent).add(lambda digest: ApiKey("other", digest))
    locked.running.wait_until(lambda: len(locked.store.keys) == 1)
    headers = locked.key()
    with locked.running.client.stream(
        "POST", "/v1/audio/speech", json={"input": LONG[:500], "response_format": "pcm"}, headers=headers
    ) as answer:
        locked.store.revoke("one")
        sound = b"".join(answer.iter_raw())
    assert len(sound) > 48_000
    assert code_of(locked.speak("Hello.", headers)) == (401, "invalid_api_key")


def test_no_key_is_ever_logged(locked: KeyedServer, caplog: pytest.LogCaptureFixture) -> None:
    """Neither valid nor invalid keys are logged; names of valid ones are."""
    headers = locked.key("phone")
    shown = headers["Authorization"].removeprefix("Bearer ")
    with caplog.at_level(logging.DEBUG):
        locked.speak("Hello.", headers)
        locked.speak("Hello.", {"X-API-Key": "yuliu_secret_of_others"})
        with talking(locked.running.port, subprotocols=["yuliu", f"yuliu.key.{shown}"]) as talk:
            talk.speak("Hello.")
            talk.until("done")
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith(("yuliu", "uvicorn")))
    assert "key=phone" in ours
    assert shown not in ours
    assert "secret" not in ours
    assert locked.store.keys[0].digest not in ours


def test_metrics_name_no_keys(locked: KeyedServer) -> None:
    """The metrics do not identify clients."""
    assert locked.speak("Hello.", locked.key("phone")).status_code == 200
    metrics = locked.ask("GET", "/metrics", locked.key("prometheus", scopes=("metrics",)))
    assert metrics.status_code == 200
    assert "phone" not in metrics.text


def test_requests_a_minute(locked: KeyedServer) -> None:
    """The quota covers all requests of a key; the error is 429 in OpenAI's form."""
    headers, others = locked.key(per_minute=2), locked.key("two")
    assert [locked.ask("GET", "/v1/models", headers).status_code for _ in range(2)] == [200, 200]
    answer = locked.speak("Hello.", headers)
    assert code_of(answer) == (429, "quota_exceeded")
    assert answer.json()["error"]["type"] == "rate_limit_error"
    assert 1 <= int(answer.headers["retry-after"]) <= 30
    assert locked.speak("Hello.", others).status_code == 200


def test_characters_a_day(locked: KeyedServer) -> None:
    """The quota covers all endpoints; a text is spoken whole or not at all."""
    headers = locked.key(characters=20, scopes=("speak", "phrases"))
    assert locked.speak("Hello there.", headers).status_code == 200
    answer = locked.speak("Good evening.", headers)
    assert code_of(answer) == (429, "quota_exceeded")
    assert "8 are left" in answer.json()["error"]["message"]
    assert code_of(locked.ask("POST", "/v1/phrases", headers, json={"phrases": ["Good evening."]})) == (
        429,
        "quota_exceeded",
    )
    with talking(locked.running.port, additional_headers=headers) as talk:
        talk.say("start")
        talk.say("text", text="Good evening.")
        while not (errors := talk.told("error")):
            talk.next()
        assert errors[0]["code"] == "quota_exceeded"
        assert errors[0]["retry_after_s"] > 0
    assert locked.speak("Bye.", headers).status_code == 200


def test_characters_that_could_not_be_carried_do_not_count(tmp_path: Path) -> None:
    """A text that was refused for lack of capacity is not charged."""
    with keyed_server(tmp_path, limits=Limits(max_streams=0)) as locked:
        headers = locked.key(characters=12)
        for _ in range(3):
            assert code_of(locked.speak("Hello there.", headers)) == (429, "overloaded")


def test_characters_of_phrases_that_could_not_be_spoken_do_not_count(
    locked: KeyedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Phrases that were refused are not charged."""
    headers = locked.key(characters=12, scopes=("phrases",))
    body = {"phrases": ["Hello there."]}

    def refuse(*_: object, **__: object) -> NoReturn:
        raise Overloaded("not now", retry_after_s=1.0)

    with monkeypatch.context() as patched:
        patched.setattr(locked.running.synthesizer, "pin", refuse)
        for _ in range(3):
            assert code_of(locked.ask("POST", "/v1/phrases", headers, json=body)) == (429, "overloaded")
    assert locked.ask("POST", "/v1/phrases", headers, json=body).status_code == 200
    assert code_of(locked.ask("POST", "/v1/phrases", headers, json=body)) == (429, "quota_exceeded")


def test_streams_at_a_time(locked: KeyedServer) -> None:
    """The quota covers all endpoints; a stream that ends frees its place."""
    headers = locked.key(streams=2)
    locked.running.gate.close()
    with talking(locked.running.port, additional_headers=headers) as talk, ThreadPoolExecutor() as pool:
        talk.speak("Hello there.")
        talk.until("started")
        speaking = pool.submit(locked.speak, "Hello there.", headers)
        locked.running.wait_until(lambda: locked.running.synthesizer.num_streams == 2)
        assert code_of(locked.speak("Hello.", headers)) == (429, "quota_exceeded")
        talk.say("start", "b")
        while not (errors := talk.told("error", "b")):
            talk.next()
        assert errors[0]["code"] == "quota_exceeded"
        locked.running.gate.open()
        assert speaking.result().status_code == 200
        talk.until("done")
    locked.running.wait_until(lambda: locked.running.synthesizer.num_streams == 0)
    for _ in range(3):
        assert locked.speak("Hello.", headers).status_code == 200


def test_contexts_of_a_socket_are_requests(locked: KeyedServer) -> None:
    """The first context is part of the handshake; further ones count as requests."""
    with talking(locked.running.port, additional_headers=locked.key(per_minute=2)) as talk:
        for name in ("a", "b"):
            talk.speak("Hello.", name)
            talk.until("done", name)
        talk.say("start", "c")
        while not (errors := talk.told("error", "c")):
            talk.next()
        assert errors[0]["code"] == "quota_exceeded"


def test_websockets_need_keys_too(locked: KeyedServer) -> None:
    """Without a key the handshake is refused; browsers send it as a subprotocol."""
    locked.key("phrases", scopes=("phrases",))
    for headers in BAD[:3]:
        with pytest.raises(InvalidStatus) as refused, talking(locked.running.port, additional_headers=headers):
            pass
        assert refused.value.response.status_code == 401
        assert refused.value.response.headers["WWW-Authenticate"].startswith("Bearer")
    shown = locked.key()["Authorization"].removeprefix("Bearer ")
    with talking(locked.running.port, subprotocols=["yuliu", f"yuliu.key.{shown}"]) as talk:
        assert talk.ws.subprotocol == "yuliu"
        talk.speak("Hello.")
        talk.until("done")
    with pytest.raises(InvalidStatus) as refused, talking(locked.running.port, subprotocols=["yuliu", "yuliu.key.x"]):
        pass
    assert refused.value.response.status_code == 401


def test_no_path_opens_a_websocket_for_a_bad_key(locked: KeyedServer) -> None:
    """A handshake on any path, served or not, answers 401."""
    locked.key()
    for path in [*PATHS, "/", "/nothing", "/v1/stream/", "/v1/stream%0A"]:
        if path in OPEN_PATHS:
            continue
        for headers in BAD:
            shown = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
            with locked.running.connect() as raw:
                raw.sendall(HANDSHAKE.format(path.replace("{", "").replace("}", ""), shown).encode())
                assert raw.recv(65_536).startswith(b"HTTP/1.1 401 "), (path, headers)


def test_a_revoked_key_opens_no_further_context(locked: KeyedServer) -> None:
    """Open sockets and contexts take no more text after a revocation."""
    with talking(locked.running.port, additional_headers=locked.key()) as talk:
        talk.say("start", "a")
        talk.until("started", "a")
        locked.store.revoke("one")
        talk.say("text", "a", text="Hello.")
        talk.say("start", "b")
        for name in ("a", "b"):
            while not (errors := talk.told("error", name)):
                talk.next()
            assert errors[0]["code"] == "not_allowed"


def test_text_in_a_body_is_bounded_too(locked: KeyedServer) -> None:
    """``POST /v1/stream`` answers 429 if no audio was sent yet."""
    headers = locked.key(characters=20, per_minute=2) | {"Content-Type": "text/plain"}
    assert locked.ask("POST", "/v1/stream", headers, content=b"Hello there.").status_code == 200
    assert code_of(locked.ask("POST", "/v1/stream", headers, content=b"Good evening.")) == (429, "quota_exceeded")
    answer = locked.ask("POST", "/v1/stream", headers, content=b"Bye.")
    assert "requests a minute" in answer.json()["error"]["message"]


def test_a_stream_is_resumed_with_its_own_key(locked: KeyedServer) -> None:
    """The id of another key's stream is not enough to resume it."""
    mine, others = locked.key(), locked.key("two")
    locked.running.gate.close()
    with talking(locked.running.port, additional_headers=mine) as talk:
        talk.speak("Hello there.")
        stream = talk.until("started")["stream"]
        with talking(locked.running.port, additional_headers=others) as thief:
            thief.say("resume", stream=stream, offset=0, seq=0)
            while not (errors := thief.told("error")):
                thief.next()
            assert errors[0]["code"] == "not_resumable"
        with talking(locked.running.port, additional_headers=mine) as again:
            again.say("resume", stream=stream, offset=0, seq=0)
            locked.running.gate.open()
            again.until("done")


@pytest.mark.parametrize(
    ("terms", "asked", "got"),
    [
        ({}, {"class": "interactive"}, "interactive"),
        ({}, {}, "standard"),
        ({"default_class": "bulk"}, {}, "bulk"),
        ({"default_class": "bulk"}, {"class": "interactive"}, "interactive"),
        ({"default_class": "bulk"}, {"preset": "dialogue"}, "interactive"),
        ({"highest_class": "standard"}, {"class": "interactive"}, "standard"),
        ({"highest_class": "standard"}, {"preset": "dialogue"}, "standard"),
        ({"highest_class": "standard"}, {"class": "bulk"}, "bulk"),
        ({"highest_class": "bulk", "default_class": "interactive"}, {}, "bulk"),
    ],
)
def test_classes_of_a_key(
    locked: KeyedServer, caplog: pytest.LogCaptureFixture, terms: dict[str, Any], asked: dict[str, str], got: str
) -> None:
    """The key sets the default class and caps the requested one, on both endpoints."""
    assert set(asked) <= set(FIELDS)
    headers = locked.key(**terms)
    with caplog.at_level(logging.INFO):
        assert locked.speak("Hello.", headers, **asked).status_code == 200
        with talking(locked.running.port, additional_headers=headers) as talk:
            talk.speak("Hello.", **asked)
            talk.until("done")
        locked.running.wait_until(lambda: caplog.text.count(" class=") == 2)
    assert caplog.text.count(f" class={got} ") == 2


@pytest.mark.parametrize(
    ("of_key", "asked", "got"), [(4.0, None, 4.0), (4.0, 10, 4.0), (4.0, 0.5, 2.0), (1.0, 10, 1.0)]
)
def test_the_weight_of_a_key(of_key: float, asked: float | None, got: float) -> None:
    """A request can lower the weight, not raise it."""
    key = ApiKey("one", "0" * 64, weight=of_key)
    manner = SynthesisOptions() if asked is None else SynthesisOptions(weight=asked)
    granted = Principal(lambda: key).granted(StreamOptions(), manner)
    assert granted.terms.weight == got


def test_bodies_without_a_key_are_not_read(locked: KeyedServer) -> None:
    """The request is refused before its body is read."""
    locked.key()
    raw = locked.running.connect()
    raw.sendall(b"POST /v1/audio/speech HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n")
    head, _, body = short_answer(raw).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 401 ")
    assert json.loads(body)["error"]["code"] == "invalid_api_key"
