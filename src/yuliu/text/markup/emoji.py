"""Emoji and emoticons, named or left out."""

from __future__ import annotations

import re

from yuliu.text.markup.cursor import Cursor, Progress

CLASS = "\U0001f000-\U0001f0ff\U0001f18e\U0001f191-\U0001f19a\U0001f1e6-\U0001faff☀-❵➔-➿⌚⌛⏩-⏺⬅-⬇⬛⬜⭐⭕〰㊗㊙"
"""Picture characters as the inside of a character class, without numbers in circles."""
JOINERS = "\u200d\ufe0e\ufe0f\u20e3\U000e0020-\U000e007f"
"""Characters that join or vary pictures; none is a picture by itself."""
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
_ONE = f"[{CLASS}](?:[\ufe0e\ufe0f]|[\U0001f3fb-\U0001f3ff])?[\U000e0020-\U000e007f]{{0,7}}"
_SEQUENCE = re.compile(
    f"(?:{_FLAG}|{_ONE}(?:\u200d{_ONE}){{0,5}})(?=[^\u200d\ufe0e\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f])"
)
_SEQUENCE_BEGUN = re.compile(f"(?:[\U0001f1e6-\U0001f1ff]{{1,2}}|{_ONE}(?:\u200d{_ONE}){{0,5}}\u200d?)")
_PICTURES = re.compile(f"[{CLASS}{JOINERS}]+")
_IS_PICTURE = re.compile(f"[{CLASS}{JOINERS}]")
_FACE = re.compile(r"[:;]['’]?[-o^]?(?:[)(]{1,6}|[DPpOo|/\\*](?=[^\w/]))(?=[^\w/)(])|\^[_.-]?\^(?=[^\w^])")
_FACE_BEGUN = re.compile(r"[:;]['’]?[-o^]?(?:[)(]{1,6}|[DPpOo|/\\*])?|\^(?:[_.-]?\^?)?")


def picture(cursor: Cursor) -> Progress:
    """Match emoji, each alone or in sequences."""
    if cursor.options.emoji == "name":
        found = cursor.look(_SEQUENCE, _SEQUENCE_BEGUN)
        if found is Progress.WAIT:
            return found
        words = cursor.words
        if isinstance(found, re.Match) and (name := words.emoji_name(found[0])):
            comma = f"{words.comma} " if words.has_spaces else words.comma  # beside the sentence, not in it
            return cursor.rewrite(f"{comma if cursor.before.isalnum() else ''}{name}{comma}", len(found[0]))
        return cursor.skip(len(found[0]) if isinstance(found, re.Match) else 1, "emoji")
    pictures = _PICTURES.match(cursor.text, cursor.at, cursor.end)
    return cursor.skip(len(pictures[0]) if pictures else 1, "emoji")


def joiner(cursor: Cursor) -> Progress:
    """Match characters that vary a picture, after one, or after a digit (the keycap)."""
    before = cursor.before
    if cursor.char != "\u200d" or (before and _IS_PICTURE.match(before)):
        return cursor.skip(1, "emoji")
    return Progress.NOT_MINE


def emoticon(cursor: Cursor) -> Progress:
    """Match ``:-)`` after a space or a character that is not ASCII."""
    before = cursor.before
    if before and before.isascii() and not before.isspace() and before not in ".!?,~":
        return Progress.NOT_MINE
    found = cursor.look(_FACE, _FACE_BEGUN)
    return found if isinstance(found, Progress) else cursor.skip(len(found[0]), "emoticon")
