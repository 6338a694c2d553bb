"""Presets: what suits a kind of use, in one word. They are data, in ``presets.toml``; operators may add their own.

A preset says how soon the first sound is wanted, how the text is cut, how much of a stream may be in work or wait at a
time, how urgent the stream is and how far ahead of its listener it is made. A request names one and may override any
field of it.
"""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from yuliu.errors import InvalidRequest
from yuliu.segmenter import Chunking
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    _Field = tuple[str, Callable[[object, str, str], object]]

DEFAULT_PRESET = "default"
"""Holds where none is named."""
MAX_FIRST_PACKET_MS = 60_000
MAX_WORKERS = 256
MAX_QUEUE = 4096
MAX_LEAD_S = 3600.0
MAX_FILE_BYTES = 256 * 1024
MAX_PRESETS = 64

_BUILT_IN = Path(__file__).with_name("presets.toml")
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_ALL_WORKERS = "all"
_MEMORY = "memory"


class Bounds(NamedTuple):
    """A number that may be adjusted between two others, both included."""

    least: int
    most: int | None
    """None: as many as the machine has, of workers or of memory."""

    def clamp(self, wanted: int, *, available: int) -> int:
        """The nearest number to ``wanted`` that is allowed, where there are ``available``, and at least 1."""
        most = available if self.most is None else min(self.most, available)
        return max(1, min(max(wanted, self.least), most))


@dataclass(frozen=True, slots=True)
class Preset:
    """How streams of one kind are cut and scheduled."""

    name: str
    description: str
    """For people, one or two sentences."""
    stream_class: StreamClass
    first_packet_s: float
    """Wanted time from enough text for the first segment to the first sound, seconds."""
    chunking: Chunking
    workers: Bounds
    """Segments of one stream that are in work at a time: one is rendered, the others are planned."""
    queue: Bounds
    """Segments of one stream that wait for that; its writer is held back beyond."""
    max_lead_s: float | None = None
    """Sound that is made ahead of what the listener plays, seconds; None sets no bound."""


def presets() -> Mapping[str, Preset]:
    """The presets that come with Yuliu, by name, in the order in which they are told."""
    return _built_in()


@cache
def _built_in() -> Mapping[str, Preset]:
    return MappingProxyType(parse_presets(_BUILT_IN.read_text(encoding="utf-8"), where=_BUILT_IN.name))


def load_presets(path: Path) -> Mapping[str, Preset]:
    """The presets that come with Yuliu, as an operator's file changes them and adds to them.

    Raises:
        InvalidRequest: The file cannot be read, or something in it is wrong; the message says where.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise InvalidRequest(f"{path.name}: cannot be read: {error.strerror}") from error
    if len(content) > MAX_FILE_BYTES:
        raise InvalidRequest(f"{path.name}: is larger than {MAX_FILE_BYTES} bytes")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path.name}: is not UTF-8, as TOML must be") from error
    return MappingProxyType(parse_presets(text, where=path.name, known=presets()))


def parse_presets(text: str, *, where: str, known: Mapping[str, Preset] | None = None) -> dict[str, Preset]:
    """Read presets from TOML.

    Args:
        text: One table for each preset. Of those that are known already it may hold some fields only.
        where: Name of the file, for messages.
        known: Those that hold where the text does not say otherwise.

    Raises:
        InvalidRequest: It is no TOML, or a name, a field or a value is wrong; the message says which.
    """
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:  # tells line and column
        raise InvalidRequest(f"{where}: not valid TOML: {error}") from error
    found = dict(known or {})
    for name, table in tables.items():
        if not _NAME.fullmatch(name):
            raise InvalidRequest(f"{where}: a preset's name must match {_NAME.pattern}", param="name")
        if not isinstance(table, dict):
            raise InvalidRequest(f"{where}: {name} must be a table of fields", param=name)
        found[name] = _read(name, table, found.get(name), f"{where}: {name}.")
    if len(found) > MAX_PRESETS:
        raise InvalidRequest(f"{where}: there are more than {MAX_PRESETS} presets")
    return found


def resolve(name: str | None, overrides: Mapping[str, object], *, known: Mapping[str, Preset] | None = None) -> Preset:
    """What holds for a request.

    Args:
        name: The preset it names; None is the default one.
        overrides: Fields of the request that replace the preset's, as plain values (JSON or TOML): ``class``,
            ``first_packet_ms``, ``chunking``, ``workers``, ``queue``, ``max_lead_s``.
        known: The presets there are; by default those that come with Yuliu.

    Raises:
        InvalidRequest: There is no such preset, or a field is unknown or wrong; ``param`` names it.
    """
    known = presets() if known is None else known
    preset = known.get(DEFAULT_PRESET if name is None else name)
    if preset is None:
        raise InvalidRequest(f"no such preset; there are {', '.join(known)}", param="preset")
    return _replaced(preset, overrides, "", _FIELDS)


def as_values(preset: Preset) -> dict[str, object]:
    """A preset as plain values for JSON: what :func:`resolve` reads, with its name and description."""
    low, high = preset.chunking.weights
    return {
        "name": preset.name,
        "description": preset.description,
        "first_packet_ms": round(preset.first_packet_s * 1000, 3),
        "class": preset.stream_class.value,
        "chunking": {"strategy": preset.chunking.strategy, "min_weight": low, "max_weight": high},
        "workers": _ALL_WORKERS if preset.workers.most is None else list(preset.workers),
        "queue": _MEMORY if preset.queue.most is None else list(preset.queue),
        "max_lead_s": preset.max_lead_s,
    }


def _read(name: str, table: Mapping[str, object], base: Preset | None, where: str) -> Preset:
    """A preset from its table; without a base all fields must be there."""
    fields = {**_FIELDS, "description": ("description", _description)}
    if base is None:
        missing = [key for key in fields if key not in table and key != "max_lead_s"]
        if missing:
            raise InvalidRequest(f"{where}{missing[0]} is missing", param=missing[0])
        base = Preset(name, "", StreamClass.STANDARD, 1.0, Chunking(), Bounds(1, 1), Bounds(1, 1))
    return _replaced(base, table, where, fields)


def _replaced(preset: Preset, values: Mapping[str, object], where: str, fields: Mapping[str, _Field]) -> Preset:
    changes: dict[str, Any] = {}
    for key, value in values.items():
        if key not in fields:
            raise InvalidRequest(f"{where}{key} is not known; known here: {', '.join(fields)}", param=key)
        attribute, parse = fields[key]
        changes[attribute] = parse(value, key, where)
    return replace(preset, **changes)


def _wrong(key: str, where: str, wanted: str) -> InvalidRequest:
    return InvalidRequest(f"{where}{key} must be {wanted}", param=key)


def _number(value: object, low: float, high: float) -> float | None:
    """The number if it is one, from ``low`` to ``high``."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        return None
    return float(value)


