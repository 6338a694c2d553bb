"""Reader of markup in arriving text: removes it, passes clean text on, and accounts for every source character.

Most text is taken in runs without a character that could begin markup; at such a character its rules are tried in turn
(see :mod:`yuliu.text.markup.cursor`). Only undecided text is kept.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from yuliu.text.languages import BUILT_IN
from yuliu.text.markup import code, emoji, emphasis, html, lines, links, math_spans, ssml, urls
from yuliu.text.markup.cursor import Cursor, Progress
from yuliu.text.markup.options import MarkupOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from yuliu.text.markup.events import MarkupEvent
    from yuliu.types import Lang

    Rules = Mapping[str, tuple[Callable[[Cursor], Progress], ...]]

_DIGITS = "0123456789"
_LINE_RULES: Rules = {
    "#": (lines.heading,),
    ">": (lines.quote,),
    "|": (lines.table_rule, lines.table),
    "[": (lines.task, lines.footnote, lines.definition),
    ":": (lines.table_rule,),
    "-": (lines.ruler, lines.table_rule, lines.bullet),
    "*": (lines.ruler, lines.bullet),
    "`": (code.fence,),
    "~": (code.fence,),
    **dict.fromkeys("_=", (lines.ruler,)),
    **dict.fromkeys("+•◦▪‣", (lines.bullet,)),
    **dict.fromkeys(_DIGITS, (lines.number,)),
}
_MARKDOWN: Rules = {
    "\n": (lines.line_end,),
    "#": (lines.heading_end,),
    "|": (lines.cell,),
    "*": (emphasis.stars,),
    "_": (emphasis.underscores,),
    "~": (emphasis.strike,),
    "\\": (math_spans.backslash, emphasis.escape),
    "`": (code.inline,),
    "$": (math_spans.dollar,),
    "!": (links.image,),
    "[": (links.footnote_mark, links.link),
    "]": (links.target,),
    "<": (html.comment, html.address, html.tag),
    "&": (html.reference,),
    **dict.fromkeys(":;^", (emoji.emoticon,)),
}
_ADDRESSES: Rules = dict.fromkeys("hHfFwW", (urls.url,))
_PICTURES = re.compile(f"[{emoji.CLASS}]")
_JOINERS = re.compile(f"[{emoji.JOINERS}]")


@lru_cache(maxsize=16)
def _rules(options: MarkupOptions, *, is_ssml: bool) -> tuple[Rules, re.Pattern[str]]:
    """Return the rules by first character, and the pattern of a run without any such character."""
    rules = {**_ADDRESSES}
    if options.markdown and not is_ssml:
        rules |= _MARKDOWN
    if is_ssml or options.ssml == "on":
        rules["<"] = (html.comment, ssml.declaration, ssml.tag, *rules.get("<", (ssml.malformed,)))
        rules["&"] = (html.reference,)
    if is_ssml:
        rules["\n"] = (ssml.line_end,)
    if options.pause_tags:
        rules["["] = (links.pause_tag, *rules.get("[", ()))
    marks = "".join(re.escape(char) for char in rules if char not in _ADDRESSES)
    others = f"{marks}{emoji.CLASS}{emoji.JOINERS}"
    run = re.compile(rf"(?:[^{others}hHfFwW]|(?<=[A-Za-z0-9])[hHfFwW])+")
    return rules, run


class MarkupReader:
    """Reader of the markup in one stream's text. Pure: no clock, no I/O.

    The same text with the same flushes gives the same events however it is cut into deltas, except that a run of text
    may be split. The sources of texts and skips tile the input. At most about two thousand characters are held
    undecided.

    Args:
        options: Kinds of markup, and how each is spoken.
        languages: Languages of the voice, preferred first; added words are in one of them.
        lang: Language of the whole text; None decides by script.
    """

    def __init__(
        self,
        options: MarkupOptions | None = None,
        *,
        languages: Sequence[Lang] = BUILT_IN,
        lang: Lang | None = None,
    ) -> None:
        self._options = options or MarkupOptions()
        self._cursor = Cursor(self._options, languages, read_as=lang)
        self._is_decided = self._options.ssml != "auto"
        self._rules, self._run = _rules(self._options, is_ssml=False)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Parts of the markup that could not be followed: fixed sentences, each once, without any of the text."""
        return tuple(self._cursor.warnings)

    def read_as(self, lang: Lang | None) -> None:
        """Read all further text as this language; None decides by script."""
        self._cursor.read_as = lang

    def push(self, delta: str) -> list[MarkupEvent]:
        """Take the next piece of text and return the events that are now certain, in order."""
        cursor = self._cursor
        cursor.text += delta
        cursor.end = len(cursor.text)
        return self._read()

    def flush(self) -> list[MarkupEvent]:
        """Read the held text as it is, because the text has ended or its writer has stalled. More may be pushed."""
        cursor = self._cursor
        if cursor.at == len(cursor.text):
            return []
        cursor.end = len(cursor.text)
        cursor.text += "\n"
        cursor.final = True
        events = self._read()
        cursor.final = False
        cursor.text = cursor.text[:-1]
        return events

    def _read(self) -> list[MarkupEvent]:
        cursor = self._cursor
        if self._is_decided or self._decide():
            while cursor.at < cursor.end and self._step(cursor) is not Progress.WAIT:
                pass
        keep = max(cursor.at - 1, 0)  # one character of what was read, for rules that look back
        cursor.text = cursor.text[keep:]
        cursor.base += keep
        cursor.at -= keep
        events, cursor.out = cursor.out, []
        return events

    def _decide(self) -> bool:
        """Return whether it is decided if the text is an SSML document."""
        found = ssml.begins(self._cursor)
        self._is_decided = found is not Progress.WAIT
        if found is Progress.DONE:
            self._cursor.is_ssml = True
            self._rules, self._run = _rules(self._options, is_ssml=True)
        return self._is_decided

    def _step(self, cursor: Cursor) -> Progress:
        if cursor.fence:
            return code.block(cursor)
        char = cursor.text[cursor.at]
        if cursor.is_line_start and self._options.markdown and not cursor.is_ssml:
            progress = _line_start(cursor, char)
            if progress is not Progress.NOT_MINE:
                return progress
        run = self._run.match(cursor.text, cursor.at, cursor.end)
        if run is not None:
            return cursor.say(run.end() - cursor.at)
        return _first(self._rules.get(char) or _picture_rules(char), cursor) or cursor.say(1)


def _line_start(cursor: Cursor, char: str) -> Progress:
    if char in " \t\r":
        return cursor.say(1)
    if char == "\n":
        return Progress.NOT_MINE
    cursor.is_blank = False
    progress = _first(_LINE_RULES.get(char, ()), cursor)
    if progress is None:
        cursor.is_line_start = False
        return Progress.NOT_MINE
    return progress


def _first(rules: Sequence[Callable[[Cursor], Progress]], cursor: Cursor) -> Progress | None:
    """Return the first result of a rule that is not ``NOT_MINE``."""
    for rule in rules:
        progress = rule(cursor)
        if progress is not Progress.NOT_MINE:
            return progress
    return None


def _picture_rules(char: str) -> tuple[Callable[[Cursor], Progress], ...]:
    if _PICTURES.match(char):
        return (emoji.picture,)
    return (emoji.joiner,) if _JOINERS.match(char) else ()
