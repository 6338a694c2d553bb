"""Names used by machines and manufacturers: versions, identifiers, hashtags, letters mixed with digits."""

from __future__ import annotations

import re

from yuliu.text.en.number_words import cardinal, digits, number, pairs, plural, whole, year
from yuliu.text.en.rule import EnglishRule
from yuliu.text.en.tables import any_of, listing

CHUNKS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_]+|.", re.DOTALL)
"""Pattern that cuts "getHTTPUser2" into get, HTTP, User, 2."""
_VERSIONED = listing(
    "version Version release Release Python Node iOS iPadOS macOS Android Ubuntu Debian Fedora Java PHP Ruby Go Rust"
    " Swift Kotlin CUDA PyTorch TensorFlow Windows Chrome Firefox Safari Django Linux Kubernetes Perl Postgres"
    " PostgreSQL MySQL OpenSSL Claude Gemini Llama Qwen GPT ChatGPT USB HDMI Bluetooth HTTP TLS SDK API Unity Blender"
)
_ROADS = frozenset(listing("US SR CA FM NH Hwy Rt"))
_AIRLINES = listing("UA AA DL BA LH AF KL QF SQ CX EK WN MU CZ NH JL CA QR TK AC AS")
_SPELLED = frozenset(listing("mp ps gpt ipv vgg rtx gtx ddr usb hdmi md sha utf iso px ev cd dvd ml ai"))
"""Lower-case starts of mixed names that are spelled: mp3, ipv6, sha256."""


def name_words(text: str) -> str:
    """Return ``snake_case`` and ``camelCase`` names as words; of other marks only the dot is read."""
    return " ".join(filter(None, (_part(part) for part in CHUNKS.findall(text))))


def _part(part: str) -> str:
    if part == ".":
        return "dot"
    if part.isdigit():
        return whole(part)
    if len(part) == 1 and part.isalpha():
        return part.upper()
    if part.isupper() and len(part) > 5:
        return part.lower()
    return part if part.isalpha() else ""


def _name(match: re.Match[str]) -> str:
    return name_words(match.group())


def _hashtag(match: re.Match[str]) -> str:
    return f"hashtag {name_words(match['name'])}"


def _handle(match: re.Match[str]) -> str:
    return f"at {name_words(match['name'])}"


def _version_words(text: str) -> str:
    """Read ``2.0.1`` as "two point zero point one"; a part of two digits is one number, unless it starts with 0."""
    return " point ".join(whole(part) if len(part) <= 2 else digits(part) for part in text.split("."))


def _version(match: re.Match[str]) -> str:
    words = ("version " if match["v"] or match["small"] else "") + _version_words(match["run"])
    tail = match["tail"]
    return f"{words} {name_words(tail.replace('.', ' '))}" if tail else words


def _named_version(match: re.Match[str]) -> str:
    return f"{match['name']} {_version_words(match['run'])}"


def _plus_plus(match: re.Match[str]) -> str:
    name = match["name"]
    words = f"{name.upper() if len(name) == 1 else name} plus plus"
    return f"{words} {number(match['version'])}" if match["version"] else words


