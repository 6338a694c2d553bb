"""Lexicons as tables and as W3C PLS."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.errors import InvalidRequest
from yuliu.text.languages import phoneme_alphabets
from yuliu.text.lexicon import Entry
from yuliu.text.lexicon.check import checked_phonemes, first_unspeakable
from yuliu.text.lexicon.pls import parse_pls, write_pls
from yuliu.text.lexicon.problems import MAX_ENTRIES, MAX_FILE_BYTES, conflicts
from yuliu.text.lexicon.tsv import parse_tsv, write_tsv

TABLE = """\
\ufeff# how our words are said
text\treading\toptions

行业\thang2 ye4\tpinyin
SQL\tsequel
GPT\t吉皮提\tzh, case\r
kg\t公斤\tAFTER word
 #1\tnumber one
"""


def test_a_table_is_read_as_it_is_documented() -> None:
    """Remarks, heading and empty lines are ignored; options are words in any order and case."""
    parsed = parse_tsv(TABLE.encode())
    assert parsed.checked() == (
        Entry("行业", "hang2 ye4", "pinyin"),
        Entry("SQL", "sequel"),
        Entry("GPT", "吉皮提", lang="zh", match_case=True),
        Entry("kg", "公斤", where="word", stage="after"),
        Entry("#1", "number one"),
    )
    assert parsed.lines == (4, 5, 6, 7, 8)


def test_invalid_lines_are_reported_with_number_and_remedy() -> None:
    """Valid lines are still read; a file that must be valid as a whole is refused."""
    parsed = parse_tsv(b"a b\nx\ty\tfoo\n\ty\nok\tfine\nx\ty\tzh en\na\tb\tc\td\n")
    assert [entry.text for entry in parsed.entries] == ["ok"]
    assert [problem.line for problem in parsed.problems] == [1, 2, 3, 5, 6]
    assert "tab" in parsed.problems[0].message
    assert "there are pinyin, ipa" in parsed.problems[1].message
    assert "contradicts" in parsed.problems[3].message
    with pytest.raises(InvalidRequest, match=r"line 1: .*; line 2: .*"):
        parsed.checked()


def test_long_lists_of_problems_are_truncated() -> None:
    """Five are listed, the rest is counted."""
    with pytest.raises(InvalidRequest, match=r"line 5: .*; and 95 more$"):
        parse_tsv(b"x\n" * 100).checked()


def test_conflicts_name_both_lines() -> None:
    """An entry that replaces an earlier one is reported with the earlier line."""
    told = conflicts(parse_tsv(b"SQL\ta\nsql\tb\nSQL\tc\tcase\nSQL\td\n"))
    assert [(each.line, "line 1" in each.message, "line 2" in each.message) for each in told] == [
        (2, True, False),
        (4, False, True),
    ]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"ok\tfine\n\xff\xfe\tx", "line 2: is not UTF-8"),
        (b"a" * (MAX_FILE_BYTES + 1), "split it in two"),
        (b"a\tb\n" * (MAX_ENTRIES + 1), "more than 20,000 entries"),
    ],
)
def test_oversized_and_binary_tables_are_refused(data: bytes, says: str) -> None:
    """The message gives the remedy."""
    with pytest.raises(InvalidRequest, match=says):
        parse_tsv(data)


PLS = """\
<?xml version="1.0" encoding="UTF-8"?>
<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="ipa" xml:lang="en-GB">
  <meta name="author" content="nobody"/>
  <lexeme xml:id="a"><grapheme>tomato</grapheme><grapheme>tomatoes</grapheme>
    <phoneme>təˈmɑːtəʊ</phoneme><phoneme prefer="true">təˈmeɪtoʊ</phoneme><example>A tomato.</example></lexeme>
  <lexeme><grapheme>W3C</grapheme><alias>World Wide
    Web Consortium</alias></lexeme>
  <lexeme><grapheme>行业</grapheme><phoneme alphabet="x-pinyin">hang2 ye4</phoneme></lexeme>
