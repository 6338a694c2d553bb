"""The text bench: it tells right readings from wrong ones, and no character is lost."""

from __future__ import annotations

import random

import pytest

from bench.corpus import token_streams, written_cases
from bench.reading_cases import merged, normalised, rate_cases
from bench.text import follow, fuzz, is_covered, measure_cost, random_text, text_page
from yuliu.explanation import Explainer


@pytest.fixture(scope="module")
def explainer() -> Explainer:
    return Explainer()


def test_the_written_cases_meet_their_targets(explainer: Explainer) -> None:
    """The share that is read right is at least the promised one."""
    shares = {area: entry["right"] / entry["cases"] for area, entry in rate_cases(explainer, written_cases()).items()}
    assert {area.split()[0] for area in shares} == {"tn", "g2p", "lid_span", "segment_stream", "wordseg"}
    assert min(shares["tn zh"], shares["tn en"]) >= 0.98
    assert shares["g2p zh"] >= 0.96
    assert all(share == 1 for area, share in shares.items() if area.split()[0] not in ("tn", "g2p"))


@pytest.mark.parametrize(
    "case",
    [
        {"area": "tn", "lang": "en", "text": "It costs $5.", "expected": "it costs five euros"},
        {"area": "tn", "lang": "zh", "text": "共25个。", "expected": "共二五个"},
        {"area": "g2p", "lang": "zh", "text": "银行", "expected": [[1, "行", ["xing2"]]], "tone": "citation"},
        {"area": "lid_span", "lang": "mixed", "text": "开会meeting", "expected": [["开会meeting", "zh"]]},
        {"area": "segment_stream", "lang": "en", "text": "One. Two.", "expected": ["One. Two."]},
        {"area": "wordseg", "lang": "zh", "text": "今天天气很好我们去公园", "expected": "今 天天 气很 好我 们去 公园"},
    ],
    ids=lambda case: str(case["area"]),
)
def test_a_wrong_answer_is_counted_as_wrong(explainer: Explainer, case: dict[str, object]) -> None:
    """The check of each area can fail."""
    ((_, entry),) = rate_cases(explainer, [case]).items()
    assert entry["right"] == 0
    assert entry["wrong"] == [case["text"]]


def test_readings_are_normalised_before_comparison() -> None:
    """Spaces, punctuation, case, the two zeros and an English "and" do not count."""
    assert normalised("One hundred and Two-three!", "en") == normalised("one hundred two three", "en")
    assert normalised("二〇二四 年。", "zh") == normalised("二零二四年", "zh")
    assert merged([("a", "en"), ("b", "en"), ("好", "zh")]) == [("ab", "en"), ("好", "zh")]


def test_random_texts_lose_nothing(explainer: Explainer) -> None:
    """Every character is in a segment or skipped by a rule."""
    assert fuzz(explainer, 300)["lost"] == 0


def test_a_lost_character_is_noticed(explainer: Explainer) -> None:
    """The check of coverage can fail."""
    explanation = explainer.explain("Hello there. And more.")
    assert is_covered(explanation)
    object.__setattr__(explanation, "text", explanation.text + "x")
    assert not is_covered(explanation)


def test_random_texts_contain_difficult_characters() -> None:
    """Markup and halves of surrogate pairs are among them."""
    texts = "".join(random_text(random.Random(number)) for number in range(200))
    assert "<speak>" in texts
    assert any("\ud800" <= char < "\ue000" for char in texts)


def test_arriving_texts_are_followed(explainer: Explainer) -> None:
    """The first segment is complete soon after its end, and a stall completes the last sentence."""
    rows = {row["id"]: row for row in (follow(explainer, line) for line in token_streams())}
    assert all(row["chars_behind"] <= 5 for row in rows.values())
    assert rows["stalled-tool-call"]["by"] == "stall"
    assert rows["en-decimal-split"]["first"] == "Pi is about 3.14,"


def test_the_page_names_the_wrong_texts(explainer: Explainer) -> None:
    """Each stands in the row of its area."""
    cases = {"tn en": {"cases": 2, "right": 1, "wrong": ["$5 bad"]}}
    report = {
        "cases": cases,
        "start_cpu_s": 0.5,
        "memory_mb": 100.0,
        "cost": measure_cost(explainer),
        "fuzz": fuzz(explainer, 1),
        "arriving": [],
    }
    assert "| tn en | 2 | 50.0% | 98% | $5 bad |" in text_page(report)
