"""A stream whose text is to be read as one language."""

from __future__ import annotations

import pytest
from manual_stream import ManualScheduler, open_manual_stream, run

from yuliu.errors import InvalidRequest
from yuliu.segmenter import Chunking
from yuliu.stream import Route, Stream, StreamContext, StreamOptions


def languages(scheduler: ManualScheduler) -> list[tuple[str, str | None]]:
    """What was given to engines, as which language."""
    return [(segment.text.strip(), segment.lang) for segment, _ in scheduler.segments]


def test_all_text_is_read_as_the_language() -> None:
    """Digits alone have no script; a language that is asked for is not asked of the script at all."""

    async def check() -> None:
        for lang in ("zh", "en"):
            scheduler = ManualScheduler()
            stream = open_manual_stream(scheduler, StreamOptions(lang=lang))
            await scheduler.admit()
            await stream.push("2024. OK 好。")
            await stream.end()
            assert "".join(text for text, _ in languages(scheduler)).replace(" ", "") == "2024.OK好。"
            assert {found for _, found in languages(scheduler)} == {lang}

    run(check())


def test_markup_has_the_last_word() -> None:
    """``xml:lang`` is said of a place in the text, the option of all of it."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler, StreamOptions(lang="zh"))
        await scheduler.admit()
        await stream.push('<speak>2024。<lang xml:lang="en">2025.</lang> 2026。</speak>')
        await stream.end()
        assert languages(scheduler) == [("2024。", "zh"), ("2025.", "en"), ("2026。", "zh")]

    run(check())


def test_words_of_the_reader_are_in_the_language() -> None:
    """What is announced in place of code, beside text of another script."""

    async def check() -> None:
        said = []
        for lang in ("zh", "en"):
            scheduler = ManualScheduler()
            stream = open_manual_stream(scheduler, StreamOptions(lang=lang))
            await scheduler.admit()
            await stream.push("10:\n\n```\nx = 1\n```\n")
            await stream.end()
            said.append(" ".join(text for text, _ in languages(scheduler)))
        assert "Code omitted" in said[1]
        assert "代码略" in said[0]

    run(check())


def test_it_changes_for_what_is_not_cut_so_far() -> None:
    """And back to what the script says."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler, StreamOptions(chunking=Chunking("punctuation")))
        await scheduler.admit()
        await stream.push("2024.\n")
        stream.configure(lang="en")
        await stream.push("2025.\n")
        stream.configure(speed=1.5)
        await stream.push("2026.\n")
        stream.configure(lang="auto")
        await stream.push("好。")
        await stream.end()
        found = dict(languages(scheduler))
        assert (found["2024."], found["2025."], found["2026."], found["好。"]) == ("zh", "en", "en", "zh")

    run(check())


def test_a_language_that_is_not_spoken_is_refused() -> None:
    """By the name of the field, before anything is opened; a stream that runs stays as it was."""

    async def check() -> None:
        scheduler = ManualScheduler()
        route = Route({"zh": "tone"}, 24_000)
        with pytest.raises(InvalidRequest, match="'en'; it speaks 'zh'") as error:
            Stream(scheduler, route, StreamOptions(lang="en"), StreamContext({}))  # type: ignore[arg-type]
        assert error.value.param == "language"
        stream = Stream(scheduler, route, StreamOptions(), StreamContext({}))  # type: ignore[arg-type]
        await scheduler.admit()
        with pytest.raises(InvalidRequest):
            stream.configure(lang="en", speed=2.0)
        await stream.push("你好。")
        await stream.end()
        assert languages(scheduler) == [("你好。", "zh")]
        assert scheduler.segments[0][1].speak.speed == 1.0

    run(check())
