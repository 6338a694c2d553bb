"""Markup at the start and end of a line (CommonMark 0.31 and GitHub's tables and task lists)."""

from __future__ import annotations

import re

from yuliu.text.markup.cursor import Cursor, LineContext, Progress
from yuliu.types import Boundary

_RULE = re.compile(r"([-*_])[ \t]{0,3}(?:\1[ \t]{0,3}){2,99}(?=\n)|={3,99}[ \t]{0,9}(?=\n)")
_RULE_BEGUN = re.compile(r"([-*_])[ \t]{0,3}(?:\1[ \t]{0,3}){0,99}|={1,99}[ \t]{0,9}")
_TABLE_RULE = re.compile(r"(?=[:\-| \t]{0,300}-)(?=[:\- \t]{0,300}\|)[:|\-][:\-| \t]{1,300}(?=\n)")
_TABLE_RULE_BEGUN = re.compile(r"[:|\-][:\-| \t]{0,300}")
_HEADING, _HEADING_BEGUN = re.compile(r"#{1,6}(?=[ \t\n])"), re.compile(r"#{1,6}")
_HEADING_END, _HEADING_END_BEGUN = re.compile(r"#{1,6}[ \t]{0,9}(?=\n)"), re.compile(r"#{1,6}[ \t]{0,9}")
_BULLET, _BULLET_BEGUN = re.compile(r"[-*+•◦▪‣](?=[ \t])"), re.compile(r"[-*+•◦▪‣]")
_NUMBER, _NUMBER_BEGUN = re.compile(r"\d{1,9}[.)](?=[ \t])"), re.compile(r"\d{1,9}[.)]?")
_QUOTE, _QUOTE_BEGUN = re.compile(r">(?=[^\d=])"), re.compile(">")
_TASK, _TASK_BEGUN = re.compile(r"\[[ xX]\](?=[ \t])"), re.compile(r"\[(?:[ xX]\]?)?")
_NOTE, _NOTE_BEGUN = re.compile(r"\[\^[^\]\s]{1,40}\]:"), re.compile(r"\[(?:\^(?:[^\]\s]{1,40}\]?)?)?")
_DEFINITION = re.compile(r"\[[^\[\]\n]{1,99}\]:[ \t]{1,9}<?(?:https?://|/|#|mailto:)[^\n]{0,500}(?=\n)")
_DEFINITION_BEGUN = re.compile(r"\[(?:[^\[\]\n]{1,99}(?:\](?::(?:[ \t]{1,9}(?:[<hm/#][^\n]{0,510})?)?)?)?)?")
_CELL, _CELL_BEGUN = re.compile(r"\|[ \t]{0,40}(?=([^ \t]))"), re.compile(r"\|[ \t]{0,40}")


def ruler(cursor: Cursor) -> Progress:
    """Match ``---``, ``***`` and ``===``: a thematic break, or the line under a heading."""
    return _skip_line(cursor, _RULE, _RULE_BEGUN)


def table_rule(cursor: Cursor) -> Progress:
    """Match ``|---|:-:|``."""
    return _skip_line(cursor, _TABLE_RULE, _TABLE_RULE_BEGUN)


def _skip_line(cursor: Cursor, whole: re.Pattern[str], prefix: re.Pattern[str]) -> Progress:
    found = cursor.look(whole, prefix)
    if isinstance(found, Progress):
        return found
    cursor.end_unit(Boundary.PARAGRAPH)
    return cursor.skip(len(found[0]), "markdown")


def heading(cursor: Cursor) -> Progress:
    """Match ``## Title``."""
    found = cursor.look(_HEADING, _HEADING_BEGUN)
    if isinstance(found, Progress):
        return found
    cursor.end_unit(Boundary.PARAGRAPH)
    cursor.line = LineContext.HEADING
    cursor.is_line_start = False
    return cursor.skip(len(found[0]), "markdown")


def heading_end(cursor: Cursor) -> Progress:
    """Match the ``##`` that may close a heading."""
    if cursor.line is not LineContext.HEADING or cursor.before not in " \t":
        return Progress.NOT_MINE
    found = cursor.look(_HEADING_END, _HEADING_END_BEGUN)
    return found if isinstance(found, Progress) else cursor.skip(len(found[0]), "markdown")


def bullet(cursor: Cursor) -> Progress:
    """Match ``- item``."""
    found = cursor.look(_BULLET, _BULLET_BEGUN)
    if isinstance(found, Progress):
        return found
    cursor.end_unit(Boundary.SENTENCE)
    cursor.after_bullet = True
    return cursor.skip(1, "markdown")


def number(cursor: Cursor) -> Progress:
    """Match ``1. item``; the number is spoken."""
    found = cursor.look(_NUMBER, _NUMBER_BEGUN)
    if isinstance(found, Progress):
        return found
    cursor.end_unit(Boundary.SENTENCE)
    cursor.after_bullet = True
    return cursor.say(len(found[0]))


def quote(cursor: Cursor) -> Progress:
    """Match ``> quoted``."""
    found = cursor.look(_QUOTE, _QUOTE_BEGUN)
    return found if isinstance(found, Progress) else cursor.skip(1, "markdown")


def task(cursor: Cursor) -> Progress:
    """Match ``[x]`` after a list marker."""
    if not cursor.after_bullet:
        return Progress.NOT_MINE
    found = cursor.look(_TASK, _TASK_BEGUN)
    return found if isinstance(found, Progress) else cursor.skip(3, "markdown")


def footnote(cursor: Cursor) -> Progress:
    """Match ``[^1]: the note``; the note is spoken."""
    found = cursor.look(_NOTE, _NOTE_BEGUN)
    if isinstance(found, Progress):
        return found
    cursor.is_line_start = False
    return cursor.skip(len(found[0]), "footnote")


def definition(cursor: Cursor) -> Progress:
    """Match ``[name]: https://...`` and skip the whole line."""
    found = cursor.look(_DEFINITION, _DEFINITION_BEGUN)
    return found if isinstance(found, Progress) else cursor.skip(len(found[0]), "markdown")


def table(cursor: Cursor) -> Progress:
    """Match the first ``|`` of a table row."""
    cursor.line = LineContext.TABLE
    cursor.is_line_start = False
    return cursor.skip(1, "markdown")


def cell(cursor: Cursor) -> Progress:
    """Match a ``|`` between two cells, which becomes a comma; outside tables only with spaces around it."""
    found = cursor.look(_CELL, _CELL_BEGUN)
    if isinstance(found, Progress):
        return found
    if cursor.line is LineContext.TABLE and found[1] == "\n":
        return cursor.skip(1, "markdown")
    if cursor.line is LineContext.TABLE or (cursor.before in (" ", "\t") and len(found[0]) > 1):
        return cursor.rewrite(cursor.words.comma, 1)
    return Progress.NOT_MINE


def line_end(cursor: Cursor) -> Progress:
    """Match a line end: a longer pause after headings; rows are units."""
    if cursor.line is LineContext.HEADING:
        cursor.end_unit(Boundary.PARAGRAPH)
    elif cursor.line is LineContext.TABLE:
        cursor.end_unit(Boundary.SENTENCE)
    cursor.end_line()
    return cursor.say(1)
