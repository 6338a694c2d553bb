"""What people and machines spell: addresses, versions, identifiers, file names, hashtags, letters mixed with digits."""

from __future__ import annotations

import re

from yuliu.text.en.number_words import cardinal, digits, number, pairs, whole, year
from yuliu.text.en.rule import Rule, word_after
from yuliu.text.en.tables import listing

_TLDS = (
    "com|org|net|edu|gov|io|co|uk|de|fr|info|biz|us|ca|au|tv|me|ai|app|dev|cn|jp|eu|ch|nl|it|es|in|br|ru|xyz|tech|gg|ly"
    "|mil|int|nz|se|no|pl|at|be|kr|hk|tw|sg|cloud|online|site|store|blog|page|example|test|local"
)
_EXTENSIONS = (
    "py|js|ts|tsx|jsx|md|txt|json|yaml|yml|toml|csv|pdf|docx?|xlsx?|pptx?|png|jpe?g|gif|svg|mp3|mp4|wav|flac|ogg|zip|tar|gz"
    "|html?|css|cpp|hpp|c|h|rs|go|java|rb|php|sh|exe|dll|so|log|xml|sql|ini|cfg|conf|ipynb|onnx|env|lock|db|iso|apk|dmg|bat"
)
_SPOKEN_EXTENSIONS = {
    "com": "com",
    "zip": "zip",
    "log": "log",
    "env": "env",
    "lock": "lock",
    "bat": "bat",
    "go": "go",
    "java": "java",
    "so": "SO",
    "iso": "ISO",
    "wav": "wave",
    "tar": "tar",
}
_MARKS = {
    ".": "dot",
    "/": "slash",
    "-": "dash",
    "_": "underscore",
    "@": "at",
    ":": "colon",
    "?": "question mark",
    "=": "equals",
    "&": "and",
    "#": "hash",
    "+": "plus",
    "%": "percent",
    "~": "tilde",
    ",": "comma",
    "\\": "backslash",
    "!": "",
    "'": "",
    "*": "star",
    ";": "",
    "$": "dollar",
    "(": "",
    ")": "",
}
_CHUNKS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_]+|.", re.DOTALL)
_SPELLED_WORDS = frozenset(
    listing(
        "www http https ftp api url html css php py js ts md ip id uk us tv io ai cn eu gg jpg png gif pdf svg usr"
        " src lib txt csv xml sql rs rb sh tsx jsx yml cpp hpp exe dll cfg db onnx gz"
    )
)
_WORDS = {"usr": "user", "gmail": "g mail", "src": "source", "lib": "lib"}


def address_words(text: str) -> str:
    """A web or mail address or a path: words, "dot", "slash", "at"; digits one by one where there are more than two."""
    return " ".join(filter(None, (_address_part(part) for part in _CHUNKS.findall(text))))


def _address_part(part: str) -> str:
    if part in _MARKS:
        return _MARKS[part]
    if part.isdigit():
        return number(part) if len(part) <= 2 and part[0] != "0" else digits(part)
    lower = part.lower()
    if lower in _SPELLED_WORDS:
        return _WORDS.get(lower, lower.upper())
    if len(part) == 1 and part.isalpha():
        return part.upper()
    return part if part.isalpha() else ""


def _url(match: re.Match[str]) -> str:
    rest = re.sub(r"^[A-Za-z][A-Za-z+.-]*://", "", match.group())
    return address_words(rest.rstrip("/"))


def _mail(match: re.Match[str]) -> str:
    return address_words(match.group().removeprefix("mailto:"))


def _path(match: re.Match[str]) -> str | None:
    return address_words(match.group())


def _file(match: re.Match[str]) -> str:
    stem, _, extension = match.group().rpartition(".")
    spoken = _SPOKEN_EXTENSIONS.get(extension.lower(), " ".join(_CHUNKS.findall(extension.upper())))
    if spoken[-1:].isdigit():
        spoken = spoken[:-1] + number(spoken[-1])
    return f"{identifier_words(stem)} dot {spoken}"


def identifier_words(text: str) -> str:
    """``snake_case`` and ``camelCase`` names as words."""
    return " ".join(filter(None, (_identifier_part(part) for part in _CHUNKS.findall(text))))


def _identifier_part(part: str) -> str:
    if part == ".":
        return "dot"
    if part.isdigit():
        return whole(part)
    if len(part) == 1 and part.isalpha():
        return part.upper()
    if part.isupper() and len(part) > 5:
        return part.lower()
    return part if part.isalpha() else ""


