"""Error rates and naturalness as an external judge hears them. The harness is a folder with ``judge.py``."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.corpus import articles, written_cases
from yuliu.text.sentences import SentenceCutter

if TYPE_CHECKING:
    from collections.abc import Callable

    from yuliu.synthesizer import Synthesizer
    from yuliu.types import Lang

MAX_SENTENCES = 60
"""Maximum number of sentences for each language."""
VOICES: dict[Lang, str] = {"zh": "baker", "en": "heart"}
RATES: dict[Lang, str] = {"zh": "pinyin_er", "en": "wer"}
"""Error rate by which each language is judged."""
JUDGED_AS: dict[str, str] = {"en": "en", "zh": "zh", "mixed": "zh"}
_ARTICLES: dict[Lang, tuple[str, ...]] = {"zh": ("zh_article", "zh_story"), "en": ("en_article",)}
_MIN_CHARS: dict[Lang, int] = {"zh": 8, "en": 15}
"""Minimum length of a sentence: the judge guesses at shorter ones."""


def judge_articles(
    harness: Path, folder: Path, texts: dict[str, str], *, progress: Callable[[str], None]
) -> dict[str, Any]:
    """Return error rates and naturalness of the articles in ``folder``, by article."""
    verdicts: dict[str, Any] = {}
    for name, text in texts.items():
        with tempfile.TemporaryDirectory() as work:
            Path(work, f"yuliu.{name}.wav").symlink_to((folder / f"yuliu.{name}.wav").resolve())
            lang = JUDGED_AS[name.partition("_")[0]]
            (verdict,) = _judge(harness, Path(work), lang, {name: text})["yuliu"]
        keys = ("wer", "cer", "pinyin_er", "mos", "heard")
        verdicts[name] = {key: verdict[key] for key in keys if key in verdict}
        progress(f"judged {name}")
    return verdicts


def judge_sentences(synthesizer: Synthesizer, harness: Path, *, progress: Callable[[str], None]) -> dict[str, Any]:
    """Return the error rate of each language with the verdict on each sentence."""
    heard: dict[str, Any] = {}
    for lang, voice in VOICES.items():
        with tempfile.TemporaryDirectory() as folder:
            texts = sentences(lang)
            for number, text in enumerate(texts):
                synthesizer.speak(text, voice=voice).save(Path(folder) / f"{voice}.{number}.wav")
            heard[lang] = _sentence_figures(harness, Path(folder), lang, texts)
        progress(f"listened to {len(texts)} sentences of {voice}")
    return heard


def sentences(lang: Lang) -> list[str]:
    """Return sentences of the articles and then of the written cases."""
    found = []
    for name in _ARTICLES[lang]:
        cutter = SentenceCutter()
        found += [*cutter.push(articles()[name]), *cutter.flush()]
    found += [case["text"] for case in written_cases() if case["area"] == "tn" and case["lang"] == lang]
    return [text.strip() for text in found if len(text.strip()) >= _MIN_CHARS[lang]][:MAX_SENTENCES]


def _sentence_figures(harness: Path, folder: Path, lang: Lang, texts: list[str]) -> dict[str, Any]:
    (verdicts,) = _judge(harness, folder, lang, {str(number): text for number, text in enumerate(texts)}).values()
    name = RATES[lang]
    errors = [verdict["errors"][name] for verdict in verdicts]
    rows = [
        {"text": texts[int(verdict["wav"].split(".")[1])], "heard": verdict["heard"], "rate": verdict[name]}
        for verdict in verdicts
    ]
    rate = sum(wrong for wrong, _ in errors) / sum(total for _, total in errors)
    return {"sentences": len(rows), "rate_name": name, "rate": rate, "verdicts": rows}


def _judge(harness: Path, folder: Path, lang: str, references: dict[str, str]) -> dict[str, Any]:
    """Return the judge's verdicts on the WAV files in a folder, by voice."""
    reference, out = folder / "ref.txt", folder / "verdicts.json"
    reference.write_text("".join(f"{name}\t{' '.join(text.split())}\n" for name, text in references.items()))
    command = [sys.executable, str(harness / "judge.py"), "--lang", lang, "--ref", str(reference)]
    subprocess.run(
        [*command, "--out", str(out), str(folder)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    verdicts: dict[str, Any] = json.loads(out.read_text())
    return verdicts
