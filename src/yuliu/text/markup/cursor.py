"""Position of the reader in a text, and the actions of its rules.

A rule is a function of a :class:`Cursor`. It looks at the text from ``cursor.at`` on and either takes some of it
(``DONE``), leaves it (``NOT_MINE``), or needs to see more first (``WAIT``). To be independent of how the text is cut, a
rule decides only what no further text could change; so that no rule waits for ever, each looks ahead a bounded length.
When the text is flushed the cursor sees a line end after it, which no rule can take.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import lru_cache
from typing import TYPE_CHECKING

from yuliu.text.languages import language_of
from yuliu.text.markup.events import CleanText, Pause, Restyle, UnitEnd
from yuliu.text.scripts import SCRIPTS
from yuliu.types import Mark, Skipped, Span, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.text.languages import Language, MarkupWords
    from yuliu.text.markup.events import MarkupEvent
    from yuliu.text.markup.options import MarkupOptions
    from yuliu.types import Boundary, Hint, Lang

_LATIN = re.compile("[A-Za-zÀ-ɏ]")


class Progress(Enum):
    """Result of a rule."""

    DONE = auto()
    NOT_MINE = auto()
    WAIT = auto()


class LineContext(Enum):
    """Kind of the current line."""

    PLAIN = auto()
    HEADING = auto()
    TABLE = auto()


@lru_cache(maxsize=64)
def _scripts_of(languages: tuple[Language, ...]) -> tuple[Lang | None, tuple[tuple[re.Pattern[str], Lang], ...]]:
    """Return the language of Latin letters, and the letters of other scripts with the first language of each."""
    owners: dict[str, Lang] = {}
    for language in languages:
        for script in language.scripts:
            owners.setdefault(script, language.lang)
    latin = owners.pop("Latn", None)
    # Han last: Japanese writes it beside kana, which are more specific.
    others = [(re.compile(f"[{SCRIPTS[script]}]"), owners[script]) for script in sorted(owners, key="Hani".__eq__)]
    return latin, tuple(others)


@dataclass(slots=True)
class Cursor:
    """Text at hand, position in it, and markup that is open."""

    options: MarkupOptions
    languages: Sequence[Lang]
    text: str = ""
    at: int = 0
    end: int = 0
    """End of the available text. Rules may look beyond it (at the line end that a flush adds) but take nothing there.
    """
    base: int = 0
    """Source offset of the first character of ``text``."""
    final: bool = False
    out: list[MarkupEvent] = field(default_factory=list)
    warnings: dict[str, None] = field(default_factory=dict)
    """Warnings in order of appearance, each once."""
    is_ssml: bool = False
    line: LineContext = LineContext.PLAIN
    is_line_start: bool = True
    """True if only white space and markers came in this line."""
    after_bullet: bool = False
    is_blank: bool = True
    """True if nothing at all came in this line."""
    fence: str = ""
    """Marks that opened the current code block; empty outside code."""
    in_code_line: bool = False
    """True in the middle of a line of a code block."""
    emphasis: set[str] = field(default_factory=set)
    """Open marks of emphasis."""
    num_links: int = 0
    """Number of open brackets that are known to be links."""
    styles: list[tuple[str, Style]] = field(default_factory=list)
    """Open SSML elements, outermost first, and the style inside each."""
    num_too_deep: int = 0
    """Number of open SSML elements beyond the maximum depth."""
    read_as: Lang | None = None
    """Language of the whole text; None decides by script."""
    _lang: Lang | None = None
    _latin: Lang | None = field(init=False)
    """Language of words in Latin letters."""
    _others: tuple[tuple[re.Pattern[str], Lang], ...] = field(init=False)
    """Letters that settle the language of their line, each with that language."""
    _is_line_settled: bool = False

    def __post_init__(self) -> None:
        """Look up the scripts of the languages."""
        self._latin, self._others = _scripts_of(tuple(map(language_of, self.languages)))

    @property
    def char(self) -> str:
        """Next character."""
        return self.text[self.at]

    @property
    def before(self) -> str:
        """Source character before the next one, or ''."""
        return self.text[self.at - 1] if self.at else ""

    @property
    def lang(self) -> Lang:
        """Language of the surroundings, by the script of the current line or of the latest one with letters."""
        return self.read_as or self._lang or self.languages[0]

    @property
    def style(self) -> Style:
        """Style of the next character."""
        return self.styles[-1][1] if self.styles else Style()

    def look(self, whole: re.Pattern[str], prefix: re.Pattern[str]) -> re.Match[str] | Progress:
        """Return the match of ``whole`` here, WAIT if the available text matches ``prefix`` and more may come, or
        NOT_MINE."""
        match = whole.match(self.text, self.at)
        if match is not None and match.end() <= self.end:
            return match
        if not self.final and prefix.fullmatch(self.text, self.at):
            return Progress.WAIT
        return Progress.NOT_MINE

    def say(self, num_chars: int) -> Progress:
        """Take characters as text."""
        start, text = self.base + self.at, self.text[self.at : self.at + num_chars]
        self.out.append(CleanText(text, Span(start, start + num_chars)))
        self._note(text)
        self.at += num_chars
        return Progress.DONE

    def rewrite(self, text: str, num_chars: int, hint: Hint | None = None) -> Progress:
        """Take characters and speak ``text`` in their place."""
        start = self.base + self.at
        self.out.append(CleanText(text, Span(start, start + num_chars), hint))
        self.at += num_chars
        return Progress.DONE

    def skip(self, num_chars: int, rule: str) -> Progress:
        """Take characters without speaking them."""
        if num_chars:
            start = self.base + self.at
            self.out.append(Skipped(Span(start, start + num_chars), rule))
            self.at += num_chars
        return Progress.DONE

    def end_unit(self, boundary: Boundary) -> None:
        """End a unit here."""
        self.out.append(UnitEnd(boundary))

    def pause(self, pause_s: float) -> None:
        """Insert silence here."""
        self.out.append(Pause(pause_s))

    def mark(self, name: str) -> None:
        """Name this place."""
        self.out.append(Mark(name, self.base + self.at))

    def restyle(self) -> None:
        """Report that ``style`` may have changed."""
        self.out.append(Restyle(self.style))

    def warn(self, message: str) -> None:
        """Report markup that could not be followed: a fixed sentence without any of the text."""
        self.warnings[message] = None

    @property
    def words(self) -> MarkupWords:
        """Words to add to the text, in the language of the surroundings."""
        return language_of(self.lang).markup

    def end_line(self) -> None:
        """End the current line."""
        if self.is_blank:
            self.emphasis.clear()
        self.line = LineContext.PLAIN
        self.is_line_start = self.is_blank = True
        self.after_bullet = False

    def _note(self, text: str) -> None:
        """Keep track of the language of ``text``."""
        if len(self.languages) == 1:
            return
        if "\n" not in text:
            self._note_line(text)
            return
        *ended, last = text.split("\n")
        for line in ended:
            self._note_line(line)
            self._is_line_settled = False
        self._note_line(last)

    def _note_line(self, text: str) -> None:
        if self._is_line_settled:
            return
        for letters, lang in self._others:
            if letters.search(text):
                self._is_line_settled = True
                self._lang = lang
                return
        if self._latin is not None and _LATIN.search(text):
            self._lang = self._latin
