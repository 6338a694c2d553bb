"""SSML: what the subset means, and what becomes of what is malformed."""

from __future__ import annotations

import pytest

from yuliu.text.markup import CleanText, MarkupOptions, MarkupReader, Pause, Restyle, UnitEnd, ssml
from yuliu.types import Hint, Span, Style


def read(text: str, options: MarkupOptions | None = None) -> tuple[list[object], tuple[str, ...]]:
    """Texts as strings (joined where they touch), pauses as numbers, styles and ends as they are."""
    reader = MarkupReader(options)
    found: list[object] = []
    for event in [*reader.push(text), *reader.flush()]:
        match event:
            case CleanText(hint=None) if found and isinstance(found[-1], str):
                found[-1] += event.text
            case CleanText(hint=None):
                found.append(event.text)
            case CleanText():
                found.append((event.text, event.hint))
            case Pause():
                found.append(event.pause_s)
            case Restyle():
                found.append(event.style)
    return found, reader.warnings


def inside(text: str) -> list[object]:
    found, warnings = read(f"<speak>{text}</speak>")
    assert warnings == ()
    return found


@pytest.mark.parametrize(
    ("text", "is_document"),
    [
        ("<speak>*a*</speak>", True),
        ("  \n<speak version='1.0' xml:lang='zh-CN'>*a*</speak>", True),
        ("<?xml version='1.0'?><speak>*a*</speak>", True),
        ("a <speak>*a*</speak>", False),
        ("<speaker>*a*", False),
        ("<spe", False),
    ],
)
def test_a_document_begins_with_speak(text: str, is_document: bool) -> None:
    """Such a text is SSML without an option, and contains no other markup."""
    found, _ = read(text)
    said = "".join(part for part in found if isinstance(part, str))
    assert ("*a*" in said) == is_document
    assert ("<spe" in said) == (not is_document)


def test_ssml_can_be_switched_on_and_off() -> None:
    """``on`` recognises tags anywhere, beside Markdown; ``off`` never."""
    text = "**a** <break time='1s'/> b"
    assert read(text, MarkupOptions(ssml="on"))[0] == ["a ", 1.0, " b"]
    assert read("<speak>a</speak>", MarkupOptions(ssml="off"))[0] == ["<speak>a</speak>"]


@pytest.mark.parametrize(
    ("tag", "pause_s"),
    [
        ("<break/>", 0.4),
        ("<break time='500ms'/>", 0.5),
        ('<break time="1.5s" strength="weak"/>', 1.5),
        ("<break strength='none'/>", 0.0),
        ("<break strength='x-strong'/>", 1.2),
        ("<break time='99999s'/>", 10.0),
    ],
)
def test_breaks_are_pauses(tag: str, pause_s: float) -> None:
    """By time or strength, and at most ten seconds."""
    assert inside(f"a{tag}b") == ["a", pause_s, "b"]


@pytest.mark.parametrize(
    ("attributes", "style"),
    [
        ("rate='slow'", Style(rate=0.75)),
        ("rate='120%'", Style(rate=1.2)),
        ("rate='+50%' volume='+6dB'", Style(rate=1.5, volume_db=6.0)),
        ("volume='soft'", Style(volume_db=-6.0)),
        ("volume='100'", Style()),
        ("pitch='+2st'", Style(pitch_semitones=2.0)),
        ("pitch='+100%'", Style(pitch_semitones=12.0)),
    ],
)
def test_prosody_is_a_style(attributes: str, style: Style) -> None:
    """Its end restores the style before it; neutral prosody has no style."""
    styled = inside(f"a<prosody {attributes}>b</prosody>c")
    assert styled == (["a", style, "b", Style(), "c"] if style != Style() else ["abc"])


