"""Script of a character, as far as segmentation and language need it.

Ranges are those of the Unicode blocks (Unicode 15.1, Blocks.txt). The tests take single characters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

SCRIPTS: Mapping[str, str] = {
    "Latn": "A-Za-zÀ-ÖØ-öø-ɏḀ-ỿＡ-Ｚａ-ｚ\ufb00-\ufb06\U0001d400-\U0001d6a5",
    "Hani": "々〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U00031fff",
    "Kana": "ぁ-ゟァ-ヺー-ヿㇰ-ㇿｦ-ﾟ",
    "Hang": "가-힣ᄀ-ᇿㄱ-ㆎ",
    "Cyrl": "Ѐ-ԯ",
    "Grek": "Ͱ-Ͽ",
    "Hebr": "֐-׿",
    "Arab": "؀-ۿݐ-ݿ",
    "Deva": "ऀ-ॿ",
    "Thai": "฀-๿",
    "Armn": "\u0530-\u058f",
    "Geor": "\u10a0-\u10ff\u1c90-\u1cbf",
    "Beng": "\u0980-\u09ff",
    "Guru": "\u0a00-\u0a7f",
    "Gujr": "\u0a80-\u0aff",
    "Taml": "\u0b80-\u0bff",
    "Telu": "\u0c00-\u0c7f",
    "Knda": "\u0c80-\u0cff",
    "Mlym": "\u0d00-\u0d7f",
    "Sinh": "\u0d80-\u0dff",
    "Laoo": "\u0e80-\u0eff",
    "Tibt": "\u0f00-\u0fff",
    "Mymr": "\u1000-\u109f",
    "Ethi": "\u1200-\u139f",
    "Khmr": "\u1780-\u17ff",
    "Mong": "\u1800-\u18af",
    "Bopo": "\u3100-\u312f",
}
"""Letters of each script as the inside of a character class, by ISO 15924 code. ``Kana`` is hiragana and katakana."""


def is_han(char: str) -> bool:
    """Return whether ``char`` is a Chinese character (also used in Japanese and Korean), including 〇 and 々."""
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
    """Return whether ``char`` is hiragana or katakana, full or half width, or the long vowel mark."""
    return ("ぁ" <= char <= "ヿ" and char not in "・゠") or "ㇰ" <= char <= "ㇿ" or "ｦ" <= char <= "ﾟ"


def is_hangul(char: str) -> bool:
    """Return whether ``char`` is a Korean syllable or letter."""
    return "가" <= char <= "힣" or "ᄀ" <= char <= "ᇿ" or "ㄱ" <= char <= "ㆎ"


def is_wide(char: str) -> bool:
    """Return whether ``char`` is written without spaces around it: Han, kana or hangul."""
    return char >= "ᄀ" and (is_han(char) or is_kana(char) or is_hangul(char))


def is_latin(char: str) -> bool:
    """Return whether ``char`` is a Latin letter: with or without accents, full-width, a ligature, or a styled
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
    """Return whether ``char`` is an emoji or one of the characters that join or vary emoji."""
    if char < "\u200d":
        return False
    return "\U0001f000" <= char <= "\U0001faff" or "☀" <= char <= "➿" or char in "\u200d\ufe0e\ufe0f\u20e3⭐⭕⬛⬜"
