"""Errors as responses over HTTP."""

from __future__ import annotations

import json

import pytest

from yuliu import errors
from yuliu.errors import InvalidRequest, Overloaded, SynthesisFailed, VoiceNotReady, YuliuError
from yuliu.wire import problems
from yuliu.wire.problems import STATUS, Problem, problem_of


def all_error_classes(base: type[YuliuError] = YuliuError) -> list[type[YuliuError]]:
    return [base, *(found for child in base.__subclasses__() for found in all_error_classes(child))]


def test_every_error_has_a_status() -> None:
    """The table covers exactly the existing codes."""
    codes = {error.code for error in all_error_classes() if error.__module__ == errors.__name__}
    assert codes == set(STATUS)


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (InvalidRequest("wrong", param="speed"), 400, "invalid_request_error"),
        (Overloaded("busy", retry_after_s=2.2), 429, "rate_limit_error"),
        (SynthesisFailed("broken"), 500, "server_error"),
        (VoiceNotReady("soon"), 503, "server_error"),
    ],
)
def test_an_error_becomes_openais_envelope(error: YuliuError, status: int, kind: str) -> None:
    """OpenAI's clients find message, type, param and code in the expected places."""
    problem = problem_of(error)
    assert problem.status == status
    assert json.loads(problem.body()) == {
        "error": {"message": error.message, "type": kind, "param": getattr(error, "param", None), "code": error.code}
    }


@pytest.mark.parametrize(("retry_after_s", "header"), [(2.2, "3"), (0.0, "1"), (5.0, "5")])
def test_retry_after_is_whole_seconds(retry_after_s: float, header: str) -> None:
    """The header does not allow fractions, and 0 would mean an immediate retry."""
    assert problem_of(Overloaded("busy", retry_after_s=retry_after_s)).headers == (("Retry-After", header),)


def test_only_temporary_errors_advise_a_retry() -> None:
    """A client is not told to repeat a request that can never succeed."""
    assert problem_of(VoiceNotReady("soon")).headers == (("Retry-After", "1"),)
    assert problem_of(InvalidRequest("wrong")).headers == ()


def test_any_message_can_be_sent() -> None:
    """All characters of a message are escaped as needed."""
    body = Problem(400, "invalid_request", "坏\ud800\n").body()
    assert json.loads(body)["error"]["message"] == "坏\ud800\n"


@pytest.mark.parametrize(
    ("problem", "status", "code", "words"),
    [
        (problems.path_unknown(["/b", "/a", "/a"]), 404, "not_found", "served are /a, /b"),
        (problems.method_unknown("GET"), 405, "method_not_allowed", "takes GET only"),
        (problems.body_too_large(10), 413, "body_too_large", "at most 10 bytes"),
        (problems.head_too_large(10), 431, "headers_too_large", "at most 10 bytes"),
        (problems.request_too_slow(2.5), 408, "request_timeout", "within 2.5 s"),
        (problems.host_unknown(), 421, "misdirected_request", "Host header"),
        (problems.connections_exhausted(7), 503, "overloaded", "7 connections are open"),
    ],
)
def test_problems_of_requests_state_their_limits(problem: Problem, status: int, code: str, words: str) -> None:
    """Each has its status, a stable code, and a message with the limit or the remedy."""
    assert (problem.status, problem.code) == (status, code)
    assert words in problem.message


def test_refusals_of_the_server_have_a_status_and_name_the_limit() -> None:
    """One function makes each refusal, so that their wording agrees."""
    cases = [
        (problems.path_unknown(["/b", "/a"]), 404, "/a, /b"),
        (problems.method_unknown("GET"), 405, "GET"),
        (problems.body_too_large(5), 413, "5 bytes"),
        (problems.head_too_large(6), 431, "6 bytes"),
        (problems.request_too_slow(1.5), 408, "1.5 s"),
        (problems.host_unknown(), 421, "Host header"),
        (problems.connections_exhausted(7), 503, "7 connections"),
    ]
    for problem, status, says in cases:
        assert problem.status == status
        assert says in problem.message
