"""A language that a package outside registers is spoken everywhere, without a change to Yuliu."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
import pytest
from native import talking
from serving import serving

from yuliu.cli.app import run
from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine
from yuliu.errors import InvalidRequest
from yuliu.explanation import Explainer
from yuliu.stream import StreamOptions
from yuliu.synthesizer import Synthesizer
from yuliu.text.frontend import Piece, Reading, Unit
from yuliu.text.language_spans import split_languages
from yuliu.text.languages import Language, MarkupWords, register, unregister
from yuliu.text.lexicon import Entry
from yuliu.text.markup import CleanText, MarkupReader
from yuliu.types import Span
from yuliu.voices.toml import parse_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from yuliu.text.frontend import FrontEnd
    from yuliu.text.languages import UnknownWords
    from yuliu.types import Hint, Respelling


class ToyJapanese:
    """Reads one kana after the other, and full-width digits as plain ones."""

    def read(self, text: str, hints: Sequence[Hint] = (), respelling: Respelling | None = None) -> Reading:
        pieces = [Piece(Span(at, at + 1), "二" if char == "２" else char) for at, char in enumerate(text)]
        units = [Unit(piece.source, piece.spoken, (piece.spoken,)) for piece in pieces if piece.spoken.isalnum()]
        return Reading(tuple(pieces), tuple(units))


def front_end(unknown_words: UnknownWords | None) -> FrontEnd:
    return ToyJapanese()


JAPANESE = Language(
    "ja",
    "Japanese",
    scripts=("Kana", "Hani"),
    sample="こんにちは。",
    tags=("jpn",),
    front_end=front_end,
    alphabets={"x-kana": lambda reading: "" if reading.isalpha() else "holds no kana"},
    markup=MarkupWords(code_block="コード省略。", comma="、", has_spaces=False, emoji_name={"🐱": "ねこ"}.get),
)


@pytest.fixture(autouse=True)
def _japanese() -> Iterator[None]:
    register(JAPANESE)
    yield
    unregister("ja")


def load() -> Synthesizer:
    engines = [local_spec("toy", lambda: ToneEngine(languages=("ja", "en")))]
    return Synthesizer(engines, {"toy": {"ja-JP": "toy", "en": "toy"}}, default="toy", num_workers=1)


def test_the_library_speaks_it() -> None:
    """By script, by a tag for the whole text, and by markup."""
    with load() as synthesizer:
        assert synthesizer.languages("toy") == ("ja", "en")
        mixed = synthesizer.speak("こんにちは、world。")
        assert (mixed.coverage.skipped, mixed.coverage.failed) == ((), ())
        settled = synthesizer.speak("2025", options=StreamOptions(lang="ja-JP"))
        assert len(settled.samples) > 0
        marked = synthesizer.speak("<speak>Hello <lang xml:lang='jpn'>2025</lang></speak>")
        assert len(marked.samples) > len(settled.samples)
        with pytest.raises(InvalidRequest, match="does not speak 'zh-CN'; it speaks 'ja', 'en'"):
            synthesizer.speak("2025", options=StreamOptions(lang="zh-CN"))


def test_the_server_speaks_it() -> None:
    """Over HTTP and over the native protocol; other languages are refused by the name of the field."""
    with serving(load) as port:
        url = f"http://127.0.0.1:{port}"
        while httpx.get(f"{url}/ready").status_code != 200:
            pass
        (voice,) = (each for each in httpx.get(f"{url}/v1/audio/voices").json()["voices"] if each["id"] == "toy")
        assert voice["languages"] == ["ja", "en"]
        asked = {"input": "こんにちは", "language": "ja_jp", "response_format": "pcm"}
        spoken = httpx.post(f"{url}/v1/audio/speech", json=asked)
        assert (spoken.status_code, bool(spoken.content)) == (200, True)
        error = httpx.post(f"{url}/v1/audio/speech", json={**asked, "language": "fr"}).json()["error"]
        assert error["param"] == "language"
        assert "'fr'" in error["message"]
        assert "zh, en, ja" in error["message"]
        with talking(port) as talk:
            talk.speak("こんにちは", language="ja-Jpan-JP")
            assert talk.until("done")["failed"] == []


def test_it_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """By the library and on the command line, with its own front end."""
    monkeypatch.setenv("YULIU_HOME", str(tmp_path))
    (segment,) = Explainer(tmp_path).explain("OK、たこ焼き２").segments
    assert [(span.lang, span.spoken) for span in segment.spans] == [("en", "OK,"), ("ja", "たこ焼き二")]
    assert run(["explain", "たこ２", "--lang", "ja-JP", "--json"], None) == 0
    assert json.loads(capsys.readouterr().out)["segments"][0]["spoken"] == "たこ二"
    assert run(["explain", "たこ", "--lang", "fr"], None) == 2
    assert "there is no language 'fr'; there are zh, en, ja" in capsys.readouterr().err


def test_the_reader_of_markup_adds_its_words() -> None:
    """Places without a word in the language are skipped."""
    reader = MarkupReader(languages=("ja", "en"))
    events = [*reader.push("ねこ🐱です $x^2$ 。\n\n```\nx\n```\n"), *reader.flush()]
    clean = "".join(event.text for event in events if isinstance(event, CleanText))
    assert "です  。" in clean
    assert "コード省略。" in clean
    assert "code" not in clean.lower()


def test_lexicons_and_manifests_know_it() -> None:
    """By any of its tags, and by its phoneme alphabet."""
    assert Entry("SQL", "エスキューエル", lang="JPN").lang == "ja"
    assert Entry("東京", "とうきょう", alphabet="x-kana").alphabet == "x-kana"
    with pytest.raises(InvalidRequest, match="there is no language 'ko'; there are zh, en, ja"):
        Entry("SQL", "에스큐엘", lang="ko")
    duo = 'schema = 1\nname = "duo"\ndescription = "Two"\nsample_rate = 24000\n[parts]\nja-JP = "toy"\nen = "heart"\n'
    assert parse_manifest(duo, where="duo.toml").languages == ("ja", "en")


@pytest.mark.parametrize(
    ("text", "languages", "spans"),
    [
        ("東京とOK", ("ja", "en"), [("東京と", "ja"), ("OK", "en")]),
        ("東京", ("zh", "ja"), [("東京", "zh")]),
        ("東京", ("ja", "zh"), [("東京", "ja")]),
        ("？！", ("ja", "zh"), [("？！", "ja")]),
        ("我们OK", ("ja", "zh", "en"), [("我们", "zh"), ("OK", "en")]),
        ("我们在东京。東京", ("ja", "zh"), [("我们在东京。", "zh"), ("東京", "ja")]),
        ("東京です、我们", ("zh", "ja"), [("東京です、", "ja"), ("我们", "zh")]),
    ],
)
def test_its_text_is_told_from_that_of_others(
    text: str, languages: tuple[str, ...], spans: list[tuple[str, str | None]]
) -> None:
    """A script belongs to the first language of the voice that writes it, unless the clause says otherwise."""
    found = split_languages(text, languages)
    assert [(text[each.span.start : each.span.end], each.lang) for each in found] == spans


def test_a_script_that_only_a_registered_language_writes() -> None:
    """Its letters are recognised from then on."""
    text = "გამარჯობა 25, hello"
    assert [each.name for each in split_languages(text, ("en",))] == ["und", "en"]
    register(Language("ka", "Georgian", scripts=("Geor",), sample="გამარჯობა."))
    try:
        assert [each.lang for each in split_languages(text, ("en", "ka"))] == ["ka", "en"]
    finally:
        unregister("ka")
