"""The texts that are spoken in a bench."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yuliu.types import Lang

LANGUAGES: tuple[Lang, ...] = ("zh", "en")


def short_texts() -> dict[Lang, dict[str, str]]:
    """For each language: texts by their nominal number of characters (12, 64, 172, 600)."""
    table = tomllib.loads((files(__package__) / "texts.toml").read_text("utf-8"))
    return {lang: dict(table[lang]) for lang in LANGUAGES}


def articles() -> dict[str, str]:
    """Whole articles by name; the name begins with the language."""
    folder = files(__package__) / "articles"
    return {
        entry.name.removesuffix(".txt"): entry.read_text("utf-8")
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".txt")
    }