def _identifier(match: re.Match[str]) -> str:
    return identifier_words(match.group())


def _camel(match: re.Match[str]) -> str | None:
    if word_after(match) == "" and match.group() in ("iPhone",):
        return None
    return identifier_words(match.group())


def _hashtag(match: re.Match[str]) -> str:
    return f"hashtag {identifier_words(match['name'])}"


def _handle(match: re.Match[str]) -> str:
    return f"at {identifier_words(match['name'])}"


def _octets(match: re.Match[str]) -> str:
    words = " dot ".join(digits(part) for part in match["ip"].split("."))
    if match["port"]:
        words += f" colon {digits(match['port'])}"
    return words + (f" slash {number(match['bits'])}" if match["bits"] else "")


def version_words(text: str) -> str:
    """``2.0.1`` is "two point zero point one"; a part of two digits is one number, unless it starts with a zero."""
    return " point ".join(whole(part) if len(part) <= 2 else digits(part) for part in text.split("."))


def _version(match: re.Match[str]) -> str:
    head = "version " if match["v"] else ""
    words = head + version_words(match["run"])
    if match["tail"]:
        words += f" {identifier_words(match['tail'].replace('.', ' '))}"
    return words


def _named_version(match: re.Match[str]) -> str:
    return f"{match['name']}{match['gap']}{version_words(match['run'])}"


def _mixed(match: re.Match[str]) -> str | None:
    """Letters and digits in one word."""
    text = match.group()
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_]+", text)
    spoken = [_mixed_part(part, first=index == 0, parts=parts) for index, part in enumerate(parts)]
    return " ".join(spoken)


def _mixed_part(part: str, *, first: bool, parts: list[str]) -> str:
    if part.isdigit():
        return _mixed_digits(part, first=first, parts=parts)
    if part in ("x", "X") and len(parts) == 3 and not first:
        return "by" if parts[0].isdigit() else "X"
    if len(part) == 1:
        return part.upper()
    if part.lower() in (
        "mp",
        "ps",
        "gpt",
        "ipv",
        "vgg",
        "gb",
        "mb",
        "kb",
        "hz",
        "rtx",
        "gtx",
        "ddr",
        "usb",
        "hdmi",
        "md",
        "sha",
        "utf",
        "iso",
        "mw",
        "km",
    ):
        return part.upper()
    return part


def _mixed_digits(part: str, *, first: bool, parts: list[str]) -> str:
    if part[0] == "0" or len(part) > 4:
        return digits(part)
    if len(part) <= 2:
        return cardinal(int(part))
    lead = parts[0]
    if len(part) == 3 and len(parts) == 2 and not first and len(lead) >= 2:
        return digits(part)
    if len(part) == 4 and len(lead) <= 1 and not first:
        return pairs(part)
    if len(part) == 4 and 1900 <= int(part) < 2100:
        return year(int(part))
    return pairs(part) if len(part) == 3 else digits(part)


