"""``/v1/lexicons``: read and change lexicons while the server runs. Streams that begin later see the change."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from starlette.responses import Response

from yuliu.errors import InvalidRequest, UnknownLexicon
from yuliu.server.responses import header, header_text, json_response, problem_response, request_id
from yuliu.server.routing import Route, body_of, responding
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

    from yuliu.lexicon_store import StoredLexicon
    from yuliu.server.context import ServerContext
    from yuliu.server.routing import Endpoint
    from yuliu.text.lexicon import Entry
    from yuliu.wire.lexicons import Form


async def list_lexicons(context: ServerContext, request: Request) -> Response:
    """List names, versions and numbers of entries. Files are read and written on threads."""
    store = context.lexicons
    found = await asyncio.to_thread(lambda: [store.get(name) for name in store.names()])
    rows = [(each.name, each.version, len(each.entries)) for each in found]
    return json_response(request.scope, lexicons_body(rows))


async def get_lexicon(context: ServerContext, request: Request) -> Response:
    """Return one lexicon, in the form that the client accepts."""
    return _answer(request.scope, await asyncio.to_thread(context.lexicons.get, _name(request)))


async def put_lexicon(context: ServerContext, request: Request) -> Response:
    """Replace a lexicon, or create it."""
    entries, version = await _entries(context, request), _if_match(request.scope)
    stored = await asyncio.to_thread(context.lexicons.put, _name(request), entries, if_version=version)
    return _answer(request.scope, stored)


async def delete_lexicon(context: ServerContext, request: Request) -> Response:
    """Remove a lexicon."""
    version = _if_match(request.scope)
    await asyncio.to_thread(context.lexicons.delete, _name(request), if_version=version)
    return Response(status_code=204, headers={"X-Request-Id": request_id(request.scope)})


async def add_entries(context: ServerContext, request: Request) -> Response:
    """Add entries to a lexicon."""
    entries, version = await _entries(context, request), _if_match(request.scope)
    stored = await asyncio.to_thread(context.lexicons.add, _name(request), entries, if_version=version)
    return _answer(request.scope, stored)


async def discard_entries(context: ServerContext, request: Request) -> Response:
    """Remove the entries for a text."""
    version, text = _if_match(request.scope), request.path_params["text"]
    stored, num_removed = await asyncio.to_thread(context.lexicons.discard, _name(request), text, if_version=version)
    if not num_removed:
        problem = Problem(404, "entry_not_found", "the lexicon has no entry for that text")
        return problem_response(request.scope, problem)
    return _answer(request.scope, stored)


def _of_lexicon(respond: Callable[[ServerContext, Request], Awaitable[Response]]) -> Endpoint:
    """Return an endpoint that answers 404 for a lexicon that does not exist: here its name is part of the path."""

    async def found_or_404(context: ServerContext, request: Request) -> Response:
        try:
            return await respond(context, request)
        except UnknownLexicon as error:
            return problem_response(request.scope, replace(problem_of(error), status=404))

    return responding(found_or_404)


def _name(request: Request) -> str:
    return str(request.path_params["name"])


def _if_match(scope: Scope) -> int | None:
    value = header(scope, b"if-match")
    return parse_if_match(None if value is None else value.decode("latin-1"))


async def _entries(context: ServerContext, request: Request) -> tuple[Entry, ...]:
    form = form_of_body(header_text(request.scope, b"content-type"))
    return await asyncio.to_thread(_checked, await body_of(context, request), form)


def _checked(body: bytes, form: Form) -> tuple[Entry, ...]:
    entries = parse_lexicon(body, form)
    if problem := first_unspeakable(entries):
        raise InvalidRequest(problem, param="entries")
    return entries


def _answer(scope: Scope, stored: StoredLexicon) -> Response:
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


_ONE = "/v1/lexicons/{name}"
ROUTES = (
    Route(
        path="/v1/lexicons",
        methods=("GET",),
        access="lexicons",
        name="lexicons",
        summary="List the lexicons",
        endpoint=responding(list_lexicons),
        response="LexiconList",
    ),
    Route(
        path=_ONE,
        methods=("GET",),
        access="lexicons",
        name="lexicon",
        summary="Return a lexicon",
        endpoint=_of_lexicon(get_lexicon),
        response="Lexicon",
    ),
    Route(
        path=_ONE,
        methods=("PUT",),
        access="lexicons",
        name="lexicon",
        summary="Replace a lexicon",
        endpoint=_of_lexicon(put_lexicon),
        max_body_bytes=MAX_BODY_BYTES,
        request="LexiconEntries",
        response="Lexicon",
    ),
    Route(
        path=_ONE,
        methods=("DELETE",),
        access="lexicons",
        name="lexicon",
        summary="Remove a lexicon",
        endpoint=_of_lexicon(delete_lexicon),
    ),
    Route(
        path=f"{_ONE}/entries",
        methods=("POST",),
        access="lexicons",
        name="entries",
        summary="Add entries to a lexicon",
        endpoint=_of_lexicon(add_entries),
        max_body_bytes=MAX_BODY_BYTES,
        request="LexiconEntries",
        response="Lexicon",
    ),
    Route(
        path=f"{_ONE}/entries/{{text:path}}",
        methods=("DELETE",),
        access="lexicons",
        name="entry",
        summary="Remove the entries for a text",
        endpoint=_of_lexicon(discard_entries),
        response="Lexicon",
    ),
)
