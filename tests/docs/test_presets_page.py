"""The page on presets and chunking agrees with the code, in both languages."""

from __future__ import annotations

import re

import pytest
from pages import ROOT, Page

from yuliu import presets as home
from yuliu.presets import as_values, parse_presets, presets
from yuliu.segmenter import Chunking
from yuliu.segmenter.chunking import MAX_WEIGHT, STRATEGIES
from yuliu.segmenter.options import MIN_WEIGHT
from yuliu.wire.preset_fields import MAX_LEAD_S

pytestmark = pytest.mark.parametrize("lang", ["en", "zh"])


def page_of(lang: str) -> Page:
    return Page(ROOT / "docs" / lang / "reference" / "presets.md")


def tables_of(page: Page) -> list[list[list[str]]]:
    """Return the rows of each table, without headings."""
    found = re.findall(r"(?:^\|.*\n)+", page.text, re.MULTILINE)
    return [[[cell.strip() for cell in row.split("|")[1:-1]] for row in text.splitlines()[2:]] for text in found]


def row_of(preset: home.Preset) -> list[str]:
    low, high = preset.chunking.weights
    workers, queue = (
        word if bounds.most is None else f"{bounds.least}-{bounds.most}"
        for bounds, word in ((preset.workers, "`all`"), (preset.queue, "`memory`"))
    )
    return [
        f"`{preset.name}`",
        f"{preset.first_packet_s * 1000:g} ms",
        f"`{preset.stream_class.value}`",
        f"`{preset.chunking.strategy}`",
        f"{low:g}-{high:g}",
        workers,
        queue,
        "" if preset.max_lead_s is None else f"{preset.max_lead_s:g} s",
    ]


def test_each_preset_is_listed_with_its_values(lang: str) -> None:
    """The first table contains the built-in presets."""
    assert tables_of(page_of(lang))[0] == [row_of(preset) for preset in presets().values()]


def test_each_field_is_listed_with_its_range(lang: str) -> None:
    """The second table contains every field except the name, with the limits in the code."""
    rows = {row[0].strip("`"): row[1] for row in tables_of(page_of(lang))[1]}
    assert set(rows) == set(as_values(presets()["api"])) - {"name"}
    limits = {
        "first_packet_ms": home.MAX_FIRST_PACKET_MS,
        "workers": home.MAX_WORKERS,
        "queue": home.MAX_QUEUE,
        "max_lead_s": MAX_LEAD_S,
    }
    for field, most in limits.items():
        assert rows[field].endswith(f" {most:,.0f}"), field


def test_each_strategy_is_listed_with_its_weights(lang: str) -> None:
    """The third table contains every strategy with its default weights, and the text states their bounds."""
    page = page_of(lang)
    told = [(row[0], row[1], row[2]) for row in tables_of(page)[2]]
    assert told == [(f"`{name}`", *(f"{weight:g}" for weight in Chunking(name).weights)) for name in STRATEGIES]
    assert re.search(rf"{MIN_WEIGHT:g}\D{{1,4}}{MAX_WEIGHT:g}\b", page.text)


def test_the_example_file_is_accepted(lang: str) -> None:
    """The example changes one preset and adds one, within the stated limits."""
    page = page_of(lang)
    (block,) = [block for block in page.blocks if block.language == "toml"]
    known = parse_presets(block.code, where=lang, known=presets())
    assert known["dialogue"].max_lead_s == 1.5
    assert known["news"].chunking == Chunking("punctuation", 6)
    assert f"{home.MAX_FILE_BYTES // 1024} KiB" in page.text
    assert re.search(rf"\b{home.MAX_PRESETS}\b", page.text)
