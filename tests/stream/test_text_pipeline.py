"""Tests of the text pipeline: parts of one language, their engines, options, effects and skipped text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from yuliu.audio.chain import MAX_VOLUME_DB, Effects
from yuliu.errors import InvalidRequest
from yuliu.segmenter import Chunking
from yuliu.stream.coverage import Ledger
from yuliu.stream.options import StreamOptions
from yuliu.stream.routes import VoiceRoute
from yuliu.stream.text_pipeline import NO_VOICE, SilentSegment, SpokenPart, TextPipeline
from yuliu.text.lexicon import Words
from yuliu.types import SpeakOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from yuliu.types import Lang

BOTH = VoiceRoute({"zh": "zh24", "en": "en22"}, 24_000, "both", engine_rates={"zh24": 24_000, "en22": 22_050})
ENGLISH = VoiceRoute({"en": "slow"}, 24_000, "english", paces={"slow": (0.5, 1.0)})


def pipeline(
    options: StreamOptions | None = None, routes: Mapping[str, VoiceRoute] | None = None
) -> tuple[TextPipeline, Ledger]:
    ledger = Ledger()
    return TextPipeline(options or StreamOptions(), routes or {"": BOTH, "english": ENGLISH}, Words(), ledger), ledger


def parts_of(
    text: str, options: StreamOptions | None = None, routes: Mapping[str, VoiceRoute] | None = None
) -> list[Any]:
    found, _ = pipeline(options, routes)
    return [*found.push(text), *found.flush()]


def only(found: TextPipeline, text: str) -> SpokenPart:
    (part,) = [*found.push(text), *found.flush()]
    assert isinstance(part, SpokenPart)
    return part


def spoken(parts: Iterable[object]) -> list[tuple[str, Lang | None, str]]:
    return [
        (each.part.segment.text.strip(), each.part.segment.lang, each.engine)
        for each in parts
        if isinstance(each, SpokenPart)
    ]


def test_each_language_goes_to_its_engine() -> None:
    """A part carries the sample rate of its engine."""
    parts = parts_of("你好，hello there.")
    assert spoken(parts) == [("你好，", "zh", "zh24"), ("hello there.", "en", "en22")]
    assert [each.part.engine_rate for each in parts] == [24_000, 22_050]


def test_the_ledger_counts_text_and_what_the_reader_left_out() -> None:
    """Markup is skipped by its rule."""
    found, ledger = pipeline()
    found.push("**bold** text.")
    found.flush()
    assert ledger.num_chars == 14
    assert {skip.rule for skip in ledger.coverage().skipped} == {"markdown"}


def test_a_language_that_the_voice_does_not_speak_is_skipped() -> None:
    """The part is silent and names the rule."""
    parts = parts_of("hello 你好。", routes={"": VoiceRoute({"en": "en22"}, 24_000)})
    (silent,) = [each for each in parts if isinstance(each, SilentSegment)]
    assert [skip.rule for skip in silent.skipped] == ["language_not_spoken"]
    assert spoken(parts) == [("hello", "en", "en22")]


def test_a_pause_without_text_is_a_silent_segment() -> None:
    """Nothing of it is skipped."""
    parts = parts_of('<speak><break time="300ms"/></speak>')
    assert [(each.segment.pause_s, each.skipped) for each in parts if isinstance(each, SilentSegment)] == [(0.3, ())]


def test_markup_chooses_among_the_loaded_voices() -> None:
    """An unknown voice is replaced by that of the stream, with one warning."""
    found, _ = pipeline()
    text = '<speak><voice name="english">one.</voice><voice name="x">two.</voice><voice name="x">three.</voice></speak>'
    parts = [*found.push(text), *found.flush()]
    assert [engine for _, _, engine in spoken(parts)] == ["slow", "en22", "en22"]
    assert found.warnings == (NO_VOICE,)


def test_a_pace_beyond_the_range_of_the_engine_is_stretched() -> None:
    """The engine has its fastest pace, and silences count in its own time."""
    (part,) = parts_of("one two.", StreamOptions(SpeakOptions(speed=2.0)), {"": ENGLISH})
    assert (part.plan.speak.speed, part.part.pace) == (1.0, 2.0)
    (plain,) = parts_of("one two.", StreamOptions(SpeakOptions(speed=1.0)), {"": ENGLISH})
    assert part.plan.lead_s == 2 * plain.plan.lead_s


def test_prosody_is_added_to_the_options_within_their_limits() -> None:
    """Volume and pitch add up, and the rate multiplies the speed."""
    options = StreamOptions(effects=Effects(volume_db=MAX_VOLUME_DB - 1, pitch_semitones=1.0))
    text = '<speak><prosody volume="+6dB" pitch="+2st" rate="200%">one</prosody> two.</speak>'
    one, two = parts_of(text, options)
    assert (one.part.effects.volume_db, one.part.effects.pitch_semitones) == (MAX_VOLUME_DB, 3.0)
    assert one.plan.speak.speed == 2.0
    assert two.part.effects == options.effects


def test_options_change_for_text_that_is_not_cut_yet() -> None:
    """Options that are not given stay as they are."""
    found, _ = pipeline()
    found.configure(None, 1.5, lang=None, effects=None)
    found.configure(Chunking("sentence"), None, lang="en", effects=Effects(volume_db=-6.0))
    part = only(found, "2024. ")
    assert (part.plan.speak.speed, part.part.segment.lang, part.part.effects.volume_db) == (1.5, "en", -6.0)
    found.configure(None, None, lang="auto", effects=None)
    assert only(found, "好。").part.segment.lang == "zh"


@pytest.mark.parametrize("change", [{"speed": 5.0, "lang": None}, {"speed": None, "lang": "zh"}])
def test_invalid_changes_leave_the_options_as_they_are(change: dict[str, Any]) -> None:
    """Nothing of a rejected change applies."""
    found, _ = pipeline(routes={"": ENGLISH})
    with pytest.raises(InvalidRequest):
        found.configure(Chunking("sentence"), change["speed"], lang=change["lang"], effects=Effects(volume_db=3.0))
    assert only(found, "one. ").part.effects == Effects()


def test_under_load_text_is_cut_into_whole_sentences() -> None:
    """The decision at admission holds for later changes of the cutting too."""
    text = "一二三四五六七八九十，一二三四五六七八九十，一二三四五六七八九十。"
    found, _ = pipeline()
    found.admitted(first_weight_scale=1.0, throughput=True)
    assert len([*found.push(text), *found.flush()]) == 1
    found.configure(Chunking("punctuation"), None, lang=None, effects=None)
    assert len([*found.push(text), *found.flush()]) == 1
    assert len(parts_of(text)) > 1
