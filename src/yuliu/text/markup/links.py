"""Brackets: links, images, footnote marks, pause tags."""

from __future__ import annotations

import re

from yuliu.text.markup.cursor import Cursor, Progress
from yuliu.types import MAX_PAUSE_S

_LABEL = r"(?:[^\[\]\n\\]|\\.|\[[^\[\]\n]{0,80}\]){0,200}"
_LINK = re.compile(rf"\[{_LABEL}\](?=([(\[]))")
_LINK_BEGUN = re.compile(rf"\[{_LABEL}(?:\\|\[[^\[\]\n]{{0,80}}|\])?")
_TARGET = re.compile(
    r"\]\([ \t]{0,9}(?:<[^<>\n]{0,1000}>|(?:[^\s()]|\([^\s()]{0,200}\)){0,1000})"
    r"(?:[ \t\n]{1,9}(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'))?[ \t]{0,9}\)"
)
_TARGET_BEGUN = re.compile(
    r"\](?:\([ \t]{0,9}(?:<[^<>\n]{0,1000}>?|(?:[^\s()]|\([^\s()]{0,200}\)){0,1000}(?:\([^\s()]{0,200})?)?"
    r"(?:[ \t\n]{1,9}(?:\"[^\"\n]{0,200}\"?|'[^'\n]{0,200}'?)?)?[ \t]{0,9})?"
)
_REFERENCE, _REFERENCE_BEGUN = re.compile(r"\]\[[^\[\]\n]{0,99}\]"), re.compile(r"\](?:\[[^\[\]\n]{0,99})?")
_FOOTNOTE, _FOOTNOTE_BEGUN = re.compile(r"\[\^[^\[\]\s]{1,40}\]"), re.compile(r"\[(?:\^[^\[\]\s]{0,40})?")
_PAUSE = re.compile(r"\[pause[ :=]\s{0,3}(\d{1,6}(?:\.\d{1,3})?)\s{0,3}(ms|s)\]", re.IGNORECASE)
_PAUSE_BEGUN = re.compile(
    r"\[(?:p(?:a(?:u(?:s(?:e(?:[ :=]\s{0,3}(?:\d{1,6}(?:\.\d{0,3})?\s{0,3}(?:m?s?)?)?)?)?)?)?)?)?", re.IGNORECASE
)
_NAME = re.compile(r"[^\W\d_]{2}")


def pause_tag(cursor: Cursor) -> Progress:
    """Match ``[pause 500ms]``."""
    found = cursor.look(_PAUSE, _PAUSE_BEGUN)
    if isinstance(found, Progress):
        return found
    length_s = float(found[1]) / (1000 if found[2].lower() == "ms" else 1)
    cursor.skip(len(found[0]), "pause_tag")
    cursor.pause(min(length_s, MAX_PAUSE_S))
    return Progress.DONE


def footnote_mark(cursor: Cursor) -> Progress:
    """Match ``[^1]`` in a sentence."""
    found = cursor.look(_FOOTNOTE, _FOOTNOTE_BEGUN)
    return found if isinstance(found, Progress) else cursor.skip(len(found[0]), "footnote")


def image(cursor: Cursor) -> Progress:
    """Match the ``!`` of ``![alt](file)``; the rest is read as a link."""
    if cursor.at + 1 == len(cursor.text):
        return Progress.NOT_MINE if cursor.final else Progress.WAIT
    if cursor.text[cursor.at + 1] != "[":
        return Progress.NOT_MINE
    cursor.at += 1
    found = cursor.look(_LINK, _LINK_BEGUN)
    cursor.at -= 1
    return found if isinstance(found, Progress) else cursor.skip(1, "markdown")


def link(cursor: Cursor) -> Progress:
    """Match the ``[`` of ``[label](target)``; the label is read as any text."""
    found = cursor.look(_LINK, _LINK_BEGUN)
    if isinstance(found, Progress):
        return found
    if found[1] == "[" and (cursor.before.isalnum() or not _NAME.search(found[0])):
        return Progress.NOT_MINE  # "cells[i][j]", "[1][2]"
    cursor.num_links += 1
    return cursor.skip(1, "markdown")


def target(cursor: Cursor) -> Progress:
    """Match ``](target)`` and ``][name]``."""
    if not cursor.num_links:
        return Progress.NOT_MINE
    for whole, prefix in ((_TARGET, _TARGET_BEGUN), (_REFERENCE, _REFERENCE_BEGUN)):
        found = cursor.look(whole, prefix)
        if found is Progress.WAIT:
            return found
        if isinstance(found, re.Match):
            cursor.num_links -= 1
            return cursor.skip(len(found[0]), "url")
    return Progress.NOT_MINE
