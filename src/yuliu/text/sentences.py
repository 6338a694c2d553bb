"""Where clauses and sentences end, found while the text is still arriving.

:class:`BreakFinder` reads one character at a time and tells of a break as soon as what has been read makes it
certain. As it knows nothing of deltas, every way of cutting a text into deltas gives the same breaks. Nothing is
read twice: each character costs the same, however long the text.

A mark that may end something opens a *run*. The run absorbs further marks and closers (``？！”``), then waits for as
little as decides it: a Chinese stop for one character that is not a closer, an English full stop for the first
character after the space, and only after an abbreviation that may end a sentence (``U.S.``) for the whole next word.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from yuliu.text.abbreviations import CLOCKS, CLOSING, INNER, NUMBERED, STARTERS, TITLES
from yuliu.text.scripts import is_han, is_latin, is_pictograph, is_wide
from yuliu.types import Boundary

_MAX_WORD = 48
"""Characters remembered of a word; longer ones are no abbreviation."""
_MIN_WRAPPED = 50
"""A line at least this long that goes on in lower case was wrapped by an editor, not ended by its writer."""

_NEWLINES = frozenset("\n\v\f\u0085\u2028\u2029")
_CLOSERS = frozenset("”’」』）】》〉〕］｝〗〙»)]}")
_OPENERS = frozenset("“‘「『（【《〈〔［｛〖〘«([{")


class _Mark(Enum):
    """What opened, or last changed, a run."""

    STOP = auto()
    """A full-width stop: certain, only closers may follow."""
    ASK = auto()
    """``!`` and ``?``."""
    DOT = auto()
    """One ``.``."""
    ELLIPSIS = auto()
    CLAUSE = auto()
    """A full-width comma, colon or semicolon."""
    LIST = auto()
    """``、``: parts things that are told in one breath."""
    COMMA = auto()
    """``, ; :``."""
    DASH = auto()
    HYPHEN = auto()
    """``-`` or ``–`` after a space."""
    LINE = auto()
    """The end of a line that has no mark of its own."""


_MARKS = {
    **dict.fromkeys("。！？｡‼⁇⁈⁉", _Mark.STOP),
    **dict.fromkeys("!?", _Mark.ASK),
    **dict.fromkeys(".．", _Mark.DOT),
    **dict.fromkeys("…⋯", _Mark.ELLIPSIS),
    **dict.fromkeys("，；：､", _Mark.CLAUSE),
    **dict.fromkeys("、", _Mark.LIST),
    **dict.fromkeys(",;:", _Mark.COMMA),
    **dict.fromkeys("—―⸺", _Mark.DASH),
}
_ENDS_SENTENCE = frozenset({_Mark.STOP, _Mark.ASK, _Mark.DOT, _Mark.ELLIPSIS})


@dataclass(frozen=True, slots=True)
class Break:
    """A place where the text may be cut."""

    end: int
    """Characters read since the finder was made, up to the break."""
    boundary: Boundary
    """CLAUSE, SENTENCE or PARAGRAPH."""
    weak: bool = False
    """A clause end where speech hardly pauses (``、``, a space between Chinese words)."""
    line: bool = False
    """Whether a line ends here."""


class _Verdict(Enum):
    WAIT = auto()
    WORD = auto()
    """Wait for the whole next word."""
    NO = auto()


@dataclass(slots=True)
class _Run:
    """Marks and closers whose meaning is not yet decided."""

    mark: _Mark
    end: int
    before: str
    """The character before the run, or ''."""
    word: str
    """The word before the run."""
    first: bool
    """Whether that word opens the sentence: a list marker, perhaps."""
    lower: bool
    """Whether the sentence began with a small letter: its writer uses no capitals."""
    line_length: int
    num_dots: int = 0
    quoted: bool = False
    """Whether a closer followed the mark."""
    gap: int = 0
    """White space after the run: 0 none, 1 in the line, 2 the line ended, 3 a line was left empty."""
    next_word: str | None = None
    """The word after the run, as far as it has arrived, once it is waited for."""


class BreakFinder:
    """Finds breaks in a text that is given one character at a time."""

    def __init__(self) -> None:
        self._num_read = 0
        self._run: _Run | None = None
        self._last = ""
        self._quote_open = {'"': False, "'": False, "*": False}
        self._line_length = 0
        self._start_sentence()

    def _start_sentence(self) -> None:
        self._word = ""
        self._first = True
        self._lower: bool | None = None
        self._ink_end = 0
        self._last_ink = ""

    def push(self, char: str) -> Break | None:
        """Read one character; return the break that it makes certain, if any. The break lies before ``char``."""
        found = self._settle(self._run, char) if self._run is not None else self._spaced(char)
        self._read(char)
        return found

    def flush(self) -> Boundary | None:
        """Forget what is undecided, as if a new text began, and tell what the text so far ends in.

        Returns:
            SENTENCE, CLAUSE or PARAGRAPH if it ends in such marks, NONE if it breaks off inside a clause, and None
            if nothing but white space came after the last break.
        """
        run, ink = self._run, self._ink_end > 0
        self._run = None
        boundary = self._tail_boundary(run) if ink else None
        self._start_sentence()
        self._last = ""
        return boundary

    @staticmethod
    def _tail_boundary(run: _Run | None) -> Boundary:
        if run is None or run.next_word is not None or _is_marker(run):
            return Boundary.NONE
        if run.mark in _ENDS_SENTENCE:
            return Boundary.PARAGRAPH if run.gap > 1 else Boundary.SENTENCE
        return Boundary.CLAUSE if run.mark is not _Mark.LINE else Boundary.SENTENCE

    # Deciding a run

    def _settle(self, run: _Run, char: str) -> Break | None:
        if run.next_word is not None:
            return self._settle_word(run, char)
        if char.isspace():
            level = 2 if char in _NEWLINES else 1
            run.gap = 3 if run.gap >= 2 and level == 2 else max(run.gap, level)
            verdict = _judge_gap(run)
        elif run.gap == 0 and self._absorb(run, char):
            return None
        else:
            verdict = _judge(run, char)
        return self._apply(run, verdict, char)

    def _settle_word(self, run: _Run, char: str) -> Break | None:
        if (char.isalpha() or char in "'’") and not is_wide(char) and len(run.next_word or "") < _MAX_WORD:
            run.next_word = f"{run.next_word}{char}"
            return None
        self._run = None
        if char == "." or not _opens_sentence(run):
            return None
        word = self._word
        ink_end = self._ink_end
        self._start_sentence()
        self._word, self._ink_end, self._lower, self._last_ink = word, ink_end, False, self._last
        return self._made(run, Boundary.SENTENCE)

    def _apply(self, run: _Run, verdict: _Verdict | Boundary, first: str) -> Break | None:
        if verdict is _Verdict.WAIT:
            return None
        if verdict is _Verdict.WORD:
            run.next_word = first
            return None
        self._run = None
        if verdict is _Verdict.NO or not isinstance(verdict, Boundary):
            return None
        if verdict is not Boundary.CLAUSE:
            self._start_sentence()
        return self._made(run, verdict)

    def _made(self, run: _Run, boundary: Boundary) -> Break:
        weak = run.mark in (_Mark.LIST, _Mark.HYPHEN)
        return Break(run.end, boundary, weak=weak, line=run.gap >= 2)

    def _absorb(self, run: _Run, char: str) -> bool:
        """Whether ``char`` still belongs to the run before it."""
        mark = _MARKS.get(char)
        if mark is not None:
            self._take_mark(run, mark)
        elif char in _CLOSERS or self._quote_open.get(char, False) or is_pictograph(char):
            run.quoted = run.quoted or not is_pictograph(char)
        else:
            return False
        run.end = self._num_read + 1
        return True

    @staticmethod
    def _take_mark(run: _Run, mark: _Mark) -> None:
        if run.mark is _Mark.DOT and mark is _Mark.DOT:
            run.mark = _Mark.ELLIPSIS
        elif not (
            run.mark in _ENDS_SENTENCE and mark is _Mark.DOT or run.mark is _Mark.STOP and mark in _ENDS_SENTENCE
        ):
            run.mark = mark

    def _spaced(self, char: str) -> Break | None:
        """A space between two Chinese words, where its writer would have put a comma."""
        if self._last and self._last in " \u3000\t" and is_han(char) and self._last_ink and is_han(self._last_ink):
            return Break(self._ink_end, Boundary.CLAUSE, weak=True)
        return None

    # Reading on

    def _read(self, char: str) -> None:
        self._num_read += 1
        if char.isspace():
            self._read_space(char)
        else:
            self._read_ink(char)
        self._last = char

    def _read_space(self, char: str) -> None:
        if char in _NEWLINES:
            if self._run is None and self._ink_end:
                self._open(_Mark.LINE, self._ink_end, gap=2)
            self._quote_open = dict.fromkeys(self._quote_open, False)
            self._line_length = 0
        self._end_word()

    def _read_ink(self, char: str) -> None:
        self._line_length += 1
        mark = _MARKS.get(char)
        if mark is None and char in "-–" and (self._last.isspace() or self._last == "-") and self._ink_end:
            mark = _Mark.HYPHEN
        if mark is not None and self._run is None:
            self._open(mark, self._num_read)
        self._track_quotes(char)
        self._track_word(char)
        self._ink_end = self._num_read
        self._last_ink = char

    def _open(self, mark: _Mark, end: int, *, gap: int = 0) -> None:
        self._run = _Run(
            mark=mark,
            end=end,
            before=self._last_ink,
            word=self._word,
            first=self._first and bool(self._word),
            lower=bool(self._lower),
            line_length=self._line_length,
            gap=gap,
        )

    def _track_quotes(self, char: str) -> None:
        if char not in self._quote_open or (char == "*" and self._last == "*"):
            return
        if char == "'" and self._last.isalnum() and not self._quote_open[char]:
            return  # an apostrophe
        self._quote_open[char] = not self._quote_open[char]

    def _track_word(self, char: str) -> None:
        if is_wide(char):
            self._word = ""
            self._first = False
        elif char in _OPENERS or char in '"*_—' or (not self._word and not char.isalnum()):
            self._end_word()
        elif len(self._word) < _MAX_WORD:
            self._word += char
            if self._lower is None and char.isalpha():
                self._lower = char.islower()

    def _end_word(self) -> None:
        if self._word:
            self._word = ""
            self._first = False


def _is_marker(run: _Run) -> bool:
    """Whether the run is the full stop of a list marker: ``1.``, ``12.``, ``A.``, ``iv.``."""
    if run.mark is not _Mark.DOT or not run.first or run.quoted:
        return False
    word = run.word
    return (word.isdecimal() and len(word) <= 3) or (len(word) == 1 and is_latin(word)) or not set(word) - set("ivx")


def _judge_gap(run: _Run) -> _Verdict | Boundary:
    """What white space after a run decides."""
    if run.gap == 3:
        return Boundary.PARAGRAPH
    if run.mark in _ENDS_SENTENCE:
        return _judge_stop_gap(run)
    if run.gap == 2 or run.before.isdecimal():
        return _Verdict.WAIT
    return Boundary.CLAUSE


def _judge_stop_gap(run: _Run) -> _Verdict | Boundary:
    if run.gap == 2 and not (run.mark is _Mark.DOT and (_key(run) in TITLES or _is_marker(run))):
        return Boundary.PARAGRAPH
    if run.mark is _Mark.STOP or (run.mark is _Mark.ASK and not run.quoted):
        return Boundary.SENTENCE
    return _Verdict.WAIT


def _judge(run: _Run, char: str) -> _Verdict | Boundary:
    """What the first character that is neither closer nor white space decides."""
    if run.gap == 2 and run.mark not in _ENDS_SENTENCE:
        return _judge_line(run, char)
    if run.gap:
        return _judge_spaced(run, char)
    return _judge_joined(run, char)


def _judge_line(run: _Run, char: str) -> _Verdict | Boundary:
    wrapped = run.line_length >= _MIN_WRAPPED and char.islower() and is_latin(char) and not run.before.isdecimal()
    if not wrapped:
        return Boundary.SENTENCE
    return _Verdict.NO if run.mark is _Mark.LINE else Boundary.CLAUSE


def _judge_spaced(run: _Run, char: str) -> _Verdict | Boundary:
    """``run``, a space, ``char``."""
    if run.mark is _Mark.STOP:
        return Boundary.SENTENCE
    if run.mark in (_Mark.ASK, _Mark.ELLIPSIS):
        return Boundary.CLAUSE if char.islower() and not run.lower else Boundary.SENTENCE
    if run.mark is _Mark.DOT:
        return _judge_dot_spaced(run, char)
    return _Verdict.NO if char.isdecimal() else Boundary.CLAUSE


def _judge_dot_spaced(run: _Run, char: str) -> _Verdict | Boundary:
    key = _key(run)
    if _is_marker(run) or key in TITLES or key in INNER or (key in NUMBERED and char.isdecimal()):
        return _Verdict.NO
    if _may_close(run):
        if char.isupper():
            return _Verdict.WORD
        return _Verdict.NO if char.islower() or char.isdecimal() else Boundary.SENTENCE
    if char.islower() and is_latin(char) and not run.lower and len(key) < 4 and not run.before.isdecimal():
        return Boundary.CLAUSE
    return Boundary.SENTENCE


def _judge_joined(run: _Run, char: str) -> _Verdict | Boundary:
    """``char`` follows ``run`` without a space."""
    wide = is_wide(char) or char in _OPENERS
    if run.mark is _Mark.STOP:
        return Boundary.SENTENCE
    if run.mark in (_Mark.CLAUSE, _Mark.LIST):
        return _Verdict.NO if run.before.isdecimal() and char.isdecimal() else Boundary.CLAUSE
    if run.mark is _Mark.DASH:
        return _Verdict.NO if run.before.isdecimal() and char.isdecimal() else Boundary.CLAUSE
    if run.mark is _Mark.ELLIPSIS:
        return Boundary.SENTENCE if wide else Boundary.CLAUSE
    if run.mark is _Mark.HYPHEN:
        return _Verdict.NO
    after_han = is_wide(run.before) and not char.isdecimal()
    if run.mark is _Mark.COMMA:
        return Boundary.CLAUSE if wide or after_han else _Verdict.NO
    if run.mark is _Mark.ASK:
        sure = wide or after_han or (char.isupper() and run.word.isalpha()) or (run.quoted and char in "\"'*")
        return Boundary.SENTENCE if sure else _Verdict.NO
    return _judge_dot_joined(run, wide=wide, after_han=after_han)


def _judge_dot_joined(run: _Run, *, wide: bool, after_han: bool) -> _Verdict | Boundary:
    if not (wide or after_han or run.quoted) or _is_marker(run) or _key(run) in TITLES or _key(run) in INNER:
        return _Verdict.NO
    return Boundary.SENTENCE


def _key(run: _Run) -> str:
    """The word before the full stop as the lists of abbreviations spell it: ``9p`` + ``.m`` gives ``p.m``."""
    return run.word.lower().lstrip("0123456789#-\"'(")


def _is_acronym(key: str) -> bool:
    """Whether ``key`` is an initial or letters parted by full stops: ``j``, ``u.s``, ``p.m``."""
    letters = key.split(".")
    return all(len(letter) == 1 and is_latin(letter) for letter in letters)


def _may_close(run: _Run) -> bool:
    key = _key(run)
    return key in CLOSING or (_is_acronym(key) and not (len(run.word) > 1 and len(key) == 1))


def _opens_sentence(run: _Run) -> bool:
    """Whether the word after an abbreviation opens a sentence rather than going on with the name."""
    word = (run.next_word or "").lower().replace("’", "'")
    key = _key(run)
    if key in ("a.m", "p.m", "etc"):
        return word not in CLOCKS
    return word in STARTERS


class SentenceCutter:
    """Cuts a text into sentences while it arrives.

    Joined, the sentences are the text as given; white space between sentences opens the later one. The same text
    gives the same sentences however it is cut into deltas.
    """

    def __init__(self) -> None:
        self._finder = BreakFinder()
        self._pending: list[str] = []
        self._num_done = 0

    def push(self, delta: str) -> list[str]:
        """Take the next piece of text, cut anywhere; return the sentences that are now certain."""
        sentences = []
        for char in delta:
            found = self._finder.push(char)
            if found is not None and found.boundary is not Boundary.CLAUSE:
                sentences.append(self._take(found.end - self._num_done))
            self._pending.append(char)
        return sentences

    def flush(self) -> list[str]:
        """Return what is pending, if anything, as the last sentence; more text may follow as a new one."""
        self._finder.flush()
        return [self._take(len(self._pending))] if self._pending else []

    def _take(self, num_chars: int) -> str:
        sentence = "".join(self._pending[:num_chars])
        del self._pending[:num_chars]
        self._num_done += num_chars
        return sentence
