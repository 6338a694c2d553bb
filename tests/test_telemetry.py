"""Tests that the telemetry of onnxruntime is off before the runtime is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ORT_", "XDG_"))}
    return kept | {"HOME": str(home)}


def run(script: str, home: Path) -> str:
    command = [sys.executable, "-c", script]
    return subprocess.run(command, env=environment(home), check=True, capture_output=True, text=True).stdout


def test_telemetry_is_off_when_the_runtime_is_loaded(tmp_path: Path) -> None:
    """The setting applies for any first import of Yuliu."""
    for module in (
        "yuliu",
        "yuliu.engines.onnx_graph",
        "yuliu.engines.hibari.engine",
        "yuliu.cli.commands.doctor",
        "yuliu.server",
    ):
        script = f"import os, {module}; print(os.environ['ORT_DISABLE_TELEMETRY'])"
        assert run(script, tmp_path).strip() == "1"


def test_telemetry_leaves_no_files(tmp_path: Path) -> None:
    """The home folder contains no identifier and no queue of reports."""
    run("import yuliu.engines.onnx_graph, time; time.sleep(1)", tmp_path)
    assert not [path for path in tmp_path.rglob("*") if "onnxruntime" in path.name.lower() or "deviceid" in path.name]


def test_a_telemetry_setting_of_the_user_is_kept(tmp_path: Path) -> None:
    """Yuliu does not override the environment."""
    name = "ORT_DISABLE_TELEMETRY"
    script = f"import os; os.environ['{name}'] = '0'; import yuliu; print(os.environ['{name}'])"
    assert run(script, tmp_path).strip() == "0"
