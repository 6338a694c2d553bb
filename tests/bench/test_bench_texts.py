"""Texts of the loads: repeatable, varied, of the requested length and language."""

from __future__ import annotations

import itertools

from yuliu.bench.texts import LengthShares, draw_requests
from yuliu.text.scripts import is_han


def drawn(voice: str, *, seed: str = "seed", shares: LengthShares = (("short", 1),), count: int = 200) -> list[str]:
    return [request.text for request in itertools.islice(draw_requests((voice,), seed, shares=shares), count)]


def test_the_same_seed_draws_the_same_texts() -> None:
    """Another seed draws others."""
    assert drawn("baker") == drawn("baker")
    assert drawn("baker") != drawn("baker", seed="another")


def test_texts_rarely_repeat() -> None:
    """No cache helps."""
    assert len(set(drawn("baker"))) > 190
    assert len(set(drawn("heart", shares=(("paragraph", 1),)))) == 200


def test_texts_have_the_requested_length() -> None:
    """English texts have twice as many characters as Mandarin ones."""
    assert all(10 <= len(text) <= 50 for text in drawn("baker"))
    assert all(100 <= len(text) <= 240 for text in drawn("baker", shares=(("paragraph", 1),)))
    assert all(200 <= len(text) <= 500 for text in drawn("heart", shares=(("paragraph", 1),)))
    assert all(500 <= len(text) <= 800 for text in drawn("baker", shares=(("long", 1),), count=20))


def test_texts_are_in_the_language_of_the_voice() -> None:
    """A voice of two languages gets both."""
    assert not any(is_han(char) for text in drawn("heart") for char in text)
    assert all(any(is_han(char) for char in text) for text in drawn("baker"))
    mixed = drawn("yuliu", shares=(("paragraph", 1),), count=20)
    assert all(any(is_han(char) for char in text) and "e" in text for text in mixed)


def test_voices_take_turns_and_classes_are_passed_on() -> None:
    """Each of two voices gets half of the requests."""
    requests = list(itertools.islice(draw_requests(("baker", "heart"), "seed", stream_class="bulk"), 10))
    assert [request.voice for request in requests].count("heart") == 5
    assert {request.stream_class for request in requests} == {"bulk"}
