"""The metrics page agrees with the exported metrics, in both languages."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from pages import ROOT, Page
from stream_reports import complete_metrics, exported, report

from yuliu.metrics.report import FeedbackKind, Loss, StreamOutcome
from yuliu.metrics.trace import _attributes, _events

pytestmark = pytest.mark.parametrize("lang", ["en", "zh"])
GPU = {name: ("gauge", frozenset({"gpu"})) for name in ("yuliu_gpu_busy_ratio", "yuliu_gpu_memory_used_bytes")}


def text_of(lang: str) -> str:
    return Page(ROOT / "docs" / lang / "reference" / "metrics.md").text


def test_table_lists_every_exported_metric(lang: str) -> None:
    """The table contains each metric once, with its type and labels, and nothing else."""
    rows = re.findall(r"^\| `(\w+)` \| (counter|gauge|histogram) \| ([^|]*) \| [^|]+ \|$", text_of(lang), re.MULTILINE)
    told = {name: (kind, frozenset(re.findall(r"`(\w+)`", labels))) for name, kind, labels in rows}
    assert len(told) == len(rows)
    assert told == exported(complete_metrics()) | GPU


def test_histogram_bounds_match(lang: str) -> None:
    """The page lists the bounds of every histogram in order."""
    found = {
        name: [float(bound) for bound in re.split(r", |、", bounds)]
        for name, bounds in re.findall(r"^\| `(\w+_seconds)` \| ([\d., 、]+) \|$", text_of(lang), re.MULTILINE)
    }
    expected: dict[str, list[float]] = {}
    for family in complete_metrics().registry.collect():
        for sample in family.samples:
            if family.type == "histogram" and sample.labels.get("le", "+Inf") != "+Inf":
                bounds = expected.setdefault(family.name, [])
                bounds += [float(sample.labels["le"])] * (float(sample.labels["le"]) not in bounds)
    assert found == expected


def test_label_values_and_fields_are_listed(lang: str) -> None:
    """The page lists label values, fields of the statistics, and events and attributes of spans."""
    quoted = set(re.findall(r"`([^`\n]+)`", text_of(lang)))
    words = {*report().moments.parts(), *get_args(StreamOutcome), *get_args(FeedbackKind), *get_args(Loss)}
    stats = complete_metrics().stats()
    assert isinstance(stats["now"], dict)
    events = {name for name, _ in _events(report().moments)}
    attributes = {name.removeprefix("yuliu.") for name in _attributes(report(outcome="failed", code="x"))}
    assert words | set(stats) | set(stats["now"]) | events | attributes <= quoted


def test_queries_use_existing_metrics(lang: str) -> None:
    """Every metric in the example queries exists."""
    queries = "".join(block.code for block in Page(ROOT / "docs" / lang / "reference" / "metrics.md").blocks)
    asked = {re.sub(r"_(sum|count|bucket)$", "", name) for name in re.findall(r"\byuliu_\w+", queries)}
    assert asked
    assert asked <= set(exported(complete_metrics()))
