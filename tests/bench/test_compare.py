"""Side-by-side comparison: ratios are formed within a round, and the page shows them."""

from __future__ import annotations

from typing import Any

from bench.compare import FIGURES, compare_page, compare_row


def figures(value: float) -> dict[str, float]:
    return dict.fromkeys(FIGURES, value)


def test_ratios_compare_the_same_round() -> None:
    """A machine that becomes ten times slower changes no ratio."""
    rounds = [{"old": figures(base), "new": figures(1.1 * base)} for base in (1.0, 10.0, 100.0)]
    row = compare_row(("zh", "12"), rounds)
    assert round(row["ttfp_ms"]["ratio"]["median"], 9) == 1.1
    assert row["ttfp_ms"]["old"] == {"median": 10.0, "min": 1.0, "max": 100.0}


def test_cpu_is_compared_by_its_sum() -> None:
    """Single requests often take less CPU time than a tick of the process clock."""
    rounds = [{"old": figures(old), "new": figures(new)} for old, new in ((0.0, 10.0), (10.0, 0.0), (10.0, 10.0))]
    assert compare_row(("en", "12"), rounds)["cpu_ms"]["ratio"]["median"] == 1.0


def test_the_page_names_what_differs() -> None:
    """It shows each text, the ratio over all texts, and whether the samples are the same."""
    row = compare_row(("zh", "12"), [{"old": figures(10.0), "new": figures(12.0)}])
    report: dict[str, Any] = {
        "at": "2026-11-30 12:00 UTC",
        "machine": {"cpu": "a CPU", "cores": 2, "python": "3.11"},
        "rounds": 1,
        "same_samples": False,
        "cells": [row],
        "ready_s": {"old": 1.0, "new": 2.0},
        "rss_mb": {"old": 100.0, "new": 200.0},
    }
    page = compare_page(report)
    assert "| zh | 12 | 10.00 | 12.00 | 1.20 |" in page
    assert "ttfp_ms 1.200" in page
    assert "Samples: different." in page
