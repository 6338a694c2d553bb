"""The reader: markup out, clean text on, whatever way the text is cut; nothing is lost, nothing waits for ever."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from yuliu.errors import InvalidRequest
from yuliu.text.markup import CleanText, MarkupOptions, MarkupReader, Pause, Restyle, UnitEnd
from yuliu.types import Boundary, Mark, Skipped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.text.markup import MarkupEvent
    from yuliu.types import Lang

DATA = Path(__file__).parents[2] / "data"
PIECES = [
    *"*_`~#|[]()<>&$\\!:-=^ \n\r.,!。，a字x1é\x00\ud800\u202e\u200d\ufe0f\U0010ffff",
    *("**", "***", "__", "``", "```", "~~~", "~~", "\n\n", "# ", "- ", "1. ", "> ", "---", "===", "|---|\n", "| a |\n"),
    *(
        "![",
        "](http://a.b/c)",
        "[^1]",
        "[^1]: ",
        "[x] ",
        "[a]: http://b\n",
        "$$",
        "$x^2$",
        "$5",
        "\\(",
        "\\)",
        "\\frac{a}{b}",
    ),
    *("&amp;", "&#65;", "&nope;", "<b>", "</b>", "<br>", "<!--", "-->", "<stop>", "<a href='x'>", "<http://a.b>"),
    *("https://a.b/c", "https://", "www.x.y", "h", "w", "👍", "👍🏽", "👨‍👩‍👧", "🇨🇳", "1️⃣", ":)", ";-)", "^_^"),
    *("*sighs*", "*笑*", "*sig", "[pause 1s]", "[pause 99999s]", "[pause", "<speak>", "</speak>", "<break time='1s'/>"),
    *("<prosody rate='slow'>", "</prosody>", "<sub alias='b'>c</sub>", "<say-as interpret-as='date'>1</say-as>"),
    *("<phoneme alphabet='pinyin' ph='a1'>x</phoneme>", "<mark name='m'/>", "<voice name='v'>", "<p>", "好的", "word"),
]
CHARS = st.characters(codec=None)
TEXTS = st.lists(st.sampled_from(PIECES) | CHARS, max_size=40).map("".join)
OPTIONS = st.sampled_from(
    [
        MarkupOptions(),
        MarkupOptions(markdown=False),
        MarkupOptions(ssml="on", emoji="name", math="announce", code_blocks="speak"),
        MarkupOptions(inline_code="announce", code_blocks="skip", urls="full", stage_directions="speak", math="skip"),
        MarkupOptions(ssml="off", emoji="name", inline_code="skip", pause_tags=False),
    ]
)
FLUSH = None


def events_of(
    deltas: Sequence[str | None], options: MarkupOptions | None = None
) -> tuple[list[MarkupEvent], tuple[str, ...]]:
    """Return the events and warnings of a reader of ``deltas``, flushed where one is None, and at the end."""
    reader = MarkupReader(options)
    events: list[MarkupEvent] = []
    for delta in [*deltas, FLUSH]:
        events += reader.flush() if delta is FLUSH else reader.push(delta)
    return events, reader.warnings


def clean(text: str, options: MarkupOptions | None = None, *, languages: Sequence[Lang] = ("zh", "en")) -> str:
    """Return the clean text, with a bar where a unit ends."""
    reader = MarkupReader(options, languages=languages)
    parts = []
    for event in [*reader.push(text), *reader.flush()]:
        match event:
            case CleanText():
                parts.append(event.text)
            case UnitEnd():
                parts.append("|")
            case Pause():
                parts.append(f"<{event.pause_s}>")
    return "".join(parts)


def rules_of(text: str, options: MarkupOptions | None = None) -> dict[str, str]:
    """Return the skipped text, joined, by the name of the rule."""
    skipped: dict[str, str] = {}
    for event in events_of([text], options)[0]:
        if isinstance(event, Skipped):
            skipped[event.rule] = skipped.get(event.rule, "") + text[slice(*event.source)]
    return skipped


def one_by_one(events: Sequence[MarkupEvent]) -> list[object]:
    """Return the events with runs of text and skips taken apart, so that cuts do not matter."""
    apart: list[object] = []
    for event in events:
        if isinstance(event, CleanText) and event.hint is None and len(event.text) == len(range(*event.source)):
            apart += zip(event.text, event.origins, strict=True)
        elif isinstance(event, Skipped):
            apart += [(event.rule, at) for at in range(*event.source)]
        else:
            apart.append(event)
    return apart


@settings(max_examples=400, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=3), options=OPTIONS, data=st.data(), is_document=st.booleans())
def test_any_cutting_gives_the_same(
    texts: list[str], options: MarkupOptions, data: st.DataObject, is_document: bool
) -> None:
    """Events and warnings depend on the text and its flushes, not on the deltas."""
    texts[0] = "<speak>" * is_document + texts[0]
    whole: list[str | None] = [delta for text in texts for delta in (text, FLUSH)]
    singles = [char for text in texts for char in [*text, FLUSH]]
    places = [sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6))) for text in texts]
    cut: list[str | None] = []
    for text, at in zip(texts, places, strict=True):
        cut += [text[start:end] for start, end in zip([0, *at], [*at, len(text)], strict=True)]
        cut.append(FLUSH)
    expected, warnings = events_of(whole, options)
    for deltas in (singles, cut):
        events, told = events_of(deltas, options)
        assert one_by_one(events) == one_by_one(expected)
        assert told == warnings


@settings(max_examples=400, deadline=None)
@given(text=TEXTS, options=OPTIONS, is_document=st.booleans())
def test_every_character_is_spoken_or_skipped_by_a_named_rule(
    text: str, options: MarkupOptions, is_document: bool
) -> None:
    """The sources of texts and skips tile the text; origins lie in their sources and do not go back."""
    text = "<speak>" * is_document + text
    at = 0
    for event in events_of([text], options)[0]:
        if isinstance(event, CleanText | Skipped):
            assert event.source.start == at < event.source.end
            at = event.source.end
        if isinstance(event, CleanText):
            origins = list(event.origins)
            assert len(origins) == len(event.text) > 0
            assert origins == sorted(origins)
            assert event.source.start == origins[0] <= origins[-1] < event.source.end
        if isinstance(event, Skipped):
            assert event.rule.replace("_", "").isalpha()
        if isinstance(event, Pause):
            assert 0 <= event.pause_s <= 10
    assert at == len(text)


@pytest.mark.parametrize(
    "text",
    [
        *(mark * 100_000 for mark in "*_`~[]<>&$\\!:|#-=^(h\n👍\u200d"),
        *(
            piece * 20_000
            for piece in ("[a", "![a", "<b ", "$x", "\\(", "&a", "**a", "https://", "- ", "> ", "*sigh", "[^")
        ),
        "<prosody rate='slow'>" * 10_000 + "x" + "</prosody>" * 10_000,
        "<speak>" + "<prosody rate='slow'>" * 10_000 + "x" + "</prosody>" * 10_000,
        "<speak>" + "<sub alias='" * 10_000,
        "<speak>" + "<sub alias='b'>" * 10_000,
        "https://a.b/" + "c" * 100_000,
        "```\n" + "`" * 100_000,
        "$" + "x^" * 50_000 + "$",
        "$" + "{" * 150 + "}" * 9 + "$",
        "[" * 50_000 + "]" * 50_000 + "(" * 1000,
    ],
    ids=lambda text: text[:12].encode("unicode_escape").decode(),
)
@pytest.mark.parametrize("options", [MarkupOptions(), MarkupOptions(ssml="on", emoji="name")], ids=["default", "ssml"])
def test_unclosed_markup_is_held_within_bounds(text: str, options: MarkupOptions) -> None:
    """Endless markup is read as it comes: a bounded part of it waits, and nothing is lost."""
    reader = MarkupReader(options)
    taken = 0
    for start in range(0, len(text), 1000):
        for event in reader.push(text[start : start + 1000]):
            if isinstance(event, CleanText | Skipped):
                taken = event.source.end
        assert min(start + 1000, len(text)) - taken <= 2600
    last = [event for event in reader.flush() if isinstance(event, CleanText | Skipped)]
    assert (last[-1].source.end if last else taken) == len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**Arg #1**", "Arg #1"),
        ("A (b) c.\n\nNext.", "A (b) c.\n\nNext."),
        ("Keep <stop> and <prd> as they are.", "Keep <stop> and <prd> as they are."),
        ("# Title\nText", "| Title|\nText"),
        ("## Plan ##\nGo", "| Plan |\nGo"),
        ("#hashtag and C# and #1", "#hashtag and C# and #1"),
        ("Apple\nBanana\nCherry", "Apple\nBanana\nCherry"),
        ("*one* thing, _two_ things, ***three***, ~~four~~", "one thing, two things, three, four"),
        ("这是**重点**内容，*也是*。", "这是重点内容，也是。"),
        ("**a *b***", "a b"),
        ("3*4=12, 2 * 3, 2**10, f(a*b)", "3*4=12, 2 * 3, 2**10, f(a*b)"),
        ("Price* excludes tax.", "Price* excludes tax."),
        ("snake_case and __init__.py and ____ days", "snake_case and init.py and ____ days"),
        ("~5 and 好的~~", "~5 and 好的~~"),
        ("- one\n* two\n+ three", "| one\n| two\n| three"),
        ("-5°C\n*note*\n+1", "-5°C\nnote\n+1"),
        ("1. First\n2) Second\n3.14 is no item", "|1. First\n|2) Second\n3.14 is no item"),
        ("- [x] done\n- [ ] open\n[x] none", "|  done\n|  open\n[x] none"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |\n", " a , b |\n|\n 1 , 2 |\n"),
        ("| 姓名 | 分数 |\n", " 姓名 ， 分数 |\n"),
        ("a | b\n--- | ---\n1 | 2", "a , b\n|\n1 , 2"),
        ("|x| is what||ever", "x, is what,,ever"),
        ("> quoted\n> > twice\n>5 items", " quoted\n  twice\n>5 items"),
        ("a\n\n---\n\nb\n***\nc\n===\n", "a\n\n|\n\nb\n|\nc\n|\n"),
        ('see [the docs](https://a.b/c_d(e)f "T") now', "see the docs now"),
        ("[**bold** link][ref] and ![alt](x.png)\n[ref]: https://a.b\nend", "bold link and alt\n\nend"),
        ("arr[0][1], [1][2], [note] (aside)", "arr[0][1], [1][2], [note] (aside)"),
        ("[label](not closed", "label](not closed"),
        ("It is so.[^1]\n\n[^1]: Really.", "It is so.\n\n Really."),
        (r"\*no\* 1\. \_ C:\dir", "*no* 1. _ C:\\dir"),
        ("a &amp; b &lt; c &#20013;&#x6587;&nbsp;AT&T &nope; &#0;", "a & b < c 中文 AT&T &nope; \ufffd"),
        ("a<br>b<!-- never -->c <b>d</b> H<sub>2</sub>O", "a|bc d H2O"),
        ("x < y and y > z, a <b and c", "x < y and y > z, a <b and c"),
        ("<a href=\"https://a.b\" class='x'>here</a>", "here"),
        ("<https://a.b/c> <me@a.b> <mailto:me@a.b>", "a.b/c me@a.b me@a.b"),
        ("<p>one</p><td>x</td><td>y</td>", "|one|x,y,"),
        ("<!-- not closed", "<!-- not closed"),
        ("Hello :) 好的:-D ok ^_^ a: b) http :/", "Hello  好的 ok  a: b) http "),
        ("Great 👍🏽🎉! 1️⃣ and ❤️", "Great ! 1 and "),
        ("①②❸", "①②❸"),
        ("[pause 500ms]Hi[pause: 1.5s] [PAUSE=99s] [pause] [pause x]", "<0.5>Hi<1.5> <10.0> [pause] [pause x]"),
    ],
)
def test_markup_is_taken_out(text: str, expected: str) -> None:
    """Markdown, HTML and their neighbours are removed; look-alikes are kept."""
    assert clean(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It costs $5 and $10.", "It costs $5 and $10."),
        (
            "From $3-$5, $100 = $50 + $50, US$5, $HOME, $A and $B",
            "From $3-$5, $100 = $50 + $50, US$5, $HOME, $A and $B",
        ),
        ("so $x^2$ and $n$", "so x squared and n"),
        ("设 $x^2 + y_1 \\leq \\frac{a}{b}$，则", "设 x的平方加y 1小于等于b分之a，则"),
        ("When \\(\\alpha \\times 2 \\neq \\pi\\) holds", "When alpha times 2 not equal to pi holds"),
        ("$$\\sum_{i=1}^{n} i = \\sqrt{2}$$", "求和从i等于1到n，i等于根号2"),
        ("Then \\[E = mc^{2}\\] is", "Then E equals m c squared is"),
        ("Let $f(x) = -2x^{10}$", "Let f x equals minus 2 x to the power of 10"),
        ("The angle is $90^\\circ$, $5\\%$", "The angle is 90 degrees, 5 percent"),
        ("We have $$\\begin{matrix}1\\end{matrix}$$", "We have formula"),
        ("Take $\\text{speed} = \\lim_{t \\to 0} v$", "Take speed equals the limit as t to 0 of v"),
    ],
)
def test_short_formulas_are_spoken_and_money_is_left(text: str, expected: str) -> None:
    """LaTeX becomes words of the language around it; a dollar sign before an amount stays."""
    assert clean(text) == expected


def test_money_does_not_wait_for_a_second_dollar_sign() -> None:
    """A price is passed on as soon as the following text cannot be a formula."""
    reader = MarkupReader()
    events = reader.push("It costs $5 and mo")
    assert "".join(event.text for event in events if isinstance(event, CleanText)) == "It costs $5 and mo"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*sighs* Well.", " Well."),
        ("*clears her throat* *takes a deep breath* *laughs softly* Hi", "   Hi"),
        ("*叹气* 好吧 *重要* 的", " 好吧 重要 的"),
        ("*takes* note, *clears* up, *very sad* (laughs)", "takes note, clears up, very sad (laughs)"),
        ("**sighs** loudly", "sighs loudly"),
    ],
)
def test_stage_directions_are_skipped_and_emphasis_is_not(text: str, expected: str) -> None:
    """Only known verbs between single asterisks are directions."""
    assert clean(text) == expected
    spoken = clean(text, MarkupOptions(stage_directions="speak"))
    assert "*" not in spoken
    assert len(spoken) >= len(expected)


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("See https://docs.example.com/a_b?c=1#d.", "See docs.example.com."),
        ("(http://www.a.org:8080/x(y)z), www.b.cn！", "(www.a.org), www.b.cn！"),
        ("请看https://a.com/x，谢谢", "请看a.com/x，谢谢"),
        (
            "https://a.com/docs/v2/ https://a.com/a/b/c https://a.com/2024 https://a.com/",
            "a.com/docs/v2/ a.com a.com a.com/",
        ),
        ("**https://a.b** user@a.b ftp://f.g/h", "a.b user@a.b f.g/h"),
        ("how who ftp w www https: shttps://a.b", "how who ftp w www https: shttps://a.b"),
    ],
)
def test_addresses_have_a_short_and_a_full_reading(text: str, short: str) -> None:
    """The short one is the host and a short path; mail addresses and surrounding punctuation are kept."""
    assert clean(text) == short
    assert clean(text, MarkupOptions(urls="full")) == text.replace("**", "")


@pytest.mark.parametrize(
    ("handling", "expected"),
    [
        ("skip", "这样：\n||\n行"),
        ("announce", "这样：\n|代码略。||\n行"),
        ("speak", "这样：\n|\n|x = **1**\n||\n行"),
    ],
)
def test_code_blocks_are_spoken_skipped_or_announced(handling: str, expected: str) -> None:
    """A block contains no markup; the announcement is in the language of the surrounding text."""
    text = "这样：\n```py\nx = **1**\n```\n行"
    assert clean(text, MarkupOptions(code_blocks=handling)) == expected  # type: ignore[arg-type]
    assert clean(text.replace("这样", "So").replace("`", "~"), MarkupOptions(code_blocks="announce")).startswith(
        "So：\n|Code omitted.|"
    )


@pytest.mark.parametrize(
    ("handling", "expected"),
    [("speak", "run make *all* or a`b now"), ("skip", "run  or  now"), ("announce", "run  code  or  code  now")],
)
def test_inline_code_is_spoken_skipped_or_announced(handling: str, expected: str) -> None:
    """Text between backticks is read as it is."""
    text = "run `make *all*` or ``a`b`` now"
    assert clean(text, MarkupOptions(inline_code=handling)) == expected  # type: ignore[arg-type]


def test_a_stall_in_a_code_block_does_not_make_it_read() -> None:
    """A flush inside a block leaves it a block."""
    events, _ = events_of(["Look:\n```\nx = 1\n", FLUSH, "y = 2\n``", "`\nDone."])
    assert "".join(event.text for event in events if isinstance(event, CleanText)) == "Look:\n代码略。\nDone.".replace(
        "代码略", "Code omitted"
    ).replace("。", ".")


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("**a** [b](c) https://d.e/f?g", {"markdown": "****[", "url": "](c)https:///f?g"}),
        ("`a` &#0; <b>x</b><!--c-->", {"markdown": "``", "html_tag": "<b></b>", "html_comment": "<!--c-->"}),
        ("*sighs* 👍 :)", {"stage_direction": "*sighs*", "emoji": "👍", "emoticon": ":)"}),
        ("a[^1][pause 1s]", {"footnote": "[^1]", "pause_tag": "[pause 1s]"}),
        ("```\nx\n```", {"code_block": "\nx\n```"}),
        ("<speak>a</speak>", {"ssml_tag": "<speak></speak>"}),
    ],
)
def test_skips_name_their_rule(text: str, rules: dict[str, str]) -> None:
    """Each skip gives the reason."""
    assert rules_of(text) == rules


def test_emoji_can_be_named() -> None:
    """English names come from Unicode, Mandarin ones from a table; sequences are one emoji; an emoji without a name is
    skipped."""
    options = MarkupOptions(emoji="name")
    assert clean("Nice 👍🏽 and 👨‍👩‍👧!", options, languages=("en",)) == "Nice thumbs up,  and man, !"
    assert clean("太好了🎉❤️", options) == "太好了，庆祝，红心，"
    assert rules_of("🇨🇳", options) == {"emoji": "🇨🇳"}


def test_without_markdown_it_is_text() -> None:
    """The option leaves Markdown, HTML and LaTeX alone; pause tags have their own."""
    text = "# **a** `b` [c](d) <b>e</b> $x^2$ *sighs*"
    assert clean(text, MarkupOptions(markdown=False)) == text
    assert clean("a[pause 1s]b", MarkupOptions(pause_tags=False)) == "a[pause 1s]b"


def test_added_words_are_in_a_language_of_the_voice() -> None:
    """An English voice announces in English, whatever the surrounding text."""
    assert "Code omitted." in clean("看：\n```\nx\n```", languages=("en",))


@pytest.mark.parametrize("field", ["code_blocks", "inline_code", "math", "emoji", "urls", "stage_directions", "ssml"])
def test_unknown_choices_are_refused(field: str) -> None:
    """The message lists the accepted values."""
    with pytest.raises(InvalidRequest, match="must be one of") as error:
        MarkupOptions(**{field: "loud"})  # type: ignore[arg-type]
    assert error.value.param == field


def test_output_of_language_models_reads_cleanly() -> None:
    """The texts of the streaming cases come out as a person would read them."""
    rows = map(json.loads, (DATA / "llm_stream.jsonl").read_text(encoding="utf-8").splitlines())
    texts = {row["id"]: "".join(delta for delta in row["deltas"] if not delta.startswith("@@")) for row in rows}
    assert clean(texts["en-markdown"]) == (
        "| Plan|\n\n|1. Measure first.\n|2. Change one thing.\n|3. Run make bench.\n\nDone!"
    )
    assert clean(texts["mixed-code"]) == "你可以用 pip install yuliu 安装，然后运行：\n|代码略。||\n就可以了。"
    assert clean(texts["emoji-only"]) == ""
    assert clean(texts["zh-weather"]) == texts["zh-weather"]
    assert clean(texts["abbrev"]) == texts["abbrev"]


def kinds(events: Sequence[MarkupEvent]) -> list[object]:
    return [event for event in events if not isinstance(event, CleanText | Skipped)]


def test_units_have_boundaries() -> None:
    """Headings end in a paragraph boundary, items and code in a sentence boundary."""
    events, _ = events_of(["# A\n- b\n"])
    assert kinds(events) == [UnitEnd(Boundary.PARAGRAPH), UnitEnd(Boundary.PARAGRAPH), UnitEnd(Boundary.SENTENCE)]


def test_marks_know_their_place() -> None:
    """A mark's offset is that of its tag."""
    events, _ = events_of(["<speak>a<mark name='here'/>b</speak>"])
    assert [event for event in events if isinstance(event, Mark)] == [Mark("here", 27)]
    assert not [event for event in events if isinstance(event, Restyle)]


