"""Written forms and their words, and the map between them."""

from __future__ import annotations

from pathlib import Path

import pytest

from yuliu.text.zh import Mandarin
from yuliu.text.zh.normalise import scan
from yuliu.types import Span

MANDARIN = Mandarin()
DATA = Path(__file__).parents[2] / "data"
TABLE = [
    line.split("\t")
    for line in (DATA / "zh_normalise.tsv").read_text(encoding="utf-8").splitlines()
    if not line.startswith("# ")
]


@pytest.mark.parametrize(("written", "spoken"), TABLE, ids=[written for written, _ in TABLE])
def test_written_form_becomes_words(written: str, spoken: str) -> None:
    """Each kind of number, sign and code has the expected reading."""
    assert "".join(each.spoken for each in scan(written)) == spoken


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("价格是$100左右", "$100"),
        ("涨了25%。", "25%"),
        ("在2024-05-01出发", "2024-05-01"),
        ("折扣30%-50%吧", "30%-50%"),
        ("现在-5℃呢", "-5℃"),
        ("拨打138-0013-8000吧", "138-0013-8000"),
        ("面积120㎡大", "120㎡"),
        ("有2、3个人", "2、3"),
        ("写信到li.lei@163.com吧", "li.lei@163.com"),
        ("营业时间8:05起", "8:05"),
    ],
)
def test_rewriting_is_one_piece_with_its_own_span(text: str, written: str) -> None:
    """However many words a writing becomes, they share its span, and no other character is drawn in."""
    start = text.index(written)
    span = Span(start, start + len(written))
    reading = MANDARIN.read(text)
    assert span in [piece.source for piece in reading.pieces]
    inside = [unit for unit in reading.units if span.start <= unit.source.start < span.end]
    assert len(inside) > 1
    assert {unit.source for unit in inside} == {span}


def test_characters_that_are_not_rewritten_have_spans_of_their_own() -> None:
    """Around a rewriting every syllable points at its own character."""
    reading = MANDARIN.read("约25%的人")
    assert [(unit.text, unit.source) for unit in reading.units if unit.source.end - unit.source.start == 1] == [
        ("约", Span(0, 1)),
        ("的", Span(4, 5)),
        ("人", Span(5, 6)),
    ]


@pytest.mark.parametrize("text", ["Kokoro 是一个 TTS 模型。", "好的，OK。", "他用iPhone拍照"])
def test_latin_words_that_the_voice_cannot_say_are_reported(text: str) -> None:
    """Latin letters are either spoken (TTS, OK) or reported under the rule language_not_spoken (Kokoro, iPhone)."""
    reading = MANDARIN.read(text)
    spoken = {at for unit in reading.units for at in range(*unit.source)}
    unspoken = {at for skip in reading.skipped for at in range(*skip.source)}
    assert {skip.rule for skip in reading.skipped} <= {"language_not_spoken"}
    assert {at for at, char in enumerate(text) if char.isascii() and char.isalpha()} <= spoken ^ unspoken


@pytest.mark.parametrize(
    ("text", "pinyin"),
    [
        ("A4", "ei1 si4"),
        ("K歌", "kei4 ge1"),
        ("T恤", "ti4 xu4"),
        ("GPT", "ji4 pi1 ti4"),
        ("OK", "ou1 kei4"),
        ("MP3", "ai2 mu5 pi1 san1"),
    ],
)
def test_single_letters_and_acronyms_are_spoken_in_mandarin(text: str, pinyin: str) -> None:
    """Letters have Mandarin names."""
    assert " ".join(unit.pinyin or "" for unit in MANDARIN.read(text).units) == pinyin


@pytest.mark.parametrize(
    ("text", "skipped"),
    [("好😀的", (Span(1, 2), "symbol")), ("看Kokoro吧", (Span(1, 7), "language_not_spoken"))],
)
def test_skipped_characters_name_their_rule(text: str, skipped: tuple[Span, str]) -> None:
    """Emoji go under symbol, foreign words under language_not_spoken."""
    (only,) = MANDARIN.read(text).skipped
    assert (only.source, only.rule) == skipped


@pytest.mark.parametrize(
    "text", ["现在40-60°C", "在9:30PM之后付$100", "1,984人在1805室", "v2.0.1和1e-5", "2^10和3*4=12"]
)
def test_texts_that_other_servers_misread_are_read_completely(text: str) -> None:
    """Every sign and digit in them is spoken for by a syllable."""
    reading = MANDARIN.read(text)
    assert not reading.skipped
    assert not any(char.isdigit() for char in reading.spoken)
