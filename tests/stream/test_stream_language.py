"""Tests of a stream whose text is read as one language."""

from __future__ import annotations

import pytest
from manual_stream import ManualScheduler, open_manual_stream, run

from yuliu.errors import InvalidRequest
from yuliu.segmenter import Chunking
from yuliu.stream import Stream, StreamContext, StreamOptions, VoiceRoute


def languages(scheduler: ManualScheduler) -> list[tuple[str, str | None]]:
    """Return the text and the language of each submitted segment."""
    return [(segment.text.strip(), segment.lang) for segment, _ in scheduler.segments]


def test_all_text_is_read_as_the_language() -> None:
    """The requested language applies to any script, and to digits, which have none."""

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


def test_markup_overrides_the_language_of_the_stream() -> None:
    """``xml:lang`` applies to a place in the text, the option to the rest."""

    async def check() -> None:
        scheduler = ManualScheduler()
        stream = open_manual_stream(scheduler, StreamOptions(lang="zh"))
        await scheduler.admit()
        await stream.push('<speak>2024。<lang xml:lang="en">2025.</lang> 2026。</speak>')
        await stream.end()
        assert languages(scheduler) == [("2024。", "zh"), ("2025.", "en"), ("2026。", "zh")]

    run(check())


def test_announcements_are_in_the_language_of_the_stream() -> None:
    """Omitted code is announced in it, next to text of another script."""

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


def test_the_language_changes_for_text_that_is_not_cut_yet() -> None:
    """``auto`` returns to the choice by script."""

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


def test_a_language_that_the_voice_does_not_speak_is_rejected() -> None:
    """The error names the field, and an open stream stays as it is."""

    async def check() -> None:
        scheduler = ManualScheduler()
        route = VoiceRoute({"zh": "tone"}, 24_000)
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
