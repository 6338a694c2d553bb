"""``POST /v1/feedback``: a listener's complaint about a stream."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import get_args

from yuliu.errors import InvalidRequest
from yuliu.metrics.report import FeedbackKind
from yuliu.wire.strict_json import MEDIA_TYPE, media_type, read_object

KINDS: tuple[FeedbackKind, ...] = get_args(FeedbackKind)
MAX_BODY_BYTES = 1_024
_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")


@dataclass(frozen=True, slots=True)
class Feedback:
    """A complaint."""

    stream: str
    """The ``X-Request-Id`` of the stream. It may be one that this server does not know: nothing is kept of streams."""
    kind: FeedbackKind


def parse_feedback(body: bytes, content_type: str | None) -> Feedback:
    """A complaint from a request.

    Raises:
        InvalidRequest: It is none; the message says why.
    """
    if media_type(content_type) != MEDIA_TYPE:
        raise InvalidRequest("send the feedback with the header Content-Type: application/json")
    value = read_object(body, what="the request body")
    names = [field.name for field in fields(Feedback)]
    if set(value) != set(names):
        raise InvalidRequest(f"the body must be an object with {' and '.join(map(repr, names))}, and nothing else")
    stream, kind = value["stream"], value["kind"]
    if not (isinstance(stream, str) and _ID.fullmatch(stream)):
        raise InvalidRequest("'stream' must be the X-Request-Id of a stream", param="stream")
    if kind not in KINDS:
        raise InvalidRequest(f"'kind' must be one of {', '.join(KINDS)}", param="kind")
    return Feedback(stream, kind)


def feedback_body() -> bytes:
    """The answer to a complaint."""
    return b'{"status":"counted"}'
