"""Languages by BCP 47 tag: which one a tag means, and what a registry refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.errors import InvalidRequest
from yuliu.text.languages import (
    Language,
    Registry,
    all_languages,
    find_language,
    language_of,
    load_registry,
    parse_language,
    phoneme_alphabets,
    phoneme_problem,
    register,
    unregister,
)
from yuliu.text.languages.definition import as_written

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CANTONESE = Language("yue", "Cantonese", scripts=("Hani",), sample="你好呀。", tags=("zh-HK", "zh-MO"))
WELSH = Language("cy", "Welsh", scripts=("Latn",), sample="Bore da.", alphabets={"ipa": lambda _: "", "x-cy": str})


@pytest.fixture
def welsh() -> Iterator[None]:
    """Register Welsh for one test."""
    register(WELSH)
    yield
    unregister("cy")


@pytest.mark.parametrize(
    ("tag", "lang"),
    [
        ("zh", "zh"),
        ("EN", "en"),
        ("en-US", "en"),
        ("EN_us", "en"),
        ("en-Latn-GB-oxendict", "en"),
        ("eng", "en"),
        ("zh-CN", "zh"),
        ("zh-Hant", "zh"),
        ("zh-Hant-TW", "zh"),
        ("cmn-Hans-CN", "zh"),
        ("zh-cmn-Hans", "zh"),
        ("zho", "zh"),
        ("en-a-bcd-x-yz", "en"),
    ],
)
def test_a_tag_finds_the_nearest_language(tag: str, lang: str) -> None:
    """The tag itself first, then ever shorter ones, in any case and with either separator."""
    assert parse_language(tag) == find_language(tag) == lang


@pytest.mark.parametrize("tag", ["yue", "zh-yue", "zh-yue-HK", "fr", "e", "english", "x-en", "i-default"])
def test_a_tag_of_no_language_is_refused(tag: str) -> None:
    """Cantonese is not read as Mandarin, nor any other language as a similarly spelled one."""
    assert find_language(tag) is None
    with pytest.raises(InvalidRequest, match="zh, en") as caught:
        parse_language(tag, param="lang")
    assert caught.value.param == "lang"
    assert "'lang'" in caught.value.message


@pytest.mark.parametrize("value", [5, None, "", "en us", "en--us", "-en", "en-", "中文", "en" * 50, "en\n"])
def test_a_value_that_is_no_tag_is_refused_with_an_example(value: object) -> None:
    """The message shows a valid tag."""
    with pytest.raises(InvalidRequest, match=r"'language' must be a language tag such as en-US; there are zh, en"):
        parse_language(value)


def test_the_message_of_an_unknown_language_names_the_value() -> None:
    """It also names the field and the available languages."""
    with pytest.raises(InvalidRequest, match=r"'language': there is no language 'fr-CA'; there are zh, en"):
        parse_language("fr-CA")


def test_a_longer_tag_of_one_language_goes_before_a_shorter_one_of_another() -> None:
    """``zh-HK`` means Cantonese once that is registered."""
    found = Registry([*load_registry(), CANTONESE])
    assert [found.lookup(tag) for tag in ("zh-HK", "zh-Hant-HK", "zh-yue", "yue-Hant", "zh-TW")] == [
        "yue",
        "zh",
        "yue",
        "yue",
        "zh",
    ]


def test_two_languages_cannot_claim_one_tag() -> None:
    """Case does not matter."""
    with pytest.raises(ValueError, match="'zh' and 'yue' both claim the tag 'CMN'"):
        Registry([*load_registry(), Language("yue", "Cantonese", scripts=(), sample="", tags=("CMN",))])
    with pytest.raises(ValueError, match="'yue' is already registered"):
        Registry([CANTONESE, CANTONESE])


def test_a_language_in_a_script_that_is_not_known_is_refused() -> None:
    """Its text could not be recognised."""
    with pytest.raises(ValueError, match="'tlh' names unknown scripts: Piqd"):
        register(Language("tlh", "Klingon", scripts=("Latn", "Piqd"), sample="nuqneH"))
    assert find_language("tlh") is None


@pytest.mark.usefixtures("welsh")
def test_a_registered_language_is_found_everywhere() -> None:
    """It is found until it is removed."""
    assert parse_language("cy-GB") == "cy"
    assert all_languages() == ("zh", "en", "cy")
    assert language_of("cy") is WELSH
    unregister("cy")
    assert find_language("cy") is None
    with pytest.raises(LookupError, match="no language 'cy' is registered; there are zh, en"):
        language_of("cy")


@pytest.mark.usefixtures("welsh")
def test_an_alphabet_may_belong_to_several_languages() -> None:
    """Phonemes are wrong if none of them can say them."""
    assert phoneme_alphabets() == ("pinyin", "ipa", "x-misaki", "x-cy")
    assert phoneme_problem("ɬ", "ipa") == ""
    assert "symbols that the voice does not have" in phoneme_problem("ɬ", "x-misaki")
    assert phoneme_problem("no good", "x-cy") == "no good"


def test_languages_come_from_installed_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entry points are loaded once a language is asked for that is not built in."""
    (tmp_path / "toy_esperanto.py").write_text(
        "from yuliu.text.languages import Language\n"
        "ESPERANTO = Language('eo', 'Esperanto', scripts=('Latn',), sample='Saluton.')\n"
    )
    info = tmp_path / "toy_esperanto-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy-esperanto\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[yuliu.languages]\neo = toy_esperanto:ESPERANTO\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    load_registry.cache_clear()
    try:
        assert parse_language("eo-XX") == "eo"
        assert language_of("eo").name == "Esperanto"
    finally:
        load_registry.cache_clear()


def test_a_language_without_a_front_end_is_read_as_written() -> None:
    """Its engine takes text."""
    front_end = CANTONESE.front_end(None)
    assert front_end.read("你好25").spoken == "你好25"
    assert front_end.read("").pieces == ()


@given(st.text(alphabet=st.sampled_from("abzhen-_09你\n"), max_size=24))
def test_any_text_finds_a_language_or_none(tag: str) -> None:
    """No text raises."""
    assert find_language(tag) in (None, "zh", "en")


def test_a_language_without_a_front_end_is_passed_on_as_written() -> None:
    """The spoken form is the text in one piece, or nothing for no text."""
    front_end = as_written(None)
    assert [piece.spoken for piece in front_end.read("こんにちは").pieces] == ["こんにちは"]
    assert front_end.read("").pieces == ()
