"""Symbols that are spoken, and what is left out."""

from __future__ import annotations

import re

from yuliu.text.en.rule import Rule

_SPOKEN = {
    "&": "and", "=": "equals", "≠": "is not equal to", "≤": "less than or equal to", "≥": "greater than or equal to",
    "≈": "approximately", "±": "plus or minus", "÷": "divided by", "√": "square root of", "∞": "infinity",
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
LATIN = "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u1e00-\u1eff"
"""Letters that the dictionaries or the reader of unknown words may know, as a range for a pattern."""
_POWERS = {"2": "squared", "3": "cubed"}


def _power(match: re.Match[str]) -> str:
    if match["run"] in _POWERS and not re.search(r"\d\Z", match.string[: match.start()][-1:]):
        return _POWERS[match["run"]]
    if match["run"]:
        return "to the power of" if not match["sign"] else "to the power of minus"
    return "to the power of"


def _operator(match: re.Match[str]) -> str:
    return {
        "*": "times",
        "×": "times",
        "<": "less than",
        ">": "greater than",
        "/": "over",
        "-": "minus",
        "+": "plus",
        "^": "to the power of",
    }[match["mark"]]


RULES = (
    Rule(
        "emoticon",
        re.compile(
            r"(?<![\w:;=])(?:[:;=8][-o^']?[)(\]\[DPpOo3/\\|*]{1,3}|<3|</3|\^_+\^|[xX]D|-_+-|T_T|¯\\_\(.\)_/¯|:'\(|\(\^_\^\))(?!\w)"
        ),
        lambda match: "",
    ),
    Rule("squared", re.compile(r"(?<=[A-Za-z)])\^(?P<run>[23])(?![\d.])"), lambda match: _POWERS[match["run"]]),
    Rule(
        "power",
        re.compile(r"(?<=[\w)])\^(?P<sign>-)?(?=[\w(])"),
        lambda match: "to the power of" + (" minus" if match["sign"] else ""),
    ),
    Rule(
        "times",
        re.compile(r"(?<=[\d)]) ?(?P<mark>[*×·]) ?(?=[\d(.-])|(?<=[\w)]) (?P<mark2>[*×]) (?=[\w(])|(?<=[\w)])×(?=\w)"),
        lambda match: "times",
    ),
    Rule(
        "compare",
        re.compile(r"(?:(?<=[\w)])|(?<=[\w)] )|^)(?P<mark><=|>=|==|!=|<|>)(?= ?[-\w(.$])(?![A-Za-z]+>)"),
        lambda match: {"<": "less than", ">": "greater than"}.get(match["mark"]) or _SPOKEN[match["mark"]],
    ),
    Rule("about", re.compile(r"(?<![\w~])[~∼≈] ?(?=[$£€¥]?\d)"), lambda match: "about "),
    Rule("divided", re.compile(r"(?<=[\d)]) / (?=[\d(])"), lambda match: "divided by"),
    Rule("minus", re.compile(r"(?<=[\w)]) ?- ?(?=[\w(]+ ?= ?)|(?<=\d) - (?=\d)"), lambda match: "minus"),
    Rule(
        "plus", re.compile(r"(?<=[\w)]) ?\+ ?(?=[\w(])|(?<=[\w])\+(?!\w)|(?<![\w+])\+(?=[\w.])"), lambda match: "plus"
    ),
    Rule(
        "spoken",
        re.compile("|".join(re.escape(mark) for mark in sorted(_SPOKEN, key=len, reverse=True))),
        lambda match: _SPOKEN[match.group()],
    ),
    Rule(
        "greek",
        re.compile(rf"(?<![\u0370-\u03ff])[{''.join(_GREEK)}](?![\u0370-\u03ff])"),
        lambda match: _GREEK[match.group()],
    ),
    Rule("unspoken", re.compile(rf"[^{LATIN}\s,.!?;:…—–“”()\[\]{{}}'/\"-]+"), lambda match: ""),
)
