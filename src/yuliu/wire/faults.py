"""Errors of msgspec in the words of the declaration: which field is wrong, and what it accepts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import inspect as kinds

from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from yuliu.wire.strict_json import Path

NOT_BEFORE_NEWLINE = r"(?!\n)"
"""End of patterns: Python's ``$`` matches before a newline at the end, too."""
_MUST = "must"
_ERROR = re.compile(r"(.*?)(?: - at `(?:key` in `)?\$(.*)`)?", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+)\]")
_FIELD = re.compile(r"Object (missing required|contains unknown) field `(.*)`", re.DOTALL)


def must(words: str, **bounds: Any) -> msgspec.Meta:  # noqa: ANN401 - those of Meta
    """Return bounds of a value, and the words that follow "must be".

    Faults inside the value are blamed on all of it.
    """
    return msgspec.Meta(extra={_MUST: words}, **bounds)


@dataclass(frozen=True, slots=True)
class Fault:
    """Fault of a document, and its place."""

    path: Path
    """Place of the value at fault."""
    problem: str
    """Predicate that follows the name of the value; of an unknown field, the known ones."""
    unknown: str | None = None
    """Name of a field of the object at ``path`` that is not known."""
    item: Path = ()
    """Place of the object in a list that the value is a field of; empty if there is none."""


def find_fault(error: msgspec.ValidationError, kind: Any, tag: object = None) -> Fault:  # noqa: ANN401 - unions, too
    """Locate what msgspec refuses.

    Args:
        error: The refusal.
        kind: The struct, or the union of tagged structs, that was to be decoded.
        tag: Tag of the document, which names a member of the union.
    """
    found = _ERROR.fullmatch(str(error))
    assert found is not None  # noqa: S101 - the expression matches any text
    steps: list[str | int] = [name or int(index) for name, index in _STEP.findall(found[2] or "")]
    field = _FIELD.fullmatch(found[1])
    is_missing = field is not None and field[1] == "missing required"
    place = locate(kind, [*steps, field[2]] if field is not None and is_missing else steps, tag)
    if field is not None and not is_missing and len(place.path) == len(steps):
        return Fault(place.path, ", ".join(_names(_struct(place.kind, tag))), field[2], place.item)
    verb = "is missing; it must be" if is_missing and len(place.path) > len(steps) else "must be"
    return Fault(place.path, f"{verb} {wanted(place.kind)}", item=place.item)


def json_error(fault: Fault, what: str) -> InvalidRequest:
    """Return the error for a JSON document: ``param`` is a field, or an object in a list.

    Args:
        fault: The fault.
        what: Name of the document, for messages.
    """
    blamed = fault.item or fault.path
    inner = dotted(fault.path[len(blamed) :])
    place = (repr(dotted(blamed)) if blamed else what) + (f": {inner!r}" if inner else "")
    if not blamed and fault.problem.startswith("must be"):
        return InvalidRequest(f"{what} must be a JSON object")
    problem = fault.problem if fault.unknown is None else f"has unknown fields; known are {fault.problem}"
    if isinstance((*blamed, "")[-2:][0], int) and blamed != fault.item:
        blamed = blamed[:-1]  # an element that is no object: the list is to blame
    return InvalidRequest(f"{place} {problem}", param=dotted(blamed) or None)


def toml_error(fault: Fault, where: str) -> InvalidRequest:
    """Return the error for a table of TOML: ``param`` is the key.

    Args:
        fault: The fault.
        where: Prefix of the key in messages: the file, and the table.
    """
    if fault.unknown is not None:
        key = dotted((*fault.path, fault.unknown))
        return InvalidRequest(f"{where}{key} is not known; known here: {fault.problem}", param=key)
    key = dotted(fault.path)
    problem = fault.problem.replace("an object of", "a table of")
    return InvalidRequest(f"{where}{key} {problem}", param=key or None)


def dotted(path: Path) -> str:
    """Return a place as ``files[0].size``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the declaration of a document."""

    path: Path
    kind: kinds.Type
    """Declared type."""
    item: Path
    """Place of the object in a list that it is a field of; empty if there is none."""


