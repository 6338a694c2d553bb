"""Folding of the many Unicode spellings of the same thing into one, with the mapping back.

Full-width forms, ligatures, styled letters, combining marks, foreign digits, fractions, superscripts, dashes, quotes
and spaces become the plain characters that the rules and the dictionaries know.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_PLAIN = {
    "\u2018": "'", "\u2019": "'", "\u201b": "'", "\u02bc": "'", "\u2032": "'", "`": "'", "\u00b4": "'", "\u2033": '"',
    "\u201e": "“", "\u201f": "“", "«": "“", "»": "”", "\u300c": "“", "\u300d": "”", "\u300e": "“", "\u300f": "”",
    "\u300a": "“", "\u300b": "”", "\u3010": "(", "\u3011": ")", "\u3002": ".", "\u3001": ",", "\u2010": "-",
    "\u2011": "-", "\u2012": "-", "\u2212": "-", "\u2015": "—", "\u2026": "…", "\u22ef": "…", "\u2044": "/",
    "\u2215": "/", "\u2116": "No.", "\u00ba": "°", "\u02da": "°", "™": "™", "℠": "℠", "\u00b5": "μ", "\u2126": "Ω",
    "\u00ad": "", "\ufeff": "", "¨": "", "¸": "", "¯": "",
}  # fmt: skip
"""Characters that compatibility decomposition would keep or spoil."""
_FRACTION_SLASH = "\u2044"
_CLUSTER = re.compile(r"(?s).[\u0300-\u036f]*")


@dataclass(frozen=True, slots=True)
class Folded:
    """Text in plain characters; character ``i`` stands for source characters ``starts[i]`` to ``ends[i]``."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]


def fold(source: str) -> Folded:
    """Fold ``source``; ASCII text is unchanged, except for the grave accent and control characters."""
    if source.isascii() and source.isprintable() and "`" not in source:
        return Folded(source, tuple(range(len(source))), tuple(range(1, len(source) + 1)))
    text: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    last = ""
    for cluster in _CLUSTER.finditer(source):
        plain = _fold_cluster(cluster.group(), last)
        if (
            plain[:1] == "^"
            and _is_raised(cluster.group())
            and cluster.start()
            and _is_raised(source[cluster.start() - 1])
        ):
            plain = plain[1:]  # "10²³": one power
        for char in plain:
            text.append(char)
            starts.append(cluster.start())
            ends.append(cluster.end())
        last = plain[-1] if plain else last
    return Folded("".join(text), tuple(starts), tuple(ends))


def _fold_cluster(cluster: str, last: str) -> str:
    if cluster.isascii() and cluster >= " " and cluster != "`":
        return cluster
    if len(cluster) > 1:
        plain = _fold_cluster(cluster[0], last)
        composed = unicodedata.normalize("NFC", plain + cluster[1:])
        return composed if len(composed) == len(plain) else plain  # marks that compose with nothing are decoration
    composed = unicodedata.normalize("NFC", cluster)
    char = composed if len(composed) == 1 else cluster  # some letters are never composed, but always two characters
    if char in _PLAIN:
        return _PLAIN[char]
    if char.isspace():
        return " "
    category = unicodedata.category(char)
    if category in ("Cc", "Cf", "Mn", "Me"):
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(char))
    plain = unicodedata.normalize("NFKC", char)
    if plain[:1] == " ":  # spacing forms of accents
        return ""
    return _fold_number(char, plain, last)


def _fold_number(char: str, plain: str, last: str) -> str:
    decomposition = unicodedata.decomposition(char)
    if decomposition.startswith("<super>") and (plain.isdigit() or plain in "+\u2212-"):
        sign = plain.replace("\u2212", "-")
        return sign if last in "^0123456789-" and last and _is_power(last) else "^" + sign
    if _FRACTION_SLASH in plain:
        plain = plain.replace(_FRACTION_SLASH, "/")
        return " " + plain if last.isdigit() else plain
    if decomposition.startswith("<square>") and plain[-1:] in ("2", "3") and plain[:-1].isalpha():
        return f"{plain[:-1]}^{plain[-1]}"
    return plain


def _is_raised(char: str) -> bool:
    return unicodedata.decomposition(char[0]).startswith("<super>")


def _is_power(last: str) -> bool:
    return last in "^-"
