"""Meaning of a run of punctuation, from the text before it and as much of the following text as has arrived.

Pure decisions on a :class:`MarkRun`; :mod:`yuliu.text.sentences` reads the text and keeps the run.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from yuliu.text.abbreviations import CLOCKS, CLOSING, INNER, LETTERED, MONTHS, NUMBERED, STARTERS, TITLES, UNITS
from yuliu.text.scripts import is_latin, is_wide
from yuliu.types import Boundary

CLOSERS = frozenset("”’」』）】》〉〕］｝〗〙»)]}")
OPENERS = frozenset("“‘「『（【《〈〔［｛〖〘«([{")

_MIN_WRAPPED = 50
"""Minimum length of a line that, when the next one goes on in lower case, was wrapped by an editor."""
_ORDINAL_ENDS = frozenset({"st", "nd", "rd", "th"})
_MIN_WORD = 4
"""Maximum length of an unknown word that is taken for an abbreviation before a full stop and a lower-case letter."""


class StopMark(Enum):
    """Mark that opened a run, or last changed its meaning."""

    STOP = auto()
    """Full-width stop: certain, only closers may follow."""
    ASK = auto()
    """``!`` and ``?``."""
    DOT = auto()
    """One ``.``."""
    ELLIPSIS = auto()
    CLAUSE = auto()
    """Full-width comma or semicolon."""
    LIST = auto()
    """``、`` and ``~``: separators of things said in one breath."""
    COMMA = auto()
    """``, ; :``."""
    LABEL = auto()
    """``：``: a number behind it is read by the text before it."""
    DASH = auto()
    HYPHEN = auto()
    """``-`` or ``–`` after a space."""
    LINE = auto()
    """End of a line without a mark of its own."""


MARKS = {
    **dict.fromkeys("。！？｡‼⁇⁈⁉।؟۔", StopMark.STOP),
    **dict.fromkeys("!?", StopMark.ASK),
    **dict.fromkeys(".．", StopMark.DOT),
    **dict.fromkeys("…⋯", StopMark.ELLIPSIS),
    **dict.fromkeys("，；", StopMark.CLAUSE),
    "：": StopMark.LABEL,
    **dict.fromkeys("、､~～〜", StopMark.LIST),
    **dict.fromkeys(",;:", StopMark.COMMA),
    **dict.fromkeys("—―⸺", StopMark.DASH),
}
ENDS_SENTENCE = frozenset({StopMark.STOP, StopMark.ASK, StopMark.DOT, StopMark.ELLIPSIS})
WEAK = frozenset({StopMark.LIST, StopMark.HYPHEN})


class Undecided(Enum):
    """Text that a run is waiting for, or the verdict that it is not a break."""

    WAIT = auto()
    """The next character."""
    WORD = auto()
    """The whole next word."""
    NO = auto()
    """Not a break."""


Verdict = Undecided | Boundary
"""Verdict on a run: a boundary if it ends something."""


@dataclass(slots=True)
class MarkRun:
    """Marks and closers whose meaning is undecided."""

    mark: StopMark
    end: int
    """Characters read up to the end of the run, where the break would be."""
    before: str
    """Character before the run, or ''."""
    word: str
    """Word before the run."""
    previous: str
    """Word before that one, in lower case; '' if its sentence has none."""
    is_marker: bool
    """True if a full stop here would belong to a list marker: ``1.``, ``A.``."""
    is_lower: bool
    """True if the sentence began with a lower-case letter: its writer uses no capitals."""
    line_length: int
    quoted: bool = False
    """True if a closer followed the mark."""
    gap: int = 0
    """White space after the run: 0 none, 1 in the line, 2 a line end, 3 an empty line."""
    next_word: str | None = None
    """Word after the run as far as it has arrived, once it is awaited."""

    @property
    def key(self) -> str:
        """Spelling of the word in the lists of abbreviations: ``9p`` and ``.m`` give ``p.m``."""
        return self.word.lower().lstrip("0123456789#-\"'(")

    @property
    def is_measure(self) -> bool:
        """True if the word is a unit behind its number: ``5 km``, ``5km``."""
        return self.key in UNITS and (self.word[0].isdecimal() or self.previous[-1:].isdecimal())

    @property
    def may_be_name(self) -> bool:
        """True if the mark may belong to a name inside the sentence: ``I love Yahoo! and eBay.``"""
        return bool(self.previous) and self.word.istitle()

    @property
    def is_in_date(self) -> bool:
        """True if a year may follow a comma here: ``Oct 12th``, ``May``, any number."""
        key = self.key
        return self.before.isdecimal() or key in MONTHS or (key in _ORDINAL_ENDS and self.word[0].isdecimal())

    @property
    def is_list_marker(self) -> bool:
        """True if the run is the full stop of a list marker."""
        return self.is_marker and self.mark is StopMark.DOT and not self.quoted

    def take(self, mark: StopMark) -> None:
        """Absorb a further mark: ``?`` and ``!`` keep their meaning, two full stops become an ellipsis."""
        if self.mark is StopMark.DOT and mark is StopMark.DOT:
            self.mark = StopMark.ELLIPSIS
            return
        keeps = mark is StopMark.DOT or self.mark is StopMark.STOP
        if not (keeps and self.mark in ENDS_SENTENCE and mark in ENDS_SENTENCE):
            self.mark = mark


def judge_gap(run: MarkRun) -> Verdict:
    """Decide by the white space after a run."""
    if run.gap == 3:
        return Boundary.PARAGRAPH
    if run.mark in ENDS_SENTENCE:
        return _judge_stop_gap(run)
    if run.gap == 2 or run.is_in_date:
        return Undecided.WAIT
    return Boundary.CLAUSE


def _judge_stop_gap(run: MarkRun) -> Verdict:
    if run.gap == 2 and not (run.mark is StopMark.DOT and (run.key in TITLES or run.is_list_marker)):
        return Boundary.PARAGRAPH
    if run.mark is StopMark.STOP or (run.mark is StopMark.ASK and not run.quoted and not run.may_be_name):
        return Boundary.SENTENCE
    return Undecided.WAIT


def judge_next(run: MarkRun, char: str) -> Verdict:
    """Decide by ``char``, the first character after the run that is neither closer nor white space."""
    if run.gap == 2 and run.mark not in ENDS_SENTENCE:
        return _judge_line(run, char)
    return _judge_spaced(run, char) if run.gap else _judge_joined(run, char)


def _judge_line(run: MarkRun, char: str) -> Verdict:
    wrapped = run.line_length >= _MIN_WRAPPED and _is_small(char)
    if not wrapped:
        return Boundary.SENTENCE
    return Undecided.NO if run.mark in (StopMark.LINE, StopMark.HYPHEN) else Boundary.CLAUSE


def _judge_spaced(run: MarkRun, char: str) -> Verdict:
    """Decide for ``run``, a space, ``char``."""
    if run.mark in (StopMark.ASK, StopMark.ELLIPSIS):
        return Boundary.CLAUSE if _is_small(char) and not run.is_lower else Boundary.SENTENCE
    if run.mark is StopMark.DOT:
        return _judge_dot_spaced(run, char)
    return Undecided.NO if char.isdecimal() else Boundary.CLAUSE


def _judge_dot_spaced(run: MarkRun, char: str) -> Verdict:
    key = run.key
    if run.is_list_marker or key in TITLES or _is_inner(run) or (key in NUMBERED and char.isdecimal()):
        return Undecided.NO
    if run.is_measure:
        return Undecided.NO if char.islower() or char.isdecimal() else Boundary.SENTENCE
    if _may_close(run):
        if char.isupper():
            return Undecided.WORD
        return Undecided.NO if char.islower() or char.isdecimal() else Boundary.SENTENCE
    if _is_small(char) and not run.is_lower and (run.quoted or (len(key) < _MIN_WORD and not run.before.isdecimal())):
        return Boundary.CLAUSE
    return Boundary.SENTENCE


def _judge_joined(run: MarkRun, char: str) -> Verdict:
    """Decide for ``char`` directly after ``run``."""
    wide = is_wide(char) or char in OPENERS
    after_wide = is_wide(run.before) and not char.isdecimal()
    match run.mark:
        case StopMark.STOP:
            return Boundary.SENTENCE
        case StopMark.LABEL:
            return Undecided.NO if char.isdecimal() else Boundary.CLAUSE
        case StopMark.CLAUSE | StopMark.LIST | StopMark.DASH:
            return Undecided.NO if run.before.isdecimal() and char.isdecimal() else Boundary.CLAUSE
        case StopMark.ELLIPSIS:
            return Boundary.SENTENCE if wide else Boundary.CLAUSE
        case StopMark.COMMA:
            return Boundary.CLAUSE if wide or after_wide else Undecided.NO
        case StopMark.ASK:
            sure = wide or after_wide or (char.isupper() and run.word.isalpha()) or (run.quoted and char == '"')
            return Boundary.SENTENCE if sure else Undecided.NO
        case StopMark.DOT:
            return _judge_dot_joined(run, sure=wide or after_wide or run.quoted)
        case _:
            return Undecided.NO


def _judge_dot_joined(run: MarkRun, *, sure: bool) -> Verdict:
    if not sure or run.is_list_marker or run.key in TITLES or _is_inner(run):
        return Undecided.NO
    if run.key in CLOSING or ("." in run.key and _may_close(run)):
        return Undecided.NO  # "U.S." or "(Acme Inc.)" as a word in a Chinese sentence
    return Boundary.SENTENCE


def judge_word(run: MarkRun, char: str) -> Verdict:
    """Decide by the whole next word, ended by ``char``: it opens a sentence or continues the name."""
    if char == ".":
        return Undecided.NO  # one more initial or abbreviation
    word = (run.next_word or "").lower().replace("’", "'")
    opens = word not in CLOCKS if run.key in ("a.m", "p.m", "etc") else word in STARTERS
    return Boundary.SENTENCE if opens else Undecided.NO


def tail_boundary(run: MarkRun | None) -> Boundary:
    """Return the boundary at the end of a text whose undecided run is ``run``."""
    if run is None or run.next_word is not None or run.is_list_marker:
        return Boundary.NONE
    if run.mark in ENDS_SENTENCE:
        return Boundary.PARAGRAPH if run.gap > 1 else Boundary.SENTENCE
    return Boundary.SENTENCE if run.mark is StopMark.LINE else Boundary.CLAUSE


def _is_small(char: str) -> bool:
    return char.islower() and is_latin(char)


def _is_inner(run: MarkRun) -> bool:
    """Return whether the word is an abbreviation inside a sentence; in capitals it may be a time zone (``EST``)."""
    if run.key == "al" and run.previous != "et":
        return False  # a name
    return run.key in INNER and not (run.word.isupper() and run.key in CLOCKS)


def _may_close(run: MarkRun) -> bool:
    """Return whether the word is an abbreviation that may also end a sentence: initials, ``U.S``, ``p.m``, ``Inc``."""
    key = run.key
    if key in CLOSING:
        return True
    if len(key) == 1 and run.previous in LETTERED:
        return False  # "plan B."
    is_lone_after_digits = len(key) == 1 and len(run.word) > 1  # "room 5B."
    return not is_lone_after_digits and all(len(letter) == 1 and is_latin(letter) for letter in key.split("."))
