"""What listeners ask for: as many different texts as wanted, the same ones for the same seed."""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from yuliu.types import Lang

Length = Literal["short", "paragraph", "long"]
LENGTHS: tuple[Length, ...] = get_args(Length)
NUM_CHARS: Mapping[Length, tuple[int, int]] = {"short": (10, 20), "paragraph": (100, 200), "long": (500, 700)}
"""From how many characters on a Mandarin text ends with its sentence, which may take it some 20 further. An English
text has twice as many characters, since they are spoken faster."""
LANGUAGES: Mapping[str, tuple[Lang, ...]] = {"baker": ("zh",), "heart": ("en",), "yuliu": ("zh", "en")}
"""What is asked of a voice; of one that is not listed, Mandarin and English in turn."""
STREAM_CLASSES = ("interactive", "standard", "bulk")
_TABLE: Mapping[str, Any] = tomllib.loads((files(__package__) / "texts.toml").read_text("utf-8"))
"""Read on import: texts are drawn in an event loop, which must not wait for a file."""
Shares = tuple[tuple[Length, int], ...]
"""How many of so many requests are of which length."""
DEFAULT_SHARES: Shares = (("short", 5), ("paragraph", 4), ("long", 1))


@dataclass(frozen=True, slots=True)
class Ask:
    """One request."""

    voice: str
    text: str
    stream_class: str | None = None
    """Sent as the JSON field ``class`` and the header ``X-Yuliu-Class``; None sends neither."""


def asks(
    voices: Sequence[str], seed: str, *, shares: Shares = DEFAULT_SHARES, stream_class: str | None = None
) -> Iterator[Ask]:
    """Requests without end, drawn by a seed; the voices in turn."""
    draw = random.Random(seed)  # noqa: S311 - repeatable, not secret
    lengths, weights = zip(*shares, strict=True)
    number = draw.randrange(len(voices))
    while True:
        voice = voices[number % len(voices)]
        (length,) = draw.choices(lengths, weights)
        yield Ask(voice, text_of(voice, length, draw), stream_class)
        number += 1


def text_of(voice: str, length: Length, draw: random.Random) -> str:
    """A text for a voice; for one of several languages, sentences of each in turn."""
    languages = LANGUAGES.get(voice, ("zh", "en"))
    fewest, most = NUM_CHARS[length]
    num_chars = draw.randint(fewest, most)
    if len(languages) == 1 or length == "short":
        lang = draw.choice(languages)
        return text(lang, num_chars * _SCALE[lang], draw)
    pieces: list[str] = []
    while sum(map(len, pieces)) < num_chars:
        pieces.append(_sentence(languages[len(pieces) % len(languages)], draw))
    return "".join(pieces)


def text(lang: Lang, num_chars: int, draw: random.Random) -> str:
    """Sentences until there are so many characters; the last one may go beyond it. A short text is one sentence."""
    space = " " if lang == "en" else ""
    pieces = [_sentence(lang, draw)]
    length = len(pieces[0])
    while length < num_chars:
        pieces.append(_sentence(lang, draw))
        length += len(space) + len(pieces[-1])
    return space.join(pieces)


_SCALE: Mapping[Lang, int] = {"zh": 1, "en": 2}


def _sentence(lang: Lang, draw: random.Random) -> str:
    table = _TABLE[lang]
    gaps = {kind: draw.choice(words) for kind, words in table["words"].items()}
    minutes = draw.randrange(60)
    clock = f"{draw.randint(1, 12)}:{minutes:02}"
    filled: str = draw.choice(table["sentences"]).format(n=draw.randint(2, 99), time=clock, **gaps)
    return filled