def _mixed(match: re.Match[str]) -> str:
    """Read letters and digits in one word: "GPT four O", "COVID nineteen", "UA one two three"."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+(?:\.\d+)?(?:s\b)?", match.group())
    return " ".join(_mixed_part(part, lead=parts[0], follows=index > 0) for index, part in enumerate(parts))


def _mixed_part(part: str, *, lead: str, follows: bool) -> str:
    if part[-1] == "s" and part[0].isdigit():
        return plural(_mixed_digits(part[:-1], lead=lead, follows=follows))
    if part[0].isdigit():
        return number(part) if "." in part else _mixed_digits(part, lead=lead, follows=follows)
    if len(part) == 1 or part.lower() in _SPELLED:
        return part.upper()
    return part


def _mixed_digits(part: str, *, lead: str, follows: bool) -> str:
    if part[0] == "0" or len(part) > 4:
        return digits(part)
    if len(part) <= 2:
        return cardinal(int(part))
    if len(part) == 3:
        return digits(part) if follows and len(lead) >= 2 and lead not in _ROADS else pairs(part)
    if 1900 <= int(part) < 2100:
        return year(int(part))
    return pairs(part) if not follows or len(lead) == 1 else digits(part)


RULES = (
    EnglishRule("dotnet", re.compile(r"(?<!\w)\.NET\b"), lambda match: "dot net"),
    EnglishRule("sharp", re.compile(r"(?<!\w)(?P<letter>[A-G])[#♯](?!\w)"), lambda match: f"{match['letter']} sharp"),
    EnglishRule(
        "plus_plus", re.compile(r"(?<!\w)(?P<name>[A-Za-z]|Notepad)\+\+(?:(?P<version>\d\d)(?!\d))?"), _plus_plus
    ),
    EnglishRule(
        "version",
        re.compile(
            r"(?<![\w.,$])(?:(?P<v>[vV])\.? ?(?=\d{1,4}\.)|(?P<small>v)(?=\d))?"
            r"(?P<run>\d{1,4}(?:\.\d{1,6}){2,5}|(?<=[vV])\d{1,4}(?:\.\d{1,4})?)"
            r"(?:-?(?P<tail>(?:alpha|beta|rc|dev|post|a|b)[.-]?\d{0,3}))?(?!\w|\.\d)"
        ),
        _version,
    ),
    EnglishRule(
        "named_version",
        re.compile(rf"\b(?P<name>{any_of(_VERSIONED)}) (?P<run>\d{{1,3}}\.\d{{1,3}})(?![\w%]|\.\d)"),
        _named_version,
    ),
    EnglishRule(
        "standard",
        re.compile(r"(?<![\w.])(?P<name>[A-Z])\.(?P<run>\d{3})(?!\w|\.\d)"),
        lambda match: f"{match['name']} dot {digits(match['run'])}",
    ),
    EnglishRule(
        "flight",
        re.compile(rf"(?<!\w)(?P<name>{any_of(_AIRLINES)}) (?P<run>\d{{3,4}})(?![\w]|[.,:-]\d)"),
        lambda match: f"{match['name']} {digits(match['run'])}",
    ),
    EnglishRule(
        "clause",
        re.compile(r"(?<![\w.,])(?P<run>\d{3})\((?P<name>[a-z])\)"),
        lambda match: f"{pairs(match['run'])} {match['name'].upper()}",
    ),
    EnglishRule("dotted", re.compile(r"(?<![\w.@])[a-z_]\w{1,40}(?:\.[a-z_]\w{1,40}){1,6}(?!\w)"), _name),
    EnglishRule("numbered", re.compile(r"(?<![\w&#])#(?=[A-Z]{1,4}-?\d)"), lambda match: "number "),
    EnglishRule("hashtag", re.compile(r"(?<![\w&#])#(?P<name>\d{0,6}[A-Za-z_]\w{0,99})"), _hashtag),
    EnglishRule("handle", re.compile(r"(?<![\w@])@(?P<name>[A-Za-z_]\w{0,63})"), _handle),
    EnglishRule(
        "snake",
        re.compile(r"(?<!\w)_{0,2}[A-Za-z][A-Za-z0-9]{0,63}(?:_{1,2}[A-Za-z0-9]{1,63}){1,16}_{0,2}(?!\w)"),
        _name,
    ),
    EnglishRule("call", re.compile(r"(?<!\w)[A-Za-z]\w{0,63}(?=\(\))"), _name),
    EnglishRule(
        "mixed",
        re.compile(
            r"(?<![\w.,$'-])(?=[A-Za-z-]{0,24}\d)(?=\d{0,12}-?[A-Za-z])[A-Za-z0-9]{1,32}"
            r"(?:-(?=[A-Za-z0-9-]{0,24}\d|[A-Z0-9]{1,4}(?![a-z]))[A-Za-z0-9]{1,32}(?:\.\d{1,3}(?![\w.]))?){0,4}(?![\w'])"
        ),
        _mixed,
    ),
    EnglishRule(
        "camel",
        re.compile(r"(?<!\w)[a-z]{2,20}(?:[A-Z][a-z0-9]{2,20}){1,6}(?!\w)|(?<!\w)(?:[A-Z][a-z]{2,20}){3,6}(?!\w)"),
        _name,
    ),
)