def _description(value: object, key: str, where: str) -> str:
    if not isinstance(value, str) or not value.isprintable() or not 0 < len(value) <= 2000:
        raise _wrong(key, where, "a string of 1 to 2000 printable characters on one line")
    return value


def _first_packet_s(value: object, key: str, where: str) -> float:
    number = _number(value, 1, MAX_FIRST_PACKET_MS)
    if number is None:
        raise _wrong(key, where, f"a number of milliseconds from 1 to {MAX_FIRST_PACKET_MS}")
    return number / 1000


def _stream_class(value: object, key: str, where: str) -> StreamClass:
    for each in StreamClass:
        if each.value == value:
            return each
    raise _wrong(key, where, f"one of {', '.join(each.value for each in StreamClass)}")


def parse_chunking(value: object, key: str = "chunking", where: str = "") -> Chunking:
    """A chunking from plain values: the name of a strategy, or an object with ``strategy`` and maybe weights.

    Raises:
        InvalidRequest: It is something else, or could not work; ``param`` names ``key`` or the field below it.
    """
    fields = {"strategy": value} if isinstance(value, str) else value
    if not isinstance(fields, dict) or not isinstance(fields.get("strategy"), str):
        raise _wrong(key, where, "the name of a strategy, or an object with a 'strategy'")
    weights = {name: fields[name] for name in ("min_weight", "max_weight") if fields.get(name) is not None}
    if len(fields.keys() - {"strategy", "min_weight", "max_weight"}) > 0:
        raise InvalidRequest(f"{where}{key} has unknown fields; known are strategy, min_weight, max_weight", param=key)
    for name, weight in weights.items():
        if _number(weight, -math.inf, math.inf) is None:
            raise _wrong(f"{key}.{name}", where, "a number")
    try:
        return Chunking(fields["strategy"], **weights)
    except InvalidRequest as error:
        raise InvalidRequest(f"{where}{key}: {error.message}", param=f"{key}.{error.param}") from None


def _bounds(word: str, most: int) -> Callable[[object, str, str], Bounds]:
    def parse(value: object, key: str, where: str) -> Bounds:
        if value == word:
            return Bounds(1, None)
        if isinstance(value, list) and len(value) == 2:
            low, high = (number if _is_count(number, most) else 0 for number in value)
            if 1 <= low <= high:
                return Bounds(low, high)
        raise _wrong(key, where, f'two whole numbers, least and most, from 1 to {most}, or "{word}"')

    return parse


def _is_count(value: object, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value <= most


def _max_lead_s(value: object, key: str, where: str) -> float | None:
    number = _number(value, 0.1, MAX_LEAD_S)
    if number is None and value is not None:
        raise _wrong(key, where, f"a number of seconds from 0.1 to {MAX_LEAD_S:g}")
    return number


_FIELDS: Mapping[str, _Field] = {
    "first_packet_ms": ("first_packet_s", _first_packet_s),
    "class": ("stream_class", _stream_class),
    "chunking": ("chunking", parse_chunking),
    "workers": ("workers", _bounds(_ALL_WORKERS, MAX_WORKERS)),
    "queue": ("queue", _bounds(_MEMORY, MAX_QUEUE)),
    "max_lead_s": ("max_lead_s", _max_lead_s),
}
"""Attribute and reader of each field that a request may override, by its name in JSON and TOML."""
