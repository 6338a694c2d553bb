"""Sentences spoken by the voices and written down by the judge: what of the reading is heard."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from yuliu.bench.reading_cases import written_cases
from yuliu.bench.texts import articles
from yuliu.text.sentences import SentenceCutter

if TYPE_CHECKING:
    from collections.abc import Callable

    from yuliu.synthesizer import Synthesizer
    from yuliu.types import Lang

NUM_SENTENCES = 60
"""For each language."""
VOICES: dict[Lang, str] = {"zh": "baker", "en": "heart"}
RATES: dict[Lang, str] = {"zh": "pinyin_er", "en": "wer"}
_ARTICLES: dict[Lang, tuple[str, ...]] = {"zh": ("zh_article", "zh_story"), "en": ("en_article",)}
_MIN_CHARS: dict[Lang, int] = {"zh": 8, "en": 15}
"""Shorter sentences say little about reading: the judge guesses."""


def sentences(lang: Lang) -> list[str]:
    """Sentences of the articles and of the written cases, mostly the articles'."""
    found = []
    for name in _ARTICLES[lang]:
        cutter = SentenceCutter()
        found += [*cutter.push(articles()[name]), *cutter.flush()]
    found += [case["text"] for case in written_cases() if case["area"] == "tn" and case["lang"] == lang]
    return [text.strip() for text in found if len(text.strip()) >= _MIN_CHARS[lang]][:NUM_SENTENCES]


def listen(synthesizer: Synthesizer, harness: Path, *, progress: Callable[[str], None]) -> dict[str, Any]:
    """Error rates by language with each sentence's verdict. The harness has ``judge.py``."""
    heard: dict[str, Any] = {}
    for lang, voice in VOICES.items():
        with tempfile.TemporaryDirectory() as folder:
            texts = sentences(lang)
            for number, text in enumerate(texts):
                synthesizer.speak(text, voice=voice).save(Path(folder) / f"{voice}.{number}.wav")
            heard[lang] = _judged(harness, Path(folder), lang, texts)
        progress(f"listened to {len(texts)} sentences of {voice}")
    return heard


def _judged(harness: Path, folder: Path, lang: Lang, texts: list[str]) -> dict[str, Any]:
    reference, out = folder / "ref.txt", folder / "verdicts.json"
    reference.write_text("".join(f"{number}\t{' '.join(text.split())}\n" for number, text in enumerate(texts)))
    command = [sys.executable, str(harness / "judge.py"), "--lang", lang, "--ref", str(reference)]
    subprocess.run(
        [*command, "--out", str(out), str(folder)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    (verdicts,) = json.loads(out.read_text()).values()
    name = RATES[lang]
    errors = [verdict["errors"][name] for verdict in verdicts]
    rows = [
        {"text": texts[int(verdict["wav"].split(".")[1])], "heard": verdict["heard"], "rate": verdict[name]}
        for verdict in verdicts
    ]
    rate = sum(wrong for wrong, _ in errors) / sum(of for _, of in errors)
    return {"sentences": len(rows), "rate_name": name, "rate": rate, "verdicts": rows}
