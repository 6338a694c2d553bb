"""Error responses over HTTP: one table from error codes to statuses, one envelope.

The envelope is OpenAI's, so that its client libraries raise their own exception classes with our message:
``{"error": {"message": ..., "type": ..., "param": ..., "code": ...}}``
(https://platform.openai.com/docs/guides/error-codes/api-errors, and ``openai._exceptions`` of its Python client).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import to_builtins

from yuliu.errors import InvalidRequest, Overloaded, VoiceNotReady
from yuliu.wire.response_bodies import ErrorBody, ErrorDetail

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from yuliu.errors import YuliuError
    from yuliu.wire.response_bodies import ErrorKind

STATUS: Mapping[str, int] = {
    "invalid_request": 400,
    "unknown_voice": 400,
    "unknown_lexicon": 400,
    "nothing_to_speak": 400,
    "body_too_large": 413,
    "not_allowed": 403,
    "version_conflict": 412,
    "overloaded": 429,
    "quota_exceeded": 429,
    "error": 500,
    "pull_failed": 500,
    "synthesis_failed": 500,
    "closed": 503,
    "voice_not_ready": 503,
    "timeout": 504,
}
"""HTTP status of each ``YuliuError.code``."""

LOADING_RETRY_S = 1.0
"""Delay before a retry while voices load: they take a second or a few."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An error response."""

    status: int
    """HTTP status."""
    code: str
    """Stable, for programs."""
    message: str
    """For people: what is wrong and what to do. Never holds text to be spoken."""
    param: str | None = None
    """The field at fault."""
    retry_after_s: float | None = None
    """Delay after which a retry is likely to succeed, in seconds."""
    challenge: str | None = None
    """Value of ``WWW-Authenticate``: the credentials that are needed."""

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """Headers that belong to it: ``Retry-After`` in whole seconds, at least 1, and ``WWW-Authenticate``."""
        wait = None if self.retry_after_s is None else str(max(1, math.ceil(self.retry_after_s)))
        named = (("Retry-After", wait), ("WWW-Authenticate", self.challenge))
        return tuple((name, value) for name, value in named if value is not None)

    def body(self) -> bytes:
        """Return OpenAI's error envelope, JSON in ASCII."""
        error = ErrorDetail(self.message, _kind(self.status), self.param, self.code)
        return json.dumps(to_builtins(ErrorBody(error))).encode("ascii")


def problem_of(error: YuliuError) -> Problem:
    """Return the response to an error."""
    retry_after_s = LOADING_RETRY_S if isinstance(error, VoiceNotReady) else None
    if isinstance(error, Overloaded):
        retry_after_s = error.retry_after_s
    param = error.param if isinstance(error, InvalidRequest) else None
    return Problem(STATUS[error.code], error.code, error.message, param, retry_after_s)


def path_unknown(paths: Iterable[str]) -> Problem:
    """Return the response for a path at which nothing is served."""
    return Problem(404, "not_found", f"there is nothing at this path; served are {', '.join(sorted(set(paths)))}")


def method_unknown(allowed: str) -> Problem:
    """Return the response for a path that is served with other methods."""
    return Problem(405, "method_not_allowed", f"this path takes {allowed} only")


def body_too_large(max_bytes: int) -> Problem:
    """Return the response to a body above its limit."""
    return Problem(413, "body_too_large", f"the request body must be at most {max_bytes} bytes")


def head_too_large(max_bytes: int) -> Problem:
    """Return the response to a request line and headers above their limit."""
    return Problem(431, "headers_too_large", f"request line and headers must be at most {max_bytes} bytes")


def request_too_slow(limit_s: float) -> Problem:
    """Return the response to a request that did not arrive in time."""
    return Problem(408, "request_timeout", f"the request must arrive within {limit_s:g} s")


def host_unknown() -> Problem:
    """Return the response to a Host header of another server: a misdirected request, or DNS rebinding."""
    return Problem(
        421,
        "misdirected_request",
        "this server does not answer to the name in the Host header; allow it where the server is started",
    )


def connections_exhausted(max_connections: int) -> Problem:
    """Return the response when too many connections are open."""
    message = f"{max_connections} connections are open, which is the limit; close some or try again"
    return Problem(503, "overloaded", message, retry_after_s=1.0)


NOT_HTTP = Problem(400, "invalid_http", "what was sent is not HTTP/1.1")
"""The bytes on the connection are no request."""

UNEXPECTED = Problem(
    500, "internal_error", "the server failed; its log says where, under the X-Request-Id of this answer"
)
"""A fault of ours that no error class describes."""


def _kind(status: int) -> ErrorKind:
    """OpenAI's ``type``, as its error guide names them."""
    if status == 429:
        return "rate_limit_error"
    return "server_error" if status >= 500 else "invalid_request_error"
