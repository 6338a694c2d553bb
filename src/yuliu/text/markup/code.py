"""Code: fenced blocks and spans in a line. It contains no markup."""

from __future__ import annotations

import re

from yuliu.text.markup.cursor import Cursor, Progress
from yuliu.types import Boundary

_FENCE = re.compile(r"(`{3,20}|~{3,20})[^`\n]{0,200}(?=\n)")
_FENCE_BEGUN = re.compile(r"`{1,2}|~{1,2}|(?:`{3,20}|~{3,20})[^`\n]{0,200}")
_FENCE_END = re.compile(r"[ \t]{0,40}(`{3,20}|~{3,20})[ \t]{0,40}(?=\n)")
_FENCE_END_BEGUN = re.compile(r"[ \t]{0,40}(?:`{0,20}|~{0,20})[ \t]{0,40}")
_INLINE = re.compile(r"(`)([^`\n]{1,160})`|(``)([^\n]{1,160}?)``(?=[^`])")
_INLINE_BEGUN = re.compile(r"`[^`\n]{0,160}|``[^\n]{0,162}")


def fence(cursor: Cursor) -> Progress:
    """Match the line that opens a code block."""
    found = cursor.look(_FENCE, _FENCE_BEGUN)
    if isinstance(found, Progress):
        return found
    cursor.fence, cursor.in_code_line = found[1], True
    cursor.end_unit(Boundary.SENTENCE)
    announcement = cursor.words.code_block
    if cursor.options.code_blocks != "announce" or not announcement:
        return cursor.skip(len(found[0]), "code_block")
    cursor.rewrite(announcement, len(found[0]))
    cursor.end_unit(Boundary.SENTENCE)
    return Progress.DONE


def block(cursor: Cursor) -> Progress:
    """Take a line of a code block, as far as it has come, or the fence that closes the block."""
    if not cursor.in_code_line:
        found = cursor.look(_FENCE_END, _FENCE_END_BEGUN)
        if found is Progress.WAIT:
            return found
        if isinstance(found, re.Match) and found[1].startswith(cursor.fence):
            cursor.fence = ""
            cursor.skip(len(found[0]), "code_block")
            cursor.end_unit(Boundary.SENTENCE)
            return Progress.DONE
    line_end = cursor.text.find("\n", cursor.at, cursor.end)
    cursor.in_code_line = line_end < 0
    num_chars = (cursor.end if line_end < 0 else line_end + 1) - cursor.at
    if cursor.options.code_blocks != "speak":
        return cursor.skip(num_chars, "code_block")
    cursor.say(num_chars)
    if line_end >= 0:
        cursor.end_unit(Boundary.SENTENCE)
    return Progress.DONE


def inline(cursor: Cursor) -> Progress:
    """Match code between backticks."""
    found = cursor.look(_INLINE, _INLINE_BEGUN)
    if isinstance(found, Progress):
        return found
    length = len(found[0])
    words = cursor.words
    if cursor.options.inline_code == "skip" or (cursor.options.inline_code == "announce" and not words.inline_code):
        return cursor.skip(length, "inline_code")
    if cursor.options.inline_code == "announce":
        return cursor.rewrite(f" {words.inline_code} " if words.has_spaces else words.inline_code, length)
    num_ticks = len(found[1] or found[3])
    cursor.skip(num_ticks, "markdown")
    cursor.say(length - 2 * num_ticks)
    return cursor.skip(num_ticks, "markdown")
