"""Tests of events: fields, their order and their rendering, levels and bound fields."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import pytest

from yuliu.logger import Fixed, LogEvent, event_logger

if TYPE_CHECKING:
    from yuliu.logger import Field


@pytest.mark.parametrize(
    ("value", "line"),
    [("a", "a"), ("a b=c", "a b=c"), (3, "3"), (12.5, "12.5"), (True, "True"), (None, "-"), ("one\ntwo", "one")],
)
def test_values_are_rendered_on_one_line(value: Field, line: str) -> None:
    """Text ends at its first line break, and a missing value is a dash."""
    assert str(LogEvent("speech", {"id": "7", "value": value})) == f"speech id=7 value={line}"


def test_an_event_without_fields_is_its_name() -> None:
    """No space follows the name."""
    assert str(LogEvent("loading_failed", {})) == "loading_failed"


def test_fixed_numbers_keep_their_decimals() -> None:
    """In a line with zeros at the end, in JSON as a rounded number."""
    assert str(Fixed(1.38549, 3)) == "1.385"
    assert str(Fixed(1, 3)) == "1.000"
    assert json.dumps(Fixed(1.38549, 3)) == "1.385"


def test_records_carry_the_event(caplog: pytest.LogCaptureFixture) -> None:
    """A record has the level of the call and the place of the caller."""
    caplog.set_level(logging.INFO)
    log, error = event_logger("yuliu.x"), ValueError("a")
    log.info("one", a=1)
    log.warning("two")
    log.error("three", exc_info=error)
    assert [(record.levelname, record.getMessage()) for record in caplog.records] == [
        ("INFO", "one a=1"),
        ("WARNING", "two"),
        ("ERROR", "three"),
    ]
    assert {record.name for record in caplog.records} == {"yuliu.x"}
    assert {record.filename for record in caplog.records} == {"test_logger.py"}
    assert caplog.records[2].exc_info == (ValueError, error, None)


def test_bound_fields_come_first(caplog: pytest.LogCaptureFixture) -> None:
    """Binding leaves the logger itself as it was; a field of the event replaces a bound one in its place."""
    caplog.set_level(logging.INFO)
    log = event_logger("yuliu.x")
    request_log = log.bind(id="7", stage="open")
    request_log.info("one", stage="closed", a=1)
    log.info("two")
    assert [record.getMessage() for record in caplog.records] == ["one id=7 stage=closed a=1", "two"]


def test_events_below_the_level_make_no_record(caplog: pytest.LogCaptureFixture) -> None:
    """Levels work as in the standard library."""
    caplog.set_level(logging.WARNING, logger="yuliu.x")
    event_logger("yuliu.x").info("one")
    assert not caplog.records
