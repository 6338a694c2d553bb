"""Texts of the bench: fixed ones for latency, and an unlimited number of different ones for load, drawn by a seed."""

from __future__ import annotations

import random
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from yuliu.types import Lang

LANGUAGES: tuple[Lang, ...] = ("zh", "en")
Length = Literal["short", "paragraph", "long"]
LENGTHS: tuple[Length, ...] = get_args(Length)
NUM_CHARS: Mapping[Length, tuple[int, int]] = {"short": (10, 20), "paragraph": (100, 200), "long": (500, 700)}
"""Range of characters after which a Mandarin text ends with its sentence, which may add about 20. English texts have
twice as many characters, because they are spoken faster."""
VOICE_LANGUAGES: Mapping[str, tuple[Lang, ...]] = {"baker": ("zh",), "heart": ("en",), "yuliu": ("zh", "en")}
"""Languages of the texts for a voice; other voices get Mandarin and English in turn."""
STREAM_CLASSES = ("interactive", "standard", "bulk")
LengthShares = tuple[tuple[Length, int], ...]
"""Relative frequency of each length."""
DEFAULT_SHARES: LengthShares = (("short", 5), ("paragraph", 4), ("long", 1))


def _load(name: str) -> Mapping[str, Any]:
    return tomllib.loads((files(__package__) / name).read_text("utf-8"))


_SENTENCES = _load("sentences.toml")
"""Read on import: texts are drawn on an event loop, which must not wait for a file."""
_SCALE: Mapping[Lang, int] = {"zh": 1, "en": 2}


def short_texts() -> dict[Lang, dict[str, str]]:
    """Return the fixed texts by language and nominal number of characters (12, 64, 172, 600)."""
    table = _load("texts.toml")
    return {lang: dict(table[lang]) for lang in LANGUAGES}


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """One request of a load."""

    voice: str
    text: str
    stream_class: str | None = None
    """Sent as the JSON field ``class`` and the header ``X-Yuliu-Class``; None sends neither."""


def draw_requests(
    voices: Sequence[str], seed: str, *, shares: LengthShares = DEFAULT_SHARES, stream_class: str | None = None
) -> Iterator[LoadRequest]:
    """Yield requests without end, drawn by a seed; the voices take turns."""
    draw = random.Random(seed)  # noqa: S311 - repeatable, not secret
    lengths, weights = zip(*shares, strict=True)
    number = draw.randrange(len(voices))
    while True:
        voice = voices[number % len(voices)]
        (length,) = draw.choices(lengths, weights)
        yield LoadRequest(voice, text_for(voice, length, draw), stream_class)
        number += 1


def text_for(voice: str, length: Length, draw: random.Random) -> str:
    """Draw a text for a voice; one with several languages gets sentences of each in turn."""
    languages = VOICE_LANGUAGES.get(voice, LANGUAGES)
    low, high = NUM_CHARS[length]
    num_chars = draw.randint(low, high)
    if len(languages) == 1 or length == "short":
        lang = draw.choice(languages)
        return draw_text(lang, num_chars * _SCALE[lang], draw)
    pieces: list[str] = []
    while sum(map(len, pieces)) < num_chars:
        pieces.append(_sentence(languages[len(pieces) % len(languages)], draw))
    return "".join(pieces)


def draw_text(lang: Lang, num_chars: int, draw: random.Random) -> str:
    """Draw whole sentences until there are at least ``num_chars`` characters."""
    space = " " if lang == "en" else ""
    pieces = [_sentence(lang, draw)]
    length = len(pieces[0])
    while length < num_chars:
        pieces.append(_sentence(lang, draw))
        length += len(space) + len(pieces[-1])
    return space.join(pieces)


def _sentence(lang: Lang, draw: random.Random) -> str:
    table = _SENTENCES[lang]
    gaps = {kind: draw.choice(words) for kind, words in table["words"].items()}
    minutes = draw.randrange(60)
    clock = f"{draw.randint(1, 12)}:{minutes:02}"
    filled: str = draw.choice(table["sentences"]).format(n=draw.randint(2, 99), time=clock, **gaps)
    return filled
