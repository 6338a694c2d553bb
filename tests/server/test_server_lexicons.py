"""Lexicons over HTTP: changes apply to the next stream."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx
import pytest
from serving import PATIENCE_S

from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine
from yuliu.lexicon_store import LexiconStore
from yuliu.server.app import create_app
from yuliu.server.config import AppConfig
from yuliu.synthesizer import Synthesizer
from yuliu.wire.lexicons import MAX_BODY_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from yuliu.engines.api import PlanOptions, Utterance
    from yuliu.types import Hint, Lang, Segment

JSON = {"Content-Type": "application/json"}
TSV = {"Content-Type": "text/tab-separated-values"}


class Listener(ToneEngine):
    """Engine that records its hints."""

    def __init__(self) -> None:
        super().__init__()
        self.hints: list[Hint] = []

    def plan(self, segment: Segment, options: PlanOptions) -> Utterance:
        """As the tone engine, which reads no text."""
        self.hints += segment.hints
        return super().plan(segment, options)


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
async def client(tmp_path: Path, listener: Listener) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an application whose lexicons are in a folder of the test."""

    def load() -> Synthesizer:
        workers: dict[Lang, str] = {"zh": "tone", "en": "tone"}
        return Synthesizer(
            [local_spec("tone", lambda: listener)],
            {"tone": workers},
            default="tone",
            lexicons=LexiconStore(tmp_path),
            num_workers=1,
        )

    app = create_app(load, AppConfig(lexicons=LexiconStore(tmp_path)))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=PATIENCE_S) as client:
            while (await client.get("/ready")).status_code != 200:
                await asyncio.to_thread(lambda: None)  # lets the loop hear of the thread that loads
            yield client


async def test_a_lexicon_is_made_read_changed_and_removed(client: httpx.AsyncClient) -> None:
    """Each response has the version in its tag and body."""
    path = "/v1/lexicons/games"
    assert (await client.get(path)).status_code == 404
    made = await client.put(path, content=b"SQL\tsequel\n", headers=TSV)
    assert (made.status_code, made.headers["etag"]) == (200, '"1"')
    added = await client.post(f"{path}/entries", json={"text": "TCP/IP", "reading": "T C P I P"})
    assert (added.json()["version"], len(added.json()["entries"])) == (2, 2)
    listed = await client.get("/v1/lexicons")
    assert listed.json() == {"lexicons": [{"name": "games", "version": 2, "entries": 2}]}
    gone = await client.delete(f"{path}/entries/tcp%2Fip")
    assert gone.json()["entries"] == [{"text": "SQL", "reading": "sequel"}]
    assert (await client.delete(f"{path}/entries/tcp%2Fip")).json()["error"]["code"] == "entry_not_found"
    removed = await client.delete(path)
    assert (removed.status_code, removed.content) == (204, b"")
    assert (await client.get(path)).json()["error"]["code"] == "unknown_lexicon"


@pytest.mark.parametrize(
    ("accept", "begins"),
    [("text/tab-separated-values", "text\t"), ("application/pls+xml", "<?xml"), ("*/*", "{")],
)
async def test_the_form_of_an_answer_is_chosen(client: httpx.AsyncClient, accept: str, begins: str) -> None:
    """The response is a table, PLS or JSON."""
    await client.put("/v1/lexicons/a", content=b"SQL\tsequel\n", headers=TSV)
    answer = await client.get("/v1/lexicons/a", headers={"Accept": accept})
    assert answer.text.startswith(begins)
    assert accept == "*/*" or answer.headers["content-type"].startswith(accept)


async def test_two_writers_are_kept_apart(client: httpx.AsyncClient) -> None:
    """A change of an older version is a 412 and has no effect."""
    path = "/v1/lexicons/a"
    await client.put(path, json=[], headers={"If-Match": '"0"'})
    await client.put(path, json={"entries": [{"text": "a", "reading": "b"}]}, headers={"If-Match": '"1"'})
    for answer in (
        await client.put(path, json=[], headers={"If-Match": '"1"'}),
        await client.post(f"{path}/entries", json=[], headers={"If-Match": '"1"'}),
        await client.delete(f"{path}/entries/a", headers={"If-Match": '"1"'}),
        await client.delete(path, headers={"If-Match": '"1"'}),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (412, "version_conflict")
    assert (await client.get(path)).json()["version"] == 2


@pytest.mark.parametrize(
    ("body", "headers", "says"),
    [
        (b"SQL sequel\n", TSV, "line 1: needs text and reading with a tab"),
        (b"a\tbad9\tpinyin\n", TSV, "entry 1: holds no pinyin"),
        (b"<!DOCTYPE x><lexicon/>", {"Content-Type": "application/pls+xml"}, "remove the DOCTYPE"),
        (b"{}", JSON, "entries[0]"),
        (b"[]", {"Content-Type": "text/plain"}, "Content-Type"),
        (b"[]", JSON | {"If-Match": "x"}, "If-Match"),
    ],
)
async def test_wrong_bodies_are_explained(
    client: httpx.AsyncClient, body: bytes, headers: dict[str, str], says: str
) -> None:
    """A wrong body is a 400 and creates nothing."""
    answer = await client.put("/v1/lexicons/a", content=body, headers=headers)
    assert answer.status_code == 400
    assert says in answer.json()["error"]["message"]
    assert (await client.get("/v1/lexicons/a")).status_code == 404


async def test_too_large_a_body_is_not_read(client: httpx.AsyncClient) -> None:
    """A too large body is a 413."""
    answer = await client.put("/v1/lexicons/a", content=b" " * (MAX_BODY_BYTES + 1), headers=TSV)
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "body_too_large")


@pytest.mark.parametrize("name", ["..%2Fa", "A", "a.b"])
async def test_names_cannot_leave_the_folder(client: httpx.AsyncClient, name: str) -> None:
    """Names that leave the folder are refused."""
    assert (await client.put(f"/v1/lexicons/{name}", json=[])).status_code in (400, 404)


async def test_a_change_is_heard_at_the_next_stream(client: httpx.AsyncClient, listener: Listener) -> None:
    """Global, named and inline entries apply to their streams."""
    speech = {"input": "SQL and GIF."}
    assert (await client.post("/v1/audio/speech", json=speech)).status_code == 200
    await client.post("/v1/lexicons/default/entries", json={"text": "SQL", "reading": "sequel"})
    await client.post("/v1/lexicons/named/entries", json={"text": "SQL", "reading": "S Q L"})
    listener.hints.clear()
    await client.post("/v1/audio/speech", json=speech)
    await client.post("/v1/audio/speech", json=speech | {"lexicon": "named"})
    await client.post("/v1/audio/speech", json=speech | {"lexicon": ["named"], "lexicon_entries": {"GIF": "jiff"}})
    assert [hint.value for hint in listener.hints] == ["sequel", "S Q L", "S Q L", "jiff"]


async def test_an_unknown_lexicon_is_a_400_that_names_the_field(client: httpx.AsyncClient) -> None:
    """An unknown lexicon is a 400."""
    answer = await client.post("/v1/audio/speech", json={"input": "hi", "lexicon": "nothing"})
    assert answer.status_code == 400
    assert (answer.json()["error"]["code"], answer.json()["error"]["param"]) == ("unknown_lexicon", "lexicon")
