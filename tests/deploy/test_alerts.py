"""The alerts query exported metrics and fire when they should."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from pages import ROOT
from stream_reports import complete_metrics, exported

FOLDER = ROOT / "deploy" / "prometheus"
NAME = re.compile(r"\b(?:yuliu|process)_\w+")
SUFFIXES = {"histogram": ("_bucket", "_sum", "_count"), "counter": ("",), "gauge": ("",)}


@pytest.mark.parametrize("name", ["alerts.yml", "alerts.test.yml"])
def test_alerts_query_exported_metrics(name: str) -> None:
    """After a renaming, an alert would never fire."""
    there = exported(complete_metrics())
    series = {name + suffix for name, (kind, _) in there.items() for suffix in SUFFIXES[kind]}
    asked = set(NAME.findall((FOLDER / name).read_text(encoding="utf-8")))
    assert len(asked) > 5
    assert asked <= series | {"yuliu_ttfp_part_seconds"}  # a description names the histogram


def test_alerts_use_existing_labels() -> None:
    """In selectors and groupings; Prometheus adds ``job`` and ``instance``."""
    labels = {label for _, each in exported(complete_metrics()).values() for label in each}
    text = (FOLDER / "alerts.yml").read_text(encoding="utf-8")
    asked = set(re.findall(r"[{,] *(\w+)[!=]?[=~]", text))
    asked |= {label for group in re.findall(r"\bby \(([^)]+)\)", text) for label in group.split(", ")}
    assert {"ending", "reason", "class"} <= asked
    assert asked <= labels | {"job", "instance", "le"}


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
@pytest.mark.parametrize(
    "arguments", [("check", "config", "prometheus.yml"), ("test", "rules", "alerts.test.yml")], ids=lambda a: a[0]
)
def test_promtool_accepts_the_rules(arguments: tuple[str, ...]) -> None:
    """Each alert fires in its case, and none on a healthy server."""
    finished = subprocess.run(["promtool", *arguments], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_accepts_the_metric_names() -> None:
    """Units, suffixes and help texts follow Prometheus's conventions."""
    body, _ = complete_metrics().exposition()
    finished = subprocess.run(["promtool", "check", "metrics"], input=body, capture_output=True, check=False)
    assert finished.returncode == 0, finished.stdout.decode() + finished.stderr.decode()


def test_every_alert_is_tested() -> None:
    """Each fires in at least one test and stays silent in at least one."""
    alerts = re.findall(r"- alert: (\w+)", (FOLDER / "alerts.yml").read_text(encoding="utf-8"))
    tests = (FOLDER / "alerts.test.yml").read_text(encoding="utf-8")
    for alert in alerts:
        assert re.search(rf"alertname: {alert}\n +exp_alerts:\n", tests), alert
        assert re.search(rf"alertname: {alert}}}", tests), alert
