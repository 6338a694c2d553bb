"""Web and mail addresses, host names, IP addresses, paths and file names."""

from __future__ import annotations

import re

from yuliu.text.en.number_words import cardinal, digits, number
from yuliu.text.en.rule import EnglishRule
from yuliu.text.en.rules.names import CHUNKS, name_words
from yuliu.text.en.tables import listing, table

_TLDS = "|".join(
    listing(
        "com org net edu gov io co uk de fr info biz us ca au tv me ai app dev cn jp eu ch nl it es in br ru xyz tech"
        " gg ly mil int nz se no pl at be kr hk tw sg cloud online site store blog page example test local"
    )
)
_EXTENSIONS = "|".join(
    listing(
        "py js ts tsx jsx md txt json yaml yml toml csv pdf docx? xlsx? pptx? png jpe?g gif svg mp3 mp4 wav flac ogg"
        " zip tar gz html? css cpp hpp rs go java rb php sh exe dll so log xml sql ini cfg conf ipynb onnx env lock"
        " db iso apk dmg bat"
    )
)
_SHORT_EXTENSIONS = "c|h|o|a|r|d"
"""Extensions of lower-case names only, since initials look the same."""
_SAID_EXTENSIONS = table(
    "zip: zip; log: log; env: env; lock: lock; bat: bat; go: go; java: java; wav: wave; tar: tar; toml: toml;"
    " yaml: yaml; json: jason; flac: flac; conf: conf; onnx: onnx; jpeg: JPEG; gif: GIF; iso: ISO"
)
_MARKS = {
    ".": "dot", "/": "slash", "-": "dash", "_": "underscore", "@": "at", ":": "colon", "?": "question mark",
    "=": "equals", "&": "and", "#": "hash", "+": "plus", "%": "percent", "~": "tilde", ",": "comma", "*": "star",
    "\\": "backslash", "$": "dollar",
}  # fmt: skip
_SPELLED = frozenset(
    listing(
        "www http https ftp api url html css php py js ts md ip id uk tv io ai cn eu gg jpg png gif pdf svg txt csv"
        " xml sql rs rb sh tsx jsx yml cpp hpp exe dll cfg db onnx gz tts stt llm gpu cpu ios vs"
    )
)
_WORDS = table(
    "usr: user; src: source; gmail: G mail; github: git hub; gitlab: git lab; youtube: you tube; etc: et cetera"
)
_PATH_TAIL = r"(?:/[^\s<>\"“”)\]]*[^\s<>\"“”)\],.;:!?']|/)?"


def address_words(text: str) -> str:
    """Return an address or a path in words: "dot", "slash", "at"; more than two digits are read one by one."""
    return " ".join(filter(None, (_part(part) for part in CHUNKS.findall(text))))


def _part(part: str) -> str:
    if part in _MARKS:
        return _MARKS[part]
    if part.isdigit():
        return number(part) if len(part) <= 2 and part[0] != "0" else digits(part)
    lower = part.lower()
    if lower in _WORDS:
        return _WORDS[lower]
    if lower in _SPELLED or (len(part) == 1 and part.isalpha()):
        return part.upper()
    return part if part.isalpha() else ""


def _url(match: re.Match[str]) -> str:
    rest = re.sub(r"^[A-Za-z][A-Za-z+.-]*://", "", match.group())
    return address_words(rest.rstrip("/"))


def _mail(match: re.Match[str]) -> str:
    return address_words(match.group().removeprefix("mailto:"))


def _path(match: re.Match[str]) -> str:
    return address_words(match.group())


def _file(match: re.Match[str]) -> str:
    stem, _, extension = match.group().rpartition(".")
    said = _SAID_EXTENSIONS.get(extension.lower())
    if said is None:
        letters = extension.rstrip("0123456789")
        said = f"{letters.upper()} {number(extension[-1])}" if extension[-1].isdigit() else letters.upper()
    return f"{name_words(stem)} dot {said}"


def _octets(match: re.Match[str]) -> str:
    words = " dot ".join(cardinal(int(part)) if len(part) < 3 else digits(part) for part in match["ip"].split("."))
    if match["port"]:
        words += f" colon {digits(match['port'])}"
    return words + (f" slash {number(match['bits'])}" if match["bits"] else "")


