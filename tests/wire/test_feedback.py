"""Parsing of feedback from clients."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.errors import InvalidRequest
from yuliu.wire.feedback import KINDS, Feedback, feedback_body, parse_feedback

if TYPE_CHECKING:
    from yuliu.metrics.report import FeedbackKind

JSON = "application/json; charset=utf-8"


@pytest.mark.parametrize("kind", KINDS)
def test_valid_feedback_is_read(kind: FeedbackKind) -> None:
    """It names a stream and one of the kinds."""
    body = json.dumps({"stream": "turn-7", "kind": kind}).encode()
    assert parse_feedback(body, JSON) == Feedback("turn-7", kind)


@pytest.mark.parametrize(
    ("value", "param"),
    [
        ([], None),
        ({"stream": "a"}, "kind"),
        ({"stream": "a", "kind": "gap", "text": "what I said"}, None),
        ({"stream": 7, "kind": "gap"}, "stream"),
        ({"stream": "", "kind": "gap"}, "stream"),
        ({"stream": "a\nb", "kind": "gap"}, "stream"),
        ({"stream": "a" * 129, "kind": "gap"}, "stream"),
        ({"stream": "a", "kind": "bad"}, "kind"),
        ({"stream": "a", "kind": ["gap"]}, "kind"),
    ],
)
def test_invalid_feedback_is_refused(value: Any, param: str | None) -> None:
    """The error names the field at fault and does not quote its value."""
    with pytest.raises(InvalidRequest) as refused:
        parse_feedback(json.dumps(value).encode(), JSON)
    assert refused.value.param == param
    assert "said" not in refused.value.message


@pytest.mark.parametrize(("body", "content_type"), [(b"{", JSON), (b"\xff", JSON), (b"{}", None), (b"{}", "text/json")])
def test_other_body_types_are_refused(body: bytes, content_type: str | None) -> None:
    """A web page could send other types without asking first."""
    with pytest.raises(InvalidRequest):
        parse_feedback(body, content_type)


@given(st.binary(max_size=80) | st.recursive(st.none() | st.text(), st.lists).map(lambda v: json.dumps(v).encode()))
def test_any_body_is_read_or_refused(body: bytes) -> None:
    """No exception other than a refusal is raised."""
    with pytest.raises(InvalidRequest):
        parse_feedback(body, JSON)


def test_the_response_confirms_the_feedback() -> None:
    """The response is a JSON object."""
    assert json.loads(feedback_body())