</lexicon>
"""


def test_pls_from_other_tools_is_read() -> None:
    """Several spellings, a preferred reading, aliases with line breaks, an alphabet for one reading."""
    assert parse_pls(PLS.encode()).checked() == (
        Entry("tomato", "təˈmeɪtoʊ", "ipa", lang="en"),
        Entry("tomatoes", "təˈmeɪtoʊ", "ipa", lang="en"),
        Entry("W3C", "World Wide Web Consortium", lang="en"),
        Entry("行业", "hang2 ye4", "pinyin", lang="en"),
    )


BOMB = b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><lexicon><lexeme>&b;</lexeme></lexicon>'


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (BOMB, "line 1: remove the DOCTYPE"),
        (b"<lexicon>\n<lexeme>", "line 2: the XML is not well-formed"),
        (b"", "not well-formed"),
        (b"<html/>", "must be <lexicon>"),
        (b"<lexicon>" + b"<a>" * 20, "nested too deeply"),
        (b'<?xml version="1.0" encoding="no-such"?><lexicon/>', "save the file in UTF-8"),
        (b'<?xml version="1.0" encoding="base64"?><lexicon/>', "save the file in UTF-8"),
        (b"<lexicon>" + b" " * MAX_FILE_BYTES, "split it in two"),
    ],
)
def test_invalid_and_expanding_documents_are_refused(data: bytes, says: str) -> None:
    """Nothing is expanded; the message gives the place and the remedy."""
    with pytest.raises(InvalidRequest, match=says):
        parse_pls(data)


@pytest.mark.parametrize(
    ("lexeme", "says"),
    [
        ("<lexeme><alias>a</alias></lexeme>", "needs a <grapheme>"),
        ("<lexeme><grapheme>a</grapheme></lexeme>", "needs an <alias>"),
        ("<lexeme><grapheme>a</grapheme><phoneme alphabet='x-sampa'>a</phoneme></lexeme>", "no such alphabet"),
        ("<lexeme><grapheme/><alias>a</alias></lexeme>", "'text' must be"),
    ],
)
def test_invalid_lexemes_are_reported_with_their_line(lexeme: str, says: str) -> None:
    """The others are still read."""
    good = "<lexeme><grapheme>b</grapheme><alias>c</alias></lexeme>"
    parsed = parse_pls(f"<lexicon>\n{lexeme}\n{good}</lexicon>".encode())
    assert [entry.text for entry in parsed.entries] == ["b"]
    assert [problem.line for problem in parsed.problems] == [2]
    assert says in parsed.problems[0].message


STRINGS = st.text(min_size=1, max_size=8).map(str.strip)


@st.composite
def entries(draw: st.DrawFn) -> list[Entry]:
    found = []
    for _ in range(draw(st.integers(0, 6))):
        try:
            alphabet = draw(st.sampled_from([None, *phoneme_alphabets()]))
            entry = Entry(
                draw(STRINGS),
                draw(STRINGS),
                alphabet,
                lang=draw(st.sampled_from([None, "zh", "en"])),
                match_case=draw(st.booleans()),
                where=draw(st.sampled_from([None, "word", "anywhere"])),
                stage="before" if alphabet else draw(st.sampled_from(["before", "after"])),
            )
        except InvalidRequest:
            continue
        found.append(entry)
    return found


@given(entries())
def test_a_table_round_trips_every_entry(given_entries: list[Entry]) -> None:
    """A written table is read as the same entries."""
    assert list(parse_tsv(write_tsv(given_entries).encode()).checked()) == given_entries


@given(entries())
def test_pls_round_trips_every_entry(given_entries: list[Entry]) -> None:
    """A written document is read as the same entries, apart from white space inside them."""
    spaced = [entry for entry in given_entries if _is_plainly_spaced(entry)]
    assert list(parse_pls(write_pls(spaced).encode()).checked()) == spaced


def _is_plainly_spaced(entry: Entry) -> bool:
    """Return whether XML can represent the text: other white space, U+FFFE and U+FFFF are lost."""
    both = entry.text + entry.reading
    return " ".join(both.split()) == both and not {"\ufffe", "\uffff"} & set(both)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    """Only a refusal is raised."""
    for parse in (parse_tsv, parse_pls):
        try:
            parse(data)
        except InvalidRequest as error:
            assert error.message


def test_phonemes_that_no_voice_has_are_found() -> None:
    """Each with its line or place; words and valid phonemes pass."""
    table = "a\thang2\tpinyin\nb\tbad9\tpinyin\nc\thəˈloʊ\tipa\nd\t☃\tx-misaki\ne\tanything\nf\tˈ\tipa\n"
    parsed = parse_tsv(table.encode())
    assert [problem.line for problem in checked_phonemes(parsed)] == [2, 4, 6]
    assert first_unspeakable(parsed.entries).startswith("entry 2: holds no pinyin")
    assert first_unspeakable(parsed.entries[:1]) == ""


def test_a_document_with_too_many_entries_is_refused() -> None:
    """The message says to split it."""
    graphemes = b"<grapheme>a</grapheme>" * 20_001
    with pytest.raises(InvalidRequest, match="more than 20,000 entries; split"):
        parse_pls(b"<lexicon><lexeme>" + graphemes + b"<alias>b</alias></lexeme></lexicon>")


def test_a_document_in_an_unknown_language_is_refused() -> None:
    """Its entries would apply in every language; ``mul`` says so, and regional tags are understood."""
    lexicon = '<lexicon xml:lang="{}"><lexeme><grapheme>a</grapheme><alias>b</alias></lexeme></lexicon>'
    with pytest.raises(InvalidRequest, match="line 1: xml:lang: there is no language 'fr'; there are zh, en, and mul"):
        parse_pls(lexicon.format("fr").encode())
    found = [parse_pls(lexicon.format(tag).encode()).entries[0].lang for tag in ("mul", "", "EN-us", "cmn-Hans")]
    assert found == [None, None, "en", "zh"]


def pls(lexemes: str, lang: str = "en") -> bytes:
    head = '<lexicon version="1.0" xmlns="http://www.w3.org/2005/01/pronunciation-lexicon" alphabet="ipa"'
    return f'{head} xml:lang="{lang}">{lexemes}</lexicon>'.encode()


LEXEME = "<lexeme><grapheme>a</grapheme><alias>b</alias></lexeme>"


def test_a_pls_file_in_an_unknown_language_is_rejected() -> None:
    """The error names the tag and the known languages."""
    with pytest.raises(InvalidRequest, match="there is no language 'xx'"):
        parse_pls(pls(LEXEME, "xx"))


def test_a_pls_file_with_too_many_entries_is_rejected() -> None:
    """The error states the maximum."""
    with pytest.raises(InvalidRequest, match=f"more than {MAX_ENTRIES:,} entries"):
        parse_pls(pls(LEXEME * (MAX_ENTRIES + 1)))
