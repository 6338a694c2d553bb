"""Limits within those of the process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from yuliu.server.limits import OTHER_DESCRIPTORS, Limits, within_descriptors

if TYPE_CHECKING:
    from collections.abc import Callable

resource = pytest.importorskip("resource", reason="a bound of Unix")
WANTED = Limits().max_connections + OTHER_DESCRIPTORS
INFINITY = resource.RLIM_INFINITY


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, int], list[tuple[int, int]]]:
    """Fake the limit of the process, and record what it is raised to."""

    def pretend(soft: int, hard: int) -> list[tuple[int, int]]:
        raised: list[tuple[int, int]] = []
        monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
        monkeypatch.setattr(resource, "setrlimit", lambda _, given: raised.append(given))
        return raised

    return pretend


@pytest.mark.parametrize(
    ("soft", "hard", "raised"),
    [
        (1_024, 1_048_576, [(WANTED, 1_048_576)]),
        (1_024, INFINITY, [(WANTED, INFINITY)]),
        (1_024, WANTED, [(WANTED, WANTED)]),
        (WANTED, WANTED, []),
        (INFINITY, INFINITY, []),
    ],
)
def test_the_limit_is_raised_as_far_as_needed(
    bound: Callable[[int, int], list[tuple[int, int]]], soft: int, hard: int, raised: list[tuple[int, int]]
) -> None:
    """The limit is raised as far as needed."""
    seen = bound(soft, hard)
    assert within_descriptors(Limits()) == Limits()
    assert seen == raised


def test_fewer_connections_are_taken_where_it_stays_low(
    bound: Callable[[int, int], list[tuple[int, int]]], caplog: pytest.LogCaptureFixture
) -> None:
    """Fewer connections are allowed, and the log says what to do."""
    bound(256, 1_000)
    assert within_descriptors(Limits()).max_connections == 1_000 - OTHER_DESCRIPTORS
    assert "few_descriptors limit=1000 connections=936 wanted=2048" in caplog.text
    assert "ulimit -n" in caplog.text


def test_a_limit_that_cannot_be_raised_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system may refuse a limit that it reported as allowed."""

    def refuse(*_: object) -> None:
        raise ValueError("not allowed")

    monkeypatch.setattr(resource, "getrlimit", lambda _: (256, INFINITY))
    monkeypatch.setattr(resource, "setrlimit", refuse)
    assert within_descriptors(Limits()).max_connections == 256 - OTHER_DESCRIPTORS
