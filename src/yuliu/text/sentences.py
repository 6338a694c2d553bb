"""Clause and sentence ends, found while the text is still arriving.

:class:`BreakFinder` reads one character at a time and reports a break as soon as the text read so far makes it certain.
It sees no deltas, so every way of cutting a text into deltas gives the same breaks. Nothing is read twice: each
character costs the same, however long the text.

A mark that may end something opens a *run*. The run absorbs further marks and closers (``？！”``), then waits for the
minimum that decides it: a Chinese stop for one character that is not a closer, an English full stop for the first
character after the space, and only after an abbreviation that may end a sentence (``U.S.``) for the whole next word.
"""

from __future__ import annotations

from dataclasses import dataclass

from yuliu.text.scripts import is_han, is_latin, is_pictograph, is_wide
from yuliu.text.stops import (
    CLOSERS,
    ENDS_SENTENCE,
    MARKS,
    OPENERS,
    WEAK,
    MarkRun,
    StopMark,
    Undecided,
    Verdict,
    judge_gap,
    judge_next,
    judge_word,
    tail_boundary,
)
from yuliu.types import Boundary

_MAX_WORD = 48
"""Maximum length of a remembered word; longer ones are not abbreviations."""
_NEWLINES = frozenset("\n\v\f\u0085\u2028\u2029")
_BEFORE_MARKER = frozenset(":：;；")
_ROMAN = frozenset("ivx")
_ROMAN_CAPITALS = frozenset("IVX")


@dataclass(frozen=True, slots=True)
class Break:
    """Place where the text may be cut."""

    end: int
    """Characters from the start of the finder up to the break."""
    boundary: Boundary
    """CLAUSE, SENTENCE or PARAGRAPH."""
    weak: bool = False
    """True for a clause end with hardly any pause (``、``, a space between Chinese words)."""
    line: bool = False
    """True if a line ends here."""


