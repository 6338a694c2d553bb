"""Access of web pages, and CORS."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from native import talking
from serving import Running, running_server
from websockets.exceptions import InvalidStatus

from yuliu.access import KeyRing
from yuliu.access.key_store import KeyStore
from yuliu.errors import InvalidRequest
from yuliu.server.middleware.cors import checked_origin
from yuliu.server.routes import ROUTES
from yuliu.wire.keys import ApiKey

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GOOD, EVIL = "https://good.example", "https://evil.example"
PATHS = [route.path for route in ROUTES]
SPEECH = "/v1/audio/speech"


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    with running_server(app={"origins": [GOOD]}) as running:
        yield running


def preflight(running: Running, origin: str, **headers: str) -> Any:
    asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
    return running.client.options(SPEECH, headers=asked | headers)


@pytest.mark.parametrize(
    "origin", [EVIL, "null", "http://good.example", f"{GOOD}:444", f"{GOOD}.evil.example", "x://["]
)
def test_other_pages_are_refused_on_every_path(running: Running, origin: str) -> None:
    """Requests and preflights of other pages are refused and unreadable."""
    for path in PATHS:
        answer = running.client.get(
            path.replace("{name}", "tone").replace("{text:path}", "a"), headers={"Origin": origin}
        )
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "origin_not_allowed"), path
        assert "access-control-allow-origin" not in answer.headers
    assert preflight(running, origin).status_code == 403
    with pytest.raises(InvalidStatus) as refused, talking(running.port, origin=origin):
        pass
    assert refused.value.response.status_code == 403


def test_allowed_pages_can_send_and_read(running: Running) -> None:
    """Preflights are answered, and responses can be read with their headers."""
    before = preflight(running, GOOD, **{"Access-Control-Request-Headers": "authorization,content-type,x-yuliu-class"})
    assert before.status_code == 204
    assert before.headers["access-control-allow-origin"] == GOOD
    assert "POST" in before.headers["access-control-allow-methods"]
    assert before.headers["access-control-allow-headers"] == "authorization,content-type,x-yuliu-class"
    assert before.headers["vary"] == "Origin"
    body = {"input": "Hello.", "response_format": "pcm"}
    answer = running.client.post(SPEECH, json=body, headers={"Origin": GOOD})
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == GOOD
    assert {"x-sample-rate", "x-request-id"} <= set(answer.headers["access-control-expose-headers"].split(", "))
    assert "Origin" in answer.headers["vary"]
    wrong = running.client.post(SPEECH, json={}, headers={"Origin": GOOD})
    assert (wrong.status_code, wrong.headers["access-control-allow-origin"]) == (400, GOOD)
    with talking(running.port, origin=GOOD) as talk:
        talk.speak("Hello.")
        talk.until("done")


def test_pages_of_other_servers_on_this_machine_are_others(running: Running) -> None:
    """Another port, scheme or name is another origin."""
    for origin in (f"http://127.0.0.1:{running.port + 1}", "http://127.0.0.1", f"http://localhost:{running.port}"):
        assert running.client.get("/v1/models", headers={"Origin": origin}).status_code == 403
        assert preflight(running, origin).status_code == 403
        with pytest.raises(InvalidStatus) as refused, talking(running.port, origin=origin):
            pass
        assert refused.value.response.status_code == 403


def test_own_pages_and_other_programs_are_allowed(running: Running) -> None:
    """The server's own origin is allowed, and so are requests without an origin."""
    assert running.client.get("/v1/models", headers={"Origin": running.url}).status_code == 200
    answer = running.client.get("/v1/models")
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


def test_an_options_request_that_is_no_preflight_is_a_405(running: Running) -> None:
    """An OPTIONS request that is not a preflight gets 405."""
    for headers in ({}, {"Origin": GOOD}):
        assert running.client.options(SPEECH, headers=headers).status_code == 405


def test_odd_names_of_headers_are_not_repeated(running: Running) -> None:
    """Only valid header names are echoed."""
    answer = preflight(running, GOOD, **{"Access-Control-Request-Headers": "a<b"})
    assert answer.status_code == 204
    assert "access-control-allow-headers" not in answer.headers


def test_preflights_need_no_key_and_refusals_can_be_read(tmp_path: Path) -> None:
    """Preflights need no key, and a page can read that its key is wrong."""
    store = KeyStore(tmp_path)
    store.add(lambda digest: ApiKey("one", digest))
    with running_server(app={"origins": [GOOD], "keys": KeyRing(store)}) as running:
        assert preflight(running, GOOD).status_code == 204
        assert preflight(running, EVIL).status_code == 403
        answer = running.client.get("/v1/models", headers={"Origin": GOOD})
        assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (401, GOOD)


@pytest.mark.parametrize(
    ("given_as", "origin"),
    [
        ("https://Example.org/", "https://example.org"),
        ("http://127.0.0.1:5173", "http://127.0.0.1:5173"),
        ("http://[::1]:80", "http://[::1]:80"),
        ("chrome-extension://abcdef", "chrome-extension://abcdef"),
    ],
)
def test_origins_as_people_write_them(given_as: str, origin: str) -> None:
    """Origins are normalised as browsers send them."""
    assert checked_origin(given_as) == origin


@given(st.sampled_from(["*", "null", "https://", "https://a/b", "https://*.a", "https://a b"]) | st.text())
def test_an_invalid_origin_is_refused(text: str) -> None:
    """An invalid origin is an error; there is no wildcard."""
    if re.fullmatch(r"[a-z][a-z0-9+.-]*://[a-z0-9._:\[\]-]+", text.lower().rstrip("/")) is None:
        with pytest.raises(InvalidRequest, match="origin"):
            checked_origin(text)