def _hardware(match: re.Match[str]) -> str:
    """Return the address of a network card or an IPv6 address, character by character, with a pause between groups."""
    groups = re.split(r"(::|[:-])", match.group())
    spoken = ("colon colon" if group == "::" else _characters(group) for group in groups if group not in (":", "-", ""))
    return ", ".join(spoken)


def _characters(run: str) -> str:
    return " ".join(digits(char) if char.isdigit() else char.upper() for char in run)


RULES = (
    EnglishRule(
        "mac",
        re.compile(r"(?<![\w:-])(?:[0-9A-Fa-f]{2}([:-]))(?:[0-9A-Fa-f]{2}\1){4}[0-9A-Fa-f]{2}(?![\w:-])"),
        _hardware,
    ),
    EnglishRule(
        "ipv6",
        re.compile(
            r"(?<![\w:.])(?=[0-9A-Fa-f:]{0,40}[0-9A-Fa-f]{3}|[\d:]{0,40}[A-Fa-f]|::1(?!\w))(?<!\[)"
            r"(?:(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}"
            r"|(?:[0-9A-Fa-f]{1,4}:){0,6}[0-9A-Fa-f]{1,4}::(?:[0-9A-Fa-f]{1,4}(?::[0-9A-Fa-f]{1,4}){0,5})?|::1)(?![\w:])"
        ),
        _hardware,
    ),
    EnglishRule(
        "url",
        re.compile(r"(?<![\w@.])(?:[Hh]ttps?|[Ff]tp|wss?|file|ssh|git)://[^\s<>\"“”)\]]*[^\s<>\"“”)\],.;:!?']"),
        _url,
    ),
    EnglishRule(
        "mail",
        re.compile(
            r"(?<![\w.+-])(?:mailto:)?[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}(?!\w)"
        ),
        _mail,
    ),
    EnglishRule(
        "ip",
        re.compile(
            r"(?<![\w.])(?P<ip>(?:\d{1,3}\.){3}\d{1,3})(?::(?P<port>\d{1,5}))?(?:/(?P<bits>\d{1,2}))?(?!\w|\.\d)"
        ),
        _octets,
    ),
    EnglishRule(
        "domain",
        re.compile(
            r"(?<![\w@.-])(?:www\.(?:[A-Za-z0-9-]{1,63}\.){1,4}[A-Za-z]{2,10}"
            rf"|(?:[A-Za-z0-9-]{{1,63}}\.){{1,4}}(?:{_TLDS}))(?::\d{{2,5}})?{_PATH_TAIL}(?!\w)"
        ),
        _url,
    ),
    EnglishRule("local", re.compile(r"(?<![\w.])localhost:\d{2,5}(?:/[\w/.-]*\w)?"), _url),
    EnglishRule(
        "file",
        re.compile(
            r"(?<![\w./@-])(?:[A-Za-z0-9][\w-]{0,63}(?:\.[\w-]{1,30}){0,2}"
            rf"\.(?i:{_EXTENSIONS})|[a-z][a-z0-9_-]{{1,63}}\.(?:{_SHORT_EXTENSIONS}))(?![\w-]|\.\w)"
        ),
        _file,
    ),
    EnglishRule(
        "path",
        re.compile(r"(?<![\w/.])(?:~|\.{1,2})?/[A-Za-z_][\w.-]{0,63}(?:/[\w.-]{1,63}){1,16}/?(?<![.-])"),
        _path,
    ),
    EnglishRule(
        "extension",
        re.compile(rf"(?<!\S)(?P<star>\*)?\.(?P<name>{_EXTENSIONS})(?!\w|\.\w)"),
        lambda match: ("star " if match["star"] else "") + "dot " + address_words(match["name"]),
    ),
    EnglishRule(
        "forum",
        re.compile(r"(?<![\w/])(?P<kind>[ru])/(?=[A-Za-z_]{2})"),
        lambda match: match["kind"].upper() + " slash ",
    ),
    EnglishRule("home_path", re.compile(r"(?<!\w)(?:~|\.{1,2})/[\w.-]{1,63}(?<![.-])(?![\w/])"), _path),
    EnglishRule("windows_path", re.compile(r"(?<!\w)[A-Za-z]:\\[\w.-]{1,63}(?:\\[\w.-]{1,63}){0,16}(?<![.-])"), _path),
)
