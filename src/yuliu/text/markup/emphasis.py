"""Emphasis, strong, strike, escapes, and stage directions, which look like emphasis.

Whether a run of marks opens or closes follows from its neighbours alone, so that a stream never waits for a closing
mark.
"""

from __future__ import annotations

import re

from yuliu.text.markup.cursor import Cursor, Progress
from yuliu.text.markup.stage import may_be_stage, stage_length

_STARS, _STARS_BEGUN = re.compile(r"(\*{1,8})(?=([^*]))|\*{9}"), re.compile(r"\*{1,8}")
_UNDERSCORES, _UNDERSCORES_BEGUN = re.compile(r"(_{1,8})(?=([^_]))|_{9}"), re.compile(r"_{1,8}")
_STRIKE, _STRIKE_BEGUN = re.compile(r"~~(?=([^~]))"), re.compile(r"~{1,2}")
_ESCAPE, _ESCAPE_BEGUN = re.compile(r"\\(?=([!-/:-@\[-`{-~]|\n))"), re.compile(r"\\")
_OPERAND = re.compile(r"[A-Za-z0-9)\]]")


def stars(cursor: Cursor) -> Progress:
    """Match ``*emphasis*`` and ``**strong**``; ``3*4`` and ``2 * 3`` are left alone."""
    found = cursor.look(_STARS, _STARS_BEGUN)
    if isinstance(found, Progress):
        return found
    before, run, after = cursor.before, found[1], found[2]
    if run is None or before == "*":
        return cursor.skip(len(found[0]), "markdown")
    if run == "*" and cursor.options.stage_directions == "skip" and not _is_operand(before):
        if not cursor.final and may_be_stage(cursor.text, cursor.at):
            return Progress.WAIT
        if length := stage_length(cursor.text, cursor.at):
            return cursor.skip(length, "stage_direction")
    return _emphasise(cursor, run, is_text=_is_operand(before) and (_is_operand(after) or after == "("), after=after)


def underscores(cursor: Cursor) -> Progress:
    """Match ``_emphasis_``; ``snake_case`` and ``____`` are left alone."""
    found = cursor.look(_UNDERSCORES, _UNDERSCORES_BEGUN)
    if isinstance(found, Progress):
        return found
    run = found[1]
    if run is None or len(run) > 3 or cursor.before == "_":
        return cursor.say(len(found[0]))
    inside = cursor.before.isalnum() and found[2].isalnum()
    opens_late = cursor.before.isalnum() and run not in cursor.emphasis
    if inside or opens_late:
        return cursor.say(len(run))
    return _emphasise(cursor, run, is_text=False, after=found[2])


def strike(cursor: Cursor) -> Progress:
    """Match ``~~struck~~``; struck-out text is spoken."""
    found = cursor.look(_STRIKE, _STRIKE_BEGUN)
    if isinstance(found, Progress):
        return found
    if cursor.before == "~":
        return Progress.NOT_MINE
    return _emphasise(cursor, "~~", is_text=False, after=found[1])


def _emphasise(cursor: Cursor, run: str, *, is_text: bool, after: str) -> Progress:
    may_close = bool(cursor.before) and not cursor.before.isspace()
    closes = {run} if run in cursor.emphasis or len(run) != 3 else {run[:1], run[:2]}
    if may_close and closes <= cursor.emphasis and not (run == "*" and cursor.before.isdigit() and after.isdigit()):
        cursor.emphasis -= closes
        return cursor.skip(len(run), "markdown")
    if is_text or after.isspace() or (may_close and _follows_word(after) and not _is_open_before(cursor)):
        return cursor.say(len(run))
    cursor.emphasis.add(run)
    return cursor.skip(len(run), "markdown")


def _is_operand(char: str) -> bool:
    return bool(_OPERAND.match(char))


def _follows_word(char: str) -> bool:
    """Return whether ``char`` follows a word rather than opening a phrase."""
    return char in ".,;:!?)]}。，；：！？、）】”’"


def _is_open_before(cursor: Cursor) -> bool:
    """Return whether the text before the marks belongs to the text after them: an opening bracket or quote."""
    return cursor.before in "([{（【“‘\"'"


def escape(cursor: Cursor) -> Progress:
    r"""Match ``\*``, the mark itself, and ``\`` at the end of a line."""
    found = cursor.look(_ESCAPE, _ESCAPE_BEGUN)
    if isinstance(found, Progress):
        return found
    cursor.skip(1, "markdown")
    return Progress.DONE if found[1] == "\n" or cursor.at >= cursor.end else cursor.say(1)