def test_styles_nest() -> None:
    """Rates multiply, volumes add up, the innermost voice and language count."""
    found = inside("<prosody rate='2'><lang xml:lang='en-US'><prosody rate='50%'>x</prosody></lang></prosody>")
    assert found[:3] == [Style(rate=2.0), Style(rate=2.0, lang="en"), Style(rate=1.0, lang="en")]
    assert found[-1] == Style()
    assert inside("<voice name='heart'>x</voice>") == [Style(voice="heart"), "x", Style()]


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ("<sub alias='World Wide Web'>WWW</sub>", "World Wide Web"),
        ("<sub alias='A &amp; B'>AB</sub>", "A & B"),
        (
            "<phoneme alphabet='pinyin' ph='hang2'>行</phoneme>",
            ("行", Hint(Span(0, 1), "phonemes", "hang2", "pinyin")),
        ),
        ("<phoneme ph='x'>a</phoneme>", ("a", Hint(Span(0, 1), "phonemes", "x", "ipa"))),
        (
            "<say-as interpret-as='date' format='mdy'>1/2</say-as>",
            ("1/2", Hint(Span(0, 3), "say_as", "date", "mdy")),
        ),
        ("<say-as interpret-as='spell-out'>ab</say-as>", ("ab", Hint(Span(0, 2), "say_as", "characters"))),
    ],
)
def test_substitutions_and_hints_come_with_their_text(element: str, expected: object) -> None:
    """An alias replaces its text; phonemes and kinds are hints for the front ends."""
    assert inside(element) == [expected]


@pytest.mark.parametrize(
    ("text", "said", "warning"),
    [
        ("a < b", "a < b", ssml.MALFORMED),
        ("a <b c", "a <b c", ssml.MALFORMED),
        ("<!DOCTYPE x [<!ENTITY y 'z'>]>&y;", "<!DOCTYPE x [<!ENTITY y 'z'>]>&y;", ssml.MALFORMED),
        ("<![CDATA[x]]>", "<![CDATA[x]]>", ssml.MALFORMED),
        ("<break time='" + "9" * 300 + "'/>", "<break time='" + "9" * 300 + "'/>", ssml.MALFORMED),
        ("a</prosody>b", "ab", ssml.UNMATCHED),
        ("<audio src='x'>a</audio>", "a", ssml.UNKNOWN),
        ("<break time='soon'/>a", "a", ssml.VALUE),
        ("<prosody rate='warp'>a</prosody>", "a", ssml.VALUE),
        ("<sub>a</sub>", "a", ssml.VALUE),
        ("<say-as interpret-as='spell'>a</say-as>", "a", ssml.VALUE),
        ("<phoneme alphabet='sampa' ph='a'>b</phoneme>", "b", ssml.VALUE),
        ("<mark/>a", "a", ssml.VALUE),
        ("<emphasis>a</emphasis>", "a", ssml.EMPHASIS),
        ("<lang xml:lang='fr'>a</lang>", "a", ssml.LANGUAGE),
        ("<p>" * 40 + "a" + "</p>" * 40, "a", ssml.TOO_DEEP),
    ],
)
def test_unsupported_markup_is_read_with_a_warning(text: str, said: str, warning: str) -> None:
    """No text is lost, each kind of fault is reported once, and the warning contains none of the text."""
    found, warnings = read(f"<speak>{text}</speak>")
    assert "".join(part for part in found if isinstance(part, str)) == said
    assert warnings == (warning,)


def test_line_ends_in_documents_are_layout() -> None:
    """They are spaces; paragraphs and sentences are tagged."""
    reader = MarkupReader()
    events = reader.push("<speak>\n<p>a\nb</p>\n</speak>")
    assert "".join(event.text for event in events if isinstance(event, CleanText)) == " a b "
    assert len([event for event in events if isinstance(event, UnitEnd)]) == 4


@pytest.mark.parametrize(
    "text",
    [
        "<break time='soon'/>a",
        "<break strength='huge'/>a",
        "<mark/>a",
        "<voice gender='female'>a</voice>",
        "<prosody rate='-200%'>a</prosody>",
        "<prosody pitch='-100%'>a</prosody>",
        "<prosody pitch='300Hz'>a</prosody>",
        "<prosody volume='+7'>a</prosody>",
    ],
)
def test_an_attribute_that_is_not_understood_is_ignored_with_a_warning(text: str) -> None:
    """The text of the element is read."""
    assert read(f"<speak>{text}</speak>") == (["a"], (ssml.VALUE,))


def test_emphasis_none_needs_no_warning() -> None:
    """Other levels cannot be spoken."""
    assert inside("<emphasis level='none'>a</emphasis>") == ["a"]


@pytest.mark.parametrize("text", ["<sub alias=''>x</sub>", "<sub alias='y'></sub>", "<sub alias='y'/>"])
def test_a_substitution_without_text_or_alias_is_silent(text: str) -> None:
    """Both sides of a substitution are needed."""
    assert inside(text) == []


def test_an_unknown_empty_element_is_left_out_with_a_warning() -> None:
    """The text around it is read."""
    assert read("<speak><audio src='x'/>a</speak>") == (["a"], (ssml.UNKNOWN,))
