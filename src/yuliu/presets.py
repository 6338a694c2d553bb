"""Presets: named sets of values for a kind of use. They are data, in ``presets.toml``; operators may add their own.

A preset says how soon the first sound is wanted, how the text is cut, how many segments of a stream may be in work or
wait at a time, how urgent the stream is and how far ahead of its listener it is made. A request names one and may
override any field of it.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType, field

from yuliu.errors import InvalidRequest
from yuliu.segmenter import Chunking
from yuliu.types import StreamClass
from yuliu.wire.faults import must
from yuliu.wire.preset_fields import ChunkingField, ChunkingFields, ClassField, LeadField
from yuliu.wire.schema import convert_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

T = TypeVar("T", bound=Struct)
DEFAULT_PRESET = "default"
"""Preset of streams that name none."""
MAX_FIRST_PACKET_MS = 60_000
MAX_WORKERS = 256
MAX_QUEUE = 4096
MAX_FILE_BYTES = 256 * 1024
MAX_PRESETS = 64
MAX_DESCRIPTION_CHARACTERS = 2000

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
        """Return the nearest number to ``wanted`` that is allowed, where there are ``available``, and at least 1."""
        most = available if self.most is None else min(self.most, available)
        return max(1, min(max(wanted, self.least), most))


@dataclass(frozen=True, slots=True)
class Preset:
    """Rules for cutting and scheduling streams of one kind."""

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


_COUNT = Annotated[int, Meta(ge=1, le=MAX_QUEUE)]


def _bounds(word: str, most: int) -> Meta:
    return must(f'two whole numbers, least and most, from 1 to {most}, or "{word}"')


class Overrides(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Fields of a preset that a request may override, as JSON and TOML write them."""

    first_packet_ms: (
        Annotated[
            float, must(f"a number of milliseconds from 1 to {MAX_FIRST_PACKET_MS}", ge=1, le=MAX_FIRST_PACKET_MS)
        ]
        | UnsetType
    ) = UNSET
    """Wanted time to the first sound, milliseconds."""
    stream_class: ClassField | UnsetType = field(name="class", default=UNSET)
    """Urgency of the stream."""
    chunking: ChunkingField | UnsetType = UNSET
    """Rules by which the text is cut."""
    workers: Annotated[tuple[_COUNT, _COUNT] | Literal["all"], _bounds("all", MAX_WORKERS)] | UnsetType = UNSET
    """Segments of one stream that are in work at a time."""
    queue: Annotated[tuple[_COUNT, _COUNT] | Literal["memory"], _bounds("memory", MAX_QUEUE)] | UnsetType = UNSET
    """Segments of one stream that wait for that."""
    max_lead_s: LeadField | UnsetType | None = UNSET
    """Sound that is made ahead of the listener, seconds; null sets no bound."""


class PresetTable(Overrides, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Table of a preset in a TOML file."""

    description: Annotated[str, must("a string of 1 to 2000 printable characters on one line")] | UnsetType = UNSET
    """Description for people, one or two sentences."""


def presets() -> Mapping[str, Preset]:
    """Return the presets that come with Yuliu, by name, in the order of the file."""
    return _built_in()


@cache
def _built_in() -> Mapping[str, Preset]:
    return MappingProxyType(parse_presets(_BUILT_IN.read_text(encoding="utf-8"), where=_BUILT_IN.name))


def load_presets(path: Path) -> Mapping[str, Preset]:
    """Return the presets that come with Yuliu, as an operator's file changes them and adds to them.

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
    """Return the preset of a request, with its overrides.

    Args:
        name: The preset it names; None is the default one.
        overrides: Fields of the request that replace the preset's: those of :class:`Overrides`.
        known: The presets there are; by default those that come with Yuliu.

    Raises:
        InvalidRequest: There is no such preset, or a field is unknown or wrong; ``param`` names it.
    """
    known = presets() if known is None else known
    preset = known.get(DEFAULT_PRESET if name is None else name)
    if preset is None:
        raise InvalidRequest(f"no such preset; there are {', '.join(known)}", param="preset")
    return _replaced(preset, _converted(overrides, Overrides, ""), "") if overrides else preset


def as_values(preset: Preset) -> dict[str, object]:
    """Return a preset as plain values for JSON: those that :func:`resolve` reads, with its name and description."""
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
    """Return a preset from its table; without a base all fields must be there."""
    if base is None:
        missing = [key for key in PresetTable.__struct_encode_fields__ if key not in table and key != "max_lead_s"]
        if missing:
            raise InvalidRequest(f"{where}{missing[0]} is missing", param=missing[0])
        base = Preset(name, "", StreamClass.STANDARD, 1.0, Chunking(), Bounds(1, 1), Bounds(1, 1))
    given = _converted(table, PresetTable, where)
    if given.description is not UNSET:
        if not given.description.isprintable() or not 0 < len(given.description) <= MAX_DESCRIPTION_CHARACTERS:
            raise _wrong("description", where, "a string of 1 to 2000 printable characters on one line")
        base = replace(base, description=given.description)
    return _replaced(base, given, where)


def _converted(values: Mapping[str, object], kind: type[T], where: str) -> T:
    found: T = convert_toml(values, kind, where=where)
    return found


def _replaced(preset: Preset, given: Overrides, where: str) -> Preset:
    changes: dict[str, Any] = {}
    if given.first_packet_ms is not UNSET:
        changes["first_packet_s"] = given.first_packet_ms / 1000
    if given.stream_class is not UNSET:
        changes["stream_class"] = StreamClass(given.stream_class)
    if given.chunking is not UNSET:
        changes["chunking"] = parse_chunking(given.chunking, where=where)
    if given.workers is not UNSET:
        changes["workers"] = _as_bounds("workers", given.workers, MAX_WORKERS, where)
    if given.queue is not UNSET:
        changes["queue"] = _as_bounds("queue", given.queue, MAX_QUEUE, where)
    if given.max_lead_s is not UNSET:
        changes["max_lead_s"] = given.max_lead_s
    return replace(preset, **changes)


def _as_bounds(key: str, given: tuple[int, int] | str, most: int, where: str) -> Bounds:
    if isinstance(given, str):
        return Bounds(1, None)
    if not given[0] <= given[1] <= most:
        word = _ALL_WORKERS if key == "workers" else _MEMORY
        raise _wrong(key, where, f'two whole numbers, least and most, from 1 to {most}, or "{word}"')
    return Bounds(*given)


def _wrong(key: str, where: str, wanted: str) -> InvalidRequest:
    return InvalidRequest(f"{where}{key} must be {wanted}", param=key)


class _Chunking(Struct, frozen=True):
    chunking: ChunkingField


def parse_chunking(value: object, *, where: str = "") -> Chunking:
    """Return a chunking from the name of a strategy, or from an object with a ``strategy`` and maybe weights.

    Raises:
        InvalidRequest: It is something else, or could not work; ``param`` names ``chunking`` or the field below it.
    """
    given = _converted({"chunking": value}, _Chunking, where).chunking
    fields = ChunkingFields(given) if isinstance(given, str) else given
    try:
        return Chunking(fields.strategy, fields.min_weight, fields.max_weight)  # type: ignore[arg-type] # it checks
    except InvalidRequest as error:
        raise InvalidRequest(f"{where}chunking: {error.message}", param=f"chunking.{error.param}") from None
