"""What listeners ask for: repeatable, varied, of the wanted length and language."""

from __future__ import annotations

import itertools

from yuliu.bench.load.flat import flat_asks
from yuliu.bench.load.isolation import BULK_NUM_CHARS, bulk_asks
from yuliu.bench.load.texts import Shares, asks
from yuliu.text.scripts import is_han


def drawn(voice: str, *, seed: str = "seed", shares: Shares = (("short", 1),), count: int = 200) -> list[str]:
    return [ask.text for ask in itertools.islice(asks((voice,), seed, shares=shares), count)]


def test_the_same_seed_draws_the_same_texts() -> None:
    """And another one others."""
    assert drawn("baker") == drawn("baker")
    assert drawn("baker") != drawn("baker", seed="another")


def test_hardly_a_text_comes_twice() -> None:
    """No cache makes it easy."""
    assert len(set(drawn("baker"))) > 190
    assert len(set(drawn("heart", shares=(("paragraph", 1),)))) == 200


def test_texts_are_as_long_as_wanted() -> None:
    """In characters of Mandarin; English ones twice as long."""
    assert all(10 <= len(text) <= 50 for text in drawn("baker"))
    assert all(100 <= len(text) <= 240 for text in drawn("baker", shares=(("paragraph", 1),)))
    assert all(200 <= len(text) <= 500 for text in drawn("heart", shares=(("paragraph", 1),)))
    assert all(500 <= len(text) <= 800 for text in drawn("baker", shares=(("long", 1),), count=20))


def test_texts_are_in_the_language_of_the_voice() -> None:
    """A voice of both languages gets both."""
    assert not any(is_han(char) for text in drawn("heart") for char in text)
    assert all(any(is_han(char) for char in text) for text in drawn("baker"))
    mixed = drawn("yuliu", shares=(("paragraph", 1),), count=20)
    assert all(any(is_han(char) for char in text) and "e" in text for text in mixed)


def test_voices_take_turns_and_classes_are_passed_on() -> None:
    """Half of the requests each."""
    wanted = list(itertools.islice(asks(("baker", "heart"), "seed", stream_class="bulk"), 10))
    assert [ask.voice for ask in wanted].count("heart") == 5
    assert {ask.stream_class for ask in wanted} == {"bulk"}


def test_the_long_text_is_long_and_no_short_one_is_asked_twice() -> None:
    """Whatever number of requests the long text takes."""
    num_chars, wanted = 0, bulk_asks("baker")
    while num_chars < BULK_NUM_CHARS:
        num_chars += len(next(wanted).text)
    assert num_chars == BULK_NUM_CHARS
    assert len({ask.text for ask in itertools.islice(flat_asks("heart"), 500)}) == 500
