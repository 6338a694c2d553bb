"""The alerts ask for what is measured, and go off when they should."""

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
def test_alerts_ask_for_metrics_that_are_exported(name: str) -> None:
    """A renamed metric would leave an alert that never goes off."""
    there = exported(complete_metrics())
    series = {name + suffix for name, (kind, _) in there.items() for suffix in SUFFIXES[kind]}
    asked = set(NAME.findall((FOLDER / name).read_text(encoding="utf-8")))
    assert len(asked) > 5
    assert asked <= series | {"yuliu_ttfp_part_seconds"}  # which a description names as a whole


def test_alerts_ask_for_labels_that_there_are() -> None:
    """In selectors and in groupings; ``job`` and ``instance`` are Prometheus' own."""
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
def test_promtool_is_content(arguments: tuple[str, ...]) -> None:
    """Each alert goes off in the case it is for, and none on a server that is well."""
    finished = subprocess.run(["promtool", *arguments], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_finds_no_fault_with_the_names() -> None:
    """Prometheus' conventions: units, suffixes, help texts."""
    body, _ = complete_metrics().exposition()
    finished = subprocess.run(["promtool", "check", "metrics"], input=body, capture_output=True, check=False)
    assert finished.returncode == 0, finished.stdout.decode() + finished.stderr.decode()


def test_every_alert_is_tested() -> None:
    """Each is expected to go off at least once, and to stay silent at least once."""
    alerts = re.findall(r"- alert: (\w+)", (FOLDER / "alerts.yml").read_text(encoding="utf-8"))
    tests = (FOLDER / "alerts.test.yml").read_text(encoding="utf-8")
    for alert in alerts:
        assert re.search(rf"alertname: {alert}\n +exp_alerts:\n", tests), alert
        assert re.search(rf"alertname: {alert}}}", tests), alert
