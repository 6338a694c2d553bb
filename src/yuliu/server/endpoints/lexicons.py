"""``/v1/lexicons``: reading and changing lexicons while the server runs; streams that begin later see the change."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from yuliu.errors import InvalidRequest, UnknownLexicon
from yuliu.server.request_body import body_or_response
from yuliu.server.responses import header, header_text, json_response, problem_response, request_id
from yuliu.text.lexicon.check import first_unspeakable
from yuliu.wire.lexicons import (
    MAX_BODY_BYTES,
    MEDIA_TYPES,
    entity_tag,
    form_of_answer,
    form_of_body,
    lexicon_body,
    lexicons_body,
    parse_if_match,
    parse_lexicon,
)
from yuliu.wire.problems import Problem, problem_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.types import Scope

    from yuliu.lexicon_store import LexiconStore, StoredLexicon
    from yuliu.text.lexicon import Entry
    from yuliu.wire.lexicons import Form

    Answer = Callable[[Request], Awaitable[Response]]


def lexicon_routes(store: LexiconStore) -> list[Route]:
    """The paths, over the lexicons of a store."""
    answers = _Lexicons(store)
    one = "/v1/lexicons/{name}"
    return [
        Route("/v1/lexicons", _by_method(GET=answers.list), methods=["GET"]),
        Route(
            one,
            _by_method(GET=answers.get, PUT=answers.put, DELETE=answers.delete),
            methods=["GET", "PUT", "DELETE"],
        ),
        Route(f"{one}/entries", _by_method(POST=answers.add), methods=["POST"]),
        Route(f"{one}/entries/{{text:path}}", _by_method(DELETE=answers.discard), methods=["DELETE"]),
    ]


def _by_method(**answers: Answer) -> Answer:
    """One endpoint for several methods; a lexicon that is not there is a 404 here."""

    async def answer(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        try:
            return await answers[method](request)
        except UnknownLexicon as error:
            return problem_response(request.scope, replace(problem_of(error), status=404))

    return answer


class _Lexicons:
    """What is answered; files are read and written on threads."""

    def __init__(self, store: LexiconStore) -> None:
        self._store = store

    async def list(self, request: Request) -> Response:
        """Names, versions and numbers of entries."""
        found = await asyncio.to_thread(lambda: [self._store.get(name) for name in self._store.names()])
        rows = [(each.name, each.version, len(each.entries)) for each in found]
        return json_response(request.scope, lexicons_body(rows))

    async def get(self, request: Request) -> Response:
        """One lexicon, in the form that is accepted."""
        return _told(request.scope, await asyncio.to_thread(self._store.get, _name(request)))

    async def put(self, request: Request) -> Response:
        """Write it anew."""
        entries = await _entries(request)
        if isinstance(entries, Response):
            return entries
        version = _if_match(request.scope)
        return _told(
            request.scope, await asyncio.to_thread(self._store.put, _name(request), entries, if_version=version)
        )

    async def delete(self, request: Request) -> Response:
        """Remove it."""
        version = _if_match(request.scope)
        await asyncio.to_thread(self._store.delete, _name(request), if_version=version)
        return Response(status_code=204, headers={"X-Request-Id": request_id(request.scope)})

    async def add(self, request: Request) -> Response:
        """Add entries."""
        entries = await _entries(request)
        if isinstance(entries, Response):
            return entries
        version = _if_match(request.scope)
        return _told(
            request.scope, await asyncio.to_thread(self._store.add, _name(request), entries, if_version=version)
        )

    async def discard(self, request: Request) -> Response:
        """Remove the entries for a text."""
        version = _if_match(request.scope)
        text = request.path_params["text"]
        stored, num_removed = await asyncio.to_thread(self._store.discard, _name(request), text, if_version=version)
        if not num_removed:
            problem = Problem(404, "entry_not_found", "the lexicon has no entry for that text")
            return problem_response(request.scope, problem)
        return _told(request.scope, stored)


def _name(request: Request) -> str:
    return str(request.path_params["name"])


def _if_match(scope: Scope) -> int | None:
    value = header(scope, b"if-match")
    return parse_if_match(None if value is None else value.decode("latin-1"))


async def _entries(request: Request) -> tuple[Entry, ...] | Response:
    form = form_of_body(header_text(request.scope, b"content-type"))
    body = await body_or_response(request, MAX_BODY_BYTES)
    return body if isinstance(body, Response) else await asyncio.to_thread(_checked, body, form)


def _checked(body: bytes, form: Form) -> tuple[Entry, ...]:
    entries = parse_lexicon(body, form)
    if problem := first_unspeakable(entries):
        raise InvalidRequest(problem, param="entries")
    return entries


def _told(scope: Scope, stored: StoredLexicon) -> Response:
    accept = header(scope, b"accept")
    form = form_of_answer(None if accept is None else accept.decode("latin-1"))
    headers = {
        "X-Request-Id": request_id(scope),
        "ETag": entity_tag(stored.version),
        "Content-Type": MEDIA_TYPES[form],
        "Cache-Control": "no-cache",
        "Vary": "Accept",
    }
    return Response(lexicon_body(stored.name, stored.version, stored.entries, form), 200, headers)
