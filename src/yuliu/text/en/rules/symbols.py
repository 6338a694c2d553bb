"""Symbols that are spoken, and those that are left out."""

from __future__ import annotations

import re

from yuliu.text.en.number_words import cardinal
from yuliu.text.en.rule import EnglishRule
from yuliu.text.en.tables import any_of

LATIN = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
"""Letters that the dictionaries or the reader of unknown words may know, as a range for a pattern."""
_SPOKEN = {
    "&": "and", "=": "equals", "≠": "is not equal to", "≤": "less than or equal to", "≥": "greater than or equal to",
    "≈": "approximately", "±": "plus or minus", "÷": "divided by", "√": "square root of", "∠": "angle", "∞": "infinity",
    "∑": "sum of", "∫": "integral of", "∂": "partial", "∆": "delta", "∈": "in", "∀": "for all", "∃": "there exists",
    "§": "section", "¶": "paragraph", "°": "degrees", "¢": "cents", "£": "pounds", "€": "euros", "¥": "yen",
    "%": "percent", "→": "to", "⇒": "implies", "≡": "is equivalent to", "∝": "is proportional to", "©": "copyright",
    "@": "at", "♯": "sharp", "♭": "flat", "$": "dollars", "+": "plus", "∅": "empty set", "∪": "union",
    "∩": "intersection", "⊂": "subset of", "<=": "less than or equal to", ">=": "greater than or equal to",
    "==": "equals", "!=": "is not equal to", "->": "to", "=>": "implies",
}  # fmt: skip
_GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta",
    "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi", "ρ": "rho", "σ": "sigma",
    "τ": "tau", "υ": "upsilon", "φ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega", "Δ": "delta", "Σ": "sigma",
    "Ω": "omega", "Π": "pi", "Φ": "phi", "Ψ": "psi", "Θ": "theta", "Λ": "lambda", "Γ": "gamma",
}  # fmt: skip
_EMOTICON = (
    r"(?<![\w:;=])(?:[:;][-o^']?[)(\]\[DPpOo/\\|*]{1,3}|=[)(D\]]|(?<!\S):3(?!\S)|</?3|\^_{1,3}\^|[xX]D|-_{1,3}-|T_T"
    r"|¯\\_\(.\)_/¯|:'\()(?!\w)"
)
_COMPARED = {"<": "less than", ">": "greater than", **{mark: _SPOKEN[mark] for mark in ("<=", ">=", "==", "!=")}}


def _power(match: re.Match[str]) -> str:
    return "to the power of" + (" minus" if match["sign"] else "")


RULES = (
    EnglishRule("ruler", re.compile(r"(?<![=_*~#-])[=_*~#-]{4,}(?!\w)"), lambda match: ""),
    EnglishRule(
        "stars",
        re.compile(r"(?<![\w*])(?P<run>[1-7])\*(?= ?[A-Za-z])"),
        lambda match: f"{cardinal(int(match['run']))} star",
    ),
    EnglishRule("emoticon", re.compile(_EMOTICON), lambda match: ""),
    EnglishRule(
        "squared",
        re.compile(r"(?<=[A-Za-z)\]])\^(?P<run>[23])(?!\d|\.\d)"),
        lambda match: {"2": "squared", "3": "cubed"}[match["run"]],
    ),
    EnglishRule("footnote", re.compile(r"(?<=[a-z]{4})\^(?![23](?!\d))\d{1,2}(?![\d.])"), lambda match: ""),
    EnglishRule(
        "per",
        re.compile(
            r"(?<=[a-z]{2}s)/(?=(?:hour|minute|second|day|night|week|month|year|person|game|user|page|item|mile)\b)"
        ),
        lambda match: " per ",
    ),
    EnglishRule("power", re.compile(r"(?<=[\w)\]])(?:\^|\*\*)(?P<sign>-)?(?=[\w(])"), _power),
    EnglishRule(
        "times",
        re.compile(r"(?<=[\d)]) ?[*×·] ?(?=[\d(.-])|(?<=[^\w][A-Za-z]) [*×] (?=[\dA-Za-z(](?!\w))|(?<=[\w)])×(?=\w)"),
        lambda match: "times",
    ),
    EnglishRule(
        "compare",
        re.compile(r"(?:(?<=[\w)\]%])|(?<=[\w)\]%] ))(?P<mark><=|>=|==|!=|<|>)(?= ?[-\w(.$])(?![A-Za-z]{1,20}[>:])"),
        lambda match: _COMPARED[match["mark"]],
    ),
    EnglishRule(
        "bound", re.compile(r"(?<![\w)\]<>=-])(?P<mark>[<>])(?=[$£€.]?\d)"), lambda match: _COMPARED[match["mark"]]
    ),
    EnglishRule(
        "lone_compare", re.compile(r"(?<=[\w,] )(?P<mark>[<>])(?=[, .;]|$)"), lambda match: _COMPARED[match["mark"]]
    ),
    EnglishRule(
        "by",
        re.compile(r"(?:(?<=\d[cm]m )|(?<=\d [cm]m )|(?<=\d m )|(?<=\d in )|(?<=\d ft ))[x×] (?=\d)"),
        lambda match: "by ",
    ),
    EnglishRule("about", re.compile(r"(?<![\w~])[~∼≈] ?(?=[$£€¥]?\d)"), lambda match: "about "),
    EnglishRule("divided", re.compile(r"(?<=[\d)]) ?/ ?(?=\()|(?<=[\d)]) / (?=\d)"), lambda match: "divided by"),
    EnglishRule(
        "minus",
        re.compile(
            r"(?:(?<=[\d)])|(?<=[^\w-][A-Za-z])|(?<=^[A-Za-z])) ?- ?(?=(?:\d{1,9}|[A-Za-z]) ?=)|(?<=\d) - (?=\d)"
        ),
        lambda match: "minus",
    ),
    EnglishRule(
        "flag",
        re.compile(r"(?<!\S)(?P<dash>--?)(?=[a-zA-Z](?:[\s.,;)=]|$)|(?<=--)[a-z][\w-]{1,32}(?:[\s.,;)=]|$))"),
        lambda match: " ".join("dash" for _ in match["dash"]) + " ",
    ),
    EnglishRule(
        "grade", re.compile(r"(?<![\w-])(?P<grade>[A-F])-(?=[\s.,;!?)]|$)"), lambda match: f"{match['grade']} minus"
    ),
    EnglishRule("spoken", re.compile(any_of(_SPOKEN)), lambda match: _SPOKEN[match.group()]),
    EnglishRule(
        "greek",
        re.compile(rf"(?<![\u0370-\u03ff])[{''.join(_GREEK)}](?![\u0370-\u03ff])"),
        lambda match: _GREEK[match.group()],
    ),
)
_KNOWN = re.escape("".join(sorted(mark for mark in (*_SPOKEN, *_GREEK) if len(mark) == 1)))
LAST = (
    EnglishRule(
        "unspoken", re.compile(rf"(?:(?![{_KNOWN}])[^{LATIN}\d\s,.!?;:…—–“”()\[\]{{}}'/\"-])+"), lambda match: ""
    ),
    EnglishRule("foreign", re.compile(rf"[{''.join(_GREEK)}]+"), lambda match: ""),
)
"""Characters that are neither letters of ours nor punctuation."""
