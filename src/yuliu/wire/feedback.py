"""``POST /v1/feedback``: a listener's complaint about a stream."""

from __future__ import annotations

from typing import Annotated, get_args

from msgspec import Struct

from yuliu.errors import InvalidRequest
from yuliu.metrics.report import FeedbackKind
from yuliu.wire.faults import must
from yuliu.wire.response_bodies import FeedbackCounted, json_body
from yuliu.wire.schema import Schema
from yuliu.wire.strict_json import MEDIA_TYPE, media_type

KINDS: tuple[FeedbackKind, ...] = get_args(FeedbackKind)
MAX_BODY_BYTES = 1_024
StreamId = Annotated[
    str, must("the X-Request-Id of a stream", pattern=r"^[A-Za-z0-9._:-]{1,128}$(?!\n)", min_length=1, max_length=128)
]


class Feedback(Struct, frozen=True, forbid_unknown_fields=True):
    """A complaint about a stream."""

    stream: StreamId
    """The ``X-Request-Id`` of the stream. It may be one that this server does not know: nothing is kept of streams."""
    kind: FeedbackKind
    """Kind of the fault."""


_FEEDBACK: Schema[Feedback] = Schema(Feedback, what="the request body")


def parse_feedback(body: bytes, content_type: str | None) -> Feedback:
    """Return a complaint from a request.

    Raises:
        InvalidRequest: It is none; the message says why, and ``param`` names the field if one is to blame.
    """
    if media_type(content_type) != MEDIA_TYPE:
        raise InvalidRequest("send the feedback with the header Content-Type: application/json")
    return _FEEDBACK.decode(body)


def feedback_body() -> bytes:
    """Return the response to feedback."""
    return json_body(FeedbackCounted())