RULES = (
    Rule(
        "url",
        re.compile(r"(?<![\w@.])(?:[Hh]ttps?|[Ff]tp|wss?|file|ssh|git)://[^\s<>\"“”)\]]*[^\s<>\"“”)\],.;:!?']"),
        _url,
    ),
    Rule(
        "mail",
        re.compile(
            r"(?<![\w.+-])(?:mailto:)?[A-Za-z0-9][\w.+-]{0,63}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,5}(?!\w)"
        ),
        _mail,
    ),
    Rule(
        "ip",
        re.compile(
            r"(?<![\w.])(?P<ip>(?:\d{1,3}\.){3}\d{1,3})(?::(?P<port>\d{1,5}))?(?:/(?P<bits>\d{1,2}))?(?![\w]|\.\d)"
        ),
        _octets,
    ),
    Rule(
        "domain",
        re.compile(
            rf"(?<![\w@.-])(?:www\.(?:[A-Za-z0-9-]{{1,63}}\.){{1,4}}[A-Za-z]{{2,10}}|(?:[A-Za-z0-9-]{{1,63}}\.){{1,4}}(?:{_TLDS}))"
            r"(?::\d{2,5})?(?:/[^\s<>\"“”)\]]*[^\s<>\"“”)\],.;:!?']|/)?(?![\w])"
        ),
        _url,
    ),
    Rule("local", re.compile(r"(?<![\w.])localhost:\d{2,5}(?:/[\w/.-]*\w)?"), _url),
    Rule(
        "file",
        re.compile(
            rf"(?<![\w./@-])[A-Za-z0-9][\w-]{{0,63}}(?:\.[\w-]{{1,30}}){{0,2}}\.(?i:{_EXTENSIONS}|mp3|mp4)(?![\w.-]\w|\w)"
        ),
        _file,
    ),
    Rule(
        "path", re.compile(r"(?<![\w/.])(?:~|\.{1,2})?/[A-Za-z_][\w.-]{0,63}(?:/[\w.-]{1,63}){1,16}/?(?<![.-])"), _path
    ),
    Rule("windows_path", re.compile(r"(?<!\w)[A-Za-z]:\\[\w.-]{1,63}(?:\\[\w.-]{1,63}){0,16}"), _path),
    Rule("dotnet", re.compile(r"(?<!\w)\.NET\b"), lambda match: "dot net"),
    Rule(
        "node_js",
        re.compile(r"\b(?:Node|Vue|React|Next|Three|D3)\.js\b"),
        lambda match: f"{match.group()[:-3]} JS".replace("D3", "D three"),
    ),
    Rule("sharp", re.compile(r"(?<!\w)(?P<letter>[A-G])(?P<mark>#|♯)(?!\w)"), lambda match: f"{match['letter']} sharp"),
    Rule(
        "plus_plus",
        re.compile(r"(?<!\w)(?P<name>[A-Za-z]|Notepad)\+\+(?:(?P<version>\d\d)(?!\d))?"),
        lambda match: (
            f"{match['name'] if len(match['name']) > 1 else match['name'].upper()} plus plus"
            + (f" {number(match['version'])}" if match["version"] else "")
        ),
    ),
    Rule(
        "version",
        re.compile(
            r"(?<![\w.,$])(?:(?P<v>[vV])\.? ?(?=\d))?"
            r"(?P<run>\d{1,4}(?:\.\d{1,6}){2,5}|(?<=[vV])\d{1,4}(?:\.\d{1,4})?)"
            r"(?:-?(?P<tail>(?:alpha|beta|rc|dev|post|a|b)[.-]?\d{0,3}))?(?!\w|\.\d)"
        ),
        _version,
    ),
    Rule(
        "named_version",
        re.compile(
            r"\b(?P<name>[Vv]ersion|Python|Node|iOS|iPadOS|macOS|Android|Ubuntu|Debian|Fedora|Java|PHP|Ruby|Go|Rust|Swift|Kotlin|CUDA|PyTorch|TensorFlow|"
            r"[Rr]elease|Windows|Chrome|Firefox|Safari|Django|Linux|Kubernetes|Perl|Postgres|PostgreSQL|MySQL|OpenSSL)"
            r"(?P<gap> )(?P<run>\d{1,3}\.\d{1,3})(?![\w%]|\.\d)"
        ),
        _named_version,
    ),
    Rule("hashtag", re.compile(r"(?<![\w&#])#(?P<name>[A-Za-z_]\w{0,99})"), _hashtag),
    Rule("handle", re.compile(r"(?<![\w@])@(?P<name>[A-Za-z_]\w{0,63})"), _handle),
    Rule(
        "snake",
        re.compile(r"(?<![\w])_{0,2}[A-Za-z][A-Za-z0-9]{0,63}(?:_{1,2}[A-Za-z0-9]{1,63}){1,16}_{0,2}(?![\w])"),
        _identifier,
    ),
    Rule("call", re.compile(r"(?<![\w])[A-Za-z]\w{0,63}(?=\(\))"), _identifier),
    Rule(
        "mixed",
        re.compile(
            r"(?<![\w.,$'-])(?=[A-Za-z-]{0,24}\d)(?=\d{0,12}-?[A-Za-z])[A-Za-z0-9]{1,32}(?:-(?=[A-Za-z0-9-]{0,24}\d|[A-Z0-9]{1,4}(?![a-z]))[A-Za-z0-9]{1,32}){0,4}(?![\w'])"
        ),
        _mixed,
    ),
    Rule(
        "camel",
        re.compile(r"(?<![\w])[a-z]{2,20}(?:[A-Z][a-z0-9]{1,20}){1,6}(?!\w)|(?<![\w])(?:[A-Z][a-z]{2,20}){3,6}(?!\w)"),
        _camel,
    ),
)
