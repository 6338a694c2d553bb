"""Answers that are made at once: JSON values and problems, each with its request's id."""

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
    """The caller's ``X-Request-Id`` if it is harmless to log, else a new one; the same each time for one request."""
    state = scope.setdefault("state", {})
    if "request_id" not in state:
        given = header(scope, b"x-request-id")
        state["request_id"] = given.decode("ascii") if given and _ID.fullmatch(given) else uuid.uuid4().hex
    return str(state["request_id"])


def header(scope: Scope, name: bytes) -> bytes | None:
    """The first header of a (lower-case) name; None if there is none."""
    for key, value in scope["headers"]:
        if key == name:
            return bytes(value)
    return None


def header_text(scope: Scope, name: bytes) -> str:
    """The first header of a (lower-case) name as text; empty if there is none."""
    return (header(scope, name) or b"").decode("latin-1")


def headers_of(scope: Scope) -> dict[str, str]:
    """All headers by lower-case name, the first where one stands several times."""
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])}


def json_response(scope: Scope, body: bytes) -> Response:
    """200 with a JSON body."""
    return Response(body, 200, {"X-Request-Id": request_id(scope)}, "application/json")


def problem_response(scope: Scope, problem: Problem) -> Response:
    """A problem's status, headers and envelope."""
    headers = {"X-Request-Id": request_id(scope), **dict(problem.headers)}
    return Response(problem.body(), problem.status, headers, "application/json")