def test_a_formula_without_words_is_skipped() -> None:
    """So are all formulas with ``math="skip"``; a dollar sign at the end is text."""
    assert clean("$\\left\\right$ x") == " x"
    assert clean("a $x$ b", MarkupOptions(math="skip")) == "a  b"
    assert clean("cost $") == "cost $"
    assert clean("a$x^2$ b") == "a$x^2$ b"


def test_a_long_formula_is_announced() -> None:
    """The announcement is in the language of the surrounding text."""
    formula = "x" + "+x" * 70
    assert clean(f"看 ${formula}$ 。") == "看 公式 。"


def test_code_that_is_spoken_may_break_off_inside_a_line() -> None:
    """No unit ends there."""
    assert clean("```\nab", MarkupOptions(code_blocks="speak")) == "|\n|ab"


def test_the_language_of_the_text_may_change_on_the_way() -> None:
    """Added words follow it."""
    reader = MarkupReader(MarkupOptions(emoji="name"))
    events = reader.push("hi 🙂 ")
    reader.read_as("zh")
    events += [*reader.push("🙂 ok"), *reader.flush()]
    said = "".join(event.text for event in events if isinstance(event, CleanText))
    assert "smil" in said
    assert "微笑" in said


def test_words_between_dollar_signs_are_no_formula() -> None:
    """They are read as they stand."""
    assert clean("$hello world$ x") == "$hello world$ x"
