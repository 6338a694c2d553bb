"""Parts of requests and responses: headers, request ids, JSON and problems."""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING

from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import Scope

    from yuliu.wire.problems import Problem

_ID = re.compile(rb"[A-Za-z0-9._:-]{1,128}")


def request_id(scope: Scope) -> str:
    """Return the client's ``X-Request-Id`` if it is safe to log, else a new id; the same one for each call."""
    state = scope.setdefault("state", {})
    if "request_id" not in state:
        given = header(scope, b"x-request-id")
        state["request_id"] = given.decode("ascii") if given and _ID.fullmatch(given) else uuid.uuid4().hex
    return str(state["request_id"])


def header(scope: Scope, name: bytes) -> bytes | None:
    """Return the first header of a (lower-case) name; None if there is none."""
    for key, value in scope["headers"]:
        if key == name:
            return bytes(value)
    return None


def header_text(scope: Scope, name: bytes) -> str:
    """Return the first header of a (lower-case) name as text; empty if there is none."""
    return (header(scope, name) or b"").decode("latin-1")


def headers_of(scope: Scope) -> dict[str, str]:
    """Return all headers by lower-case name; of repeated headers the first."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])}


def json_response(scope: Scope, body: bytes) -> Response:
    """Return a response of 200 with a JSON body."""
    return Response(body, 200, {"X-Request-Id": request_id(scope)}, "application/json")


def problem_response(scope: Scope, problem: Problem) -> Response:
    """Return the response of a problem: its status, headers and envelope."""
    headers = {"X-Request-Id": request_id(scope), **dict(problem.headers)}
    return Response(problem.body(), problem.status, headers, "application/json")
