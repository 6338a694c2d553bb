"""Which script a character belongs to, as far as cutting and language need to know.

Ranges are those of the Unicode blocks (Unicode 15.1, Blocks.txt); single characters in, booleans out.
"""

from __future__ import annotations


def is_han(char: str) -> bool:
    """Whether ``char`` is a Chinese character (also used in Japanese and Korean), including 〇 and 々."""
    if char < "々":
        return False
    return (
        "一" <= char <= "\u9fff"
        or "\u3400" <= char <= "\u4dbf"
        or char in "々〇"
        or "\uf900" <= char <= "\ufaff"
        or "\U00020000" <= char < "\U00032000"
    )


def is_kana(char: str) -> bool:
    """Whether ``char`` is hiragana or katakana, full or half width, or the long vowel mark."""
    return ("ぁ" <= char <= "ヿ" and char not in "・゠") or "ㇰ" <= char <= "ㇿ" or "ｦ" <= char <= "ﾟ"


def is_hangul(char: str) -> bool:
    """Whether ``char`` is a Korean syllable or letter."""
    return "가" <= char <= "힣" or "ᄀ" <= char <= "ᇿ" or "ㄱ" <= char <= "ㆎ"


def is_wide(char: str) -> bool:
    """Whether ``char`` is written without spaces around it: Han, kana or hangul."""
    return char >= "ᄀ" and (is_han(char) or is_kana(char) or is_hangul(char))


def is_latin(char: str) -> bool:
    """Whether ``char`` is a letter of the Latin script: with or without accents, full-width, a ligature, or a styled
    mathematical letter (𝓗)."""
    if char < "\x80":
        return char.isalpha()
    if "À" <= char <= "ɏ" or "Ḁ" <= char <= "ỿ":
        return char not in "×÷"
    return (
        "Ａ" <= char <= "Ｚ"
        or "ａ" <= char <= "ｚ"
        or "\ufb00" <= char <= "\ufb06"
        or "\U0001d400" <= char <= "\U0001d6a5"
    )


def is_pictograph(char: str) -> bool:
    """Whether ``char`` is an emoji or one of the characters that join or vary emoji."""
    if char < "\u200d":
        return False
    return "\U0001f000" <= char <= "\U0001faff" or "☀" <= char <= "➿" or char in "\u200d\ufe0e\ufe0f\u20e3⭐⭕⬛⬜"