def locate(kind: Any, steps: Sequence[str | int], tag: object = None) -> Place:  # noqa: ANN401 - unions, too
    """Follow steps into a declaration, as far as values are blamed for themselves."""
    path: Path = ()
    node, item = _type_info(kind), path
    for step in steps:
        child = None if _remedy(node) else _child(node, step, tag)
        if child is None:
            break
        path, node = (*path, step), child
        if isinstance(step, int) and _struct(node, None) is not None:
            item = path
    return Place(path, node, item)


def item_struct(kind: Any, path: Path, tag: object) -> Any:  # noqa: ANN401 - a struct, or anything
    """Return the struct of the elements of a list."""
    place = locate(kind, path, tag)
    struct = _struct(place.kind, None) if place.path == path else None
    return struct.cls if struct else object


def wanted(node: kinds.Type) -> str:
    """Return what a value must be, in words."""
    match node:
        case kinds.Metadata(type=inner):
            return _remedy(node) or wanted(inner)
        case kinds.UnionType(types=types):
            return ", or ".join(filter(None, map(wanted, types)))
    return _words(node)


_WORDS: Mapping[type[kinds.Type], str] = {
    kinds.IntType: "a whole number",
    kinds.FloatType: "a number",
    kinds.StrType: "a string",
    kinds.BoolType: "true or false",
    kinds.DictType: "an object",
    kinds.NoneType: "",
}
_type_info = cache(kinds.type_info)


def _words(node: kinds.Type) -> str:
    match node:
        case kinds.StructType():
            return f"an object of {', '.join(_names(node))}"
        case kinds.LiteralType(values=values):
            return f"one of {', '.join(str(value) for value in values if value != '')}"
        case kinds.StrType(pattern=str(pattern)):
            return f"a string that matches {pattern.removesuffix(NOT_BEFORE_NEWLINE)}"
        case kinds.IntType(ge=int(low), le=int(high)):
            return f"a whole number from {low} to {high}"
        case kinds.FloatType(ge=float() | int() as low, le=float() | int() as high):
            return f"a number from {low:g} to {high:g}"
    return _WORDS.get(type(node), "a list")


def _members(node: kinds.Type) -> list[kinds.Type]:
    """Return the alternatives of a type, without what stands around them."""
    match node:
        case kinds.Metadata(type=inner):
            return _members(inner)
        case kinds.UnionType(types=types):
            return [each for member in types for each in _members(member)]
    return [node]


def _remedy(node: kinds.Type) -> str | None:
    """Return the words of :func:`must` for a type that is the only one beside null."""
    match node:
        case kinds.Metadata(extra={"must": str(words)}):
            return words
        case kinds.Metadata(type=inner):
            return _remedy(inner)
        case kinds.UnionType(types=types):
            others = [each for each in types if not isinstance(each, kinds.NoneType)]
            return _remedy(others[0]) if len(others) == 1 else None
    return None


def _struct(node: kinds.Type, tag: object) -> kinds.StructType | None:
    """Return the object among the alternatives; of tagged ones, that of the tag, or else any."""
    found = [each for each in _members(node) if isinstance(each, kinds.StructType)]
    return next((each for each in found if each.tag == tag), found[0] if found else None)


def _child(node: kinds.Type, step: str | int, tag: object) -> kinds.Type | None:
    if isinstance(step, int):
        lists = (each for each in _members(node) if isinstance(each, kinds.ListType | kinds.VarTupleType))
        return next((each.item_type for each in lists), None)
    struct = _struct(node, tag)
    if struct is None:
        return None
    if step == struct.tag_field:
        tags = [each.tag for each in _members(node) if isinstance(each, kinds.StructType)]
        return kinds.LiteralType(tuple(tags))
    return next((field.type for field in struct.fields if field.encode_name == step), None)


def _names(struct: kinds.StructType | None) -> list[str]:
    return [field.encode_name for field in struct.fields] if struct else []