class BreakFinder:
    """Finder of breaks in a text that arrives one character at a time."""

    def __init__(self) -> None:
        self._num_read = 0
        self._run: MarkRun | None = None
        self._last = ""
        self._quote_open = dict.fromkeys("\"'*`", False)
        self._line_length = 0
        self._num_listed = 0  # number of the last list marker, 1 for "A"
        self._start_sentence()

    def _start_sentence(self) -> None:
        self._word = ""
        self._before_word = ""
        self._previous = ""  # the word before, in lower case
        self._is_first = True  # no word but the current one
        self._is_lower: bool | None = None
        self._ink_end = 0  # after the last character that is not white space; 0 if none
        self._last_ink = ""

    def push(self, char: str) -> Break | None:
        """Read one character and return the break that it makes certain, if any. The break lies before ``char``."""
        found = self._settle(self._run, char) if self._run is not None else self._spaced(char)
        self._read(char)
        return found

    def flush(self) -> Boundary | None:
        """Drop the undecided run, as if a new text began, and return the boundary at the end of the text so far.

        Returns:
            SENTENCE, CLAUSE or PARAGRAPH if the text ends in such marks, NONE if it breaks off inside a clause, and
            None if only white space followed the last sentence.
        """
        boundary = tail_boundary(self._run) if self._ink_end else None
        self._run = None
        self._last = ""
        self._start_sentence()
        return boundary

    def _settle(self, run: MarkRun, char: str) -> Break | None:
        """Give ``char`` to the undecided run."""
        if run.next_word is not None:
            return self._settle_word(run, char)
        if char == "\r":
            return None  # of "\r\n"
        if char.isspace():
            level = 2 if char in _NEWLINES else 1
            run.gap = 3 if run.gap >= 2 and level == 2 else max(run.gap, level)
            return self._apply(run, judge_gap(run), char)
        if run.gap == 0 and self._absorb(run, char):
            return None
        return self._apply(run, judge_next(run, char), char)

    def _apply(self, run: MarkRun, verdict: Verdict, char: str) -> Break | None:
        if verdict is Undecided.WAIT:
            return None
        if verdict is Undecided.WORD:
            run.next_word = char
            return None
        self._run = None
        if not isinstance(verdict, Boundary):
            if run.is_list_marker:
                self._num_listed = _number_listed(run.word)
            return None
        if verdict is not Boundary.CLAUSE:
            self._start_sentence()
        return _break_at(run, verdict)

    def _settle_word(self, run: MarkRun, char: str) -> Break | None:
        word = run.next_word or ""
        if (char.isalpha() or char in "'’") and not is_wide(char) and len(word) < _MAX_WORD:
            run.next_word = word + char
            return None
        self._run = None
        if judge_word(run, char) is not Boundary.SENTENCE:
            return None
        word, ink_end = self._word, self._ink_end  # the word has been read: it opens the new sentence
        self._start_sentence()
        self._word, self._ink_end, self._last_ink, self._is_lower = word, ink_end, self._last, False
        return _break_at(run, Boundary.SENTENCE)

    def _absorb(self, run: MarkRun, char: str) -> bool:
        """Return whether ``char`` still belongs to the run before it."""
        mark = MARKS.get(char)
        if mark is not None:
            if mark is StopMark.DASH and run.mark in ENDS_SENTENCE:
                return False
            run.take(mark)
        elif is_pictograph(char):
            pass
        elif char in CLOSERS or self._closes_quote(run, char):
            run.quoted = True
        else:
            return False
        run.end = self._num_read + 1
        return True

    def _closes_quote(self, run: MarkRun, char: str) -> bool:
        """Return whether ``char``, directly after ``run``, closes a quotation whose opening mark looks the same."""
        if char in "\"'" and run.mark in (StopMark.DOT, StopMark.ASK) and not run.quoted:
            return True  # English puts a space before what opens
        return self._quote_open.get(char, False)

    def _spaced(self, char: str) -> Break | None:
        """Return the break at a space between two Chinese words, where a writer would otherwise put a comma."""
        if self._last and self._last in " \u3000\t" and self._last_ink and is_han(char) and is_han(self._last_ink):
            return Break(self._ink_end, Boundary.CLAUSE, weak=True)
        return None

    def _read(self, char: str) -> None:
        self._num_read += 1
        self._line_length += 1
        if char.isspace():
            self._read_space(char)
        else:
            self._read_ink(char)
        self._last = char

    def _read_space(self, char: str) -> None:
        if char in _NEWLINES:
            if self._run is None and self._ink_end:
                self._open(StopMark.LINE, self._ink_end, gap=2)
            self._quote_open = dict.fromkeys(self._quote_open, False)
            self._line_length = 0
        self._end_word()

    def _read_ink(self, char: str) -> None:
        mark = MARKS.get(char)
        if mark is None and char in "-–" and self._ink_end and (self._last.isspace() or self._last == "-"):
            mark = StopMark.HYPHEN
        if mark is not None and self._run is None:
            self._open(mark, self._num_read)
        self._track_quotes(char)
        self._track_word(char)
        self._ink_end = self._num_read
        self._last_ink = char

    def _open(self, mark: StopMark, end: int, *, gap: int = 0) -> None:
        self._run = MarkRun(
            mark=mark,
            end=end,
            before=self._last_ink,
            word=self._word,
            previous=self._previous,
            is_marker=self._may_be_marker(),
            is_lower=bool(self._is_lower),
            line_length=self._line_length,
            gap=gap,
        )

    def _may_be_marker(self) -> bool:
        """Return whether the word before a full stop is a list marker: first in its sentence, or next in its list."""
        word = self._word
        if word.isdecimal() and len(word) <= 3:
            return self._is_first or self._before_word in _BEFORE_MARKER or int(word) == self._num_listed + 1 > 1
        is_letter = len(word) == 1 and is_latin(word)
        if not self._is_first:
            return is_letter and _number_listed(word) == self._num_listed + 1 > 1
        return is_letter or (bool(word) and set(word) <= _ROMAN) or (bool(word) and set(word) <= _ROMAN_CAPITALS)

    def _track_quotes(self, char: str) -> None:
        if char not in self._quote_open or (char == "*" and self._last == "*"):
            return
        if char == "'" and self._last.isalnum() and not self._quote_open[char]:
            return  # an apostrophe
        self._quote_open[char] = not self._quote_open[char]

    def _track_word(self, char: str) -> None:
        if is_wide(char):
            self._word = self._previous = ""
            self._is_first = False
        elif char in OPENERS or char in '"*_—' or (not self._word and not char.isalnum()):
            self._end_word()
        elif len(self._word) < _MAX_WORD:
            self._before_word = self._before_word if self._word else self._last_ink
            self._word += char
            if self._is_lower is None and char.isalpha():
                self._is_lower = char.islower()

    def _end_word(self) -> None:
        if self._word:
            self._previous = self._word.lower()
            self._word = ""
            self._is_first = False


def _number_listed(word: str) -> int:
    """Return the position in its list that a marker names: 3 for ``3`` and ``C``; 0 for Roman numerals and other
    letters."""
    if word.isdecimal():
        return int(word[-9:])
    return ord(word.lower()) - ord("a") + 1 if len(word) == 1 and word.isascii() else 0


def _break_at(run: MarkRun, boundary: Boundary) -> Break:
    return Break(run.end, boundary, weak=run.mark in WEAK, line=run.gap >= 2)


class SentenceCutter:
    """Splitter of arriving text into sentences.

    Joined, the sentences are the input; white space between sentences opens the later one. The same text gives the same
    sentences however it is cut into deltas.
    """

    def __init__(self) -> None:
        self._finder = BreakFinder()
        self._pending: list[str] = []
        self._num_done = 0

    def push(self, delta: str) -> list[str]:
        """Take the next piece of text and return the sentences that are now certain."""
        sentences = []
        for char in delta:
            found = self._finder.push(char)
            if found is not None and found.boundary is not Boundary.CLAUSE:
                sentences.append(self._take(found.end - self._num_done))
            self._pending.append(char)
        return sentences

    def flush(self) -> list[str]:
        """Return the pending text, if any, as the last sentence; more text may follow as a new one."""
        self._finder.flush()
        return [self._take(len(self._pending))] if self._pending else []

    def _take(self, num_chars: int) -> str:
        sentence = "".join(self._pending[:num_chars])
        del self._pending[:num_chars]
        self._num_done += num_chars
        return sentence
