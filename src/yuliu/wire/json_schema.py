"""JSON Schema of structs: fields, kinds and bounds as declared, descriptions from the docstrings below the fields."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    JsonSchema = dict[str, Any]

REF_TEMPLATE = "#/components/schemas/{name}"
_ROLE = re.compile(r":\w+:`~?([\w.]+)`")


def schemas_of(structs: Iterable[type[msgspec.Struct]]) -> dict[str, JsonSchema]:
    """Return the schemas of structs and of all that they hold, by name, for ``#/components/schemas``."""
    wanted = tuple(structs)
    _, components = msgspec.json.schema_components(wanted, ref_template=REF_TEMPLATE)
    by_name = {each.__name__: each for each in _with_bases_and_parts(wanted)}
    return {name: _described(schema, by_name.get(name)) for name, schema in sorted(components.items())}


def plain(text: str) -> str:
    """Return a docstring as Markdown."""
    without_roles = _ROLE.sub(lambda found: f"`{found[1].rpartition('.')[2]}`", text)
    return " ".join(without_roles.replace("``", "`").split())


@cache
def field_docs(struct: type[msgspec.Struct]) -> Mapping[str, str]:
    """Return the docstrings of fields, by the names on the wire; those of base classes as well."""
    docs: dict[str, str] = {}
    for each in reversed(struct.__mro__[:-1]):
        if each.__module__.startswith("yuliu."):
            docs |= _attribute_docs(each)
    names = zip(struct.__struct_fields__, struct.__struct_encode_fields__, strict=True)
    return {encoded: plain(docs[name]) for name, encoded in names if name in docs}


def _attribute_docs(struct: type) -> dict[str, str]:
    """Return the string literals that follow assignments in the body of a class."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(struct))).body
    body = cast("ast.ClassDef", definition).body
    found = {}
    for assignment, doc in pairwise(body):
        if isinstance(assignment, ast.AnnAssign) and isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant):
            found[cast("ast.Name", assignment.target).id] = str(doc.value.value)
    return found


def _described(schema: JsonSchema, struct: type[msgspec.Struct] | None) -> JsonSchema:
    if struct is None:
        return schema
    docs = field_docs(struct)
    properties = {name: _with_doc(each, docs.get(name)) for name, each in schema.get("properties", {}).items()}
    return {**schema, "description": plain(inspect.getdoc(struct) or ""), "properties": properties}


def _with_doc(schema: JsonSchema, doc: str | None) -> JsonSchema:
    return schema if doc is None else {"description": doc, **schema}


def _with_bases_and_parts(structs: Iterable[type[msgspec.Struct]]) -> set[type[msgspec.Struct]]:
    """Return structs and those that their fields hold."""
    found: set[type[msgspec.Struct]] = set()
    for info in msgspec.inspect.multi_type_info(tuple(structs)):
        _collect(info, found)
    return found


def _collect(node: object, found: set[type[msgspec.Struct]]) -> None:
    if isinstance(node, msgspec.inspect.StructType):
        if node.cls in found:
            return
        found.add(node.cls)
        for field in node.fields:
            _collect(field.type, found)
    for name in ("type", "types", "item_type", "item_types", "key_type", "value_type"):
        inner = getattr(node, name, ())
        for each in inner if isinstance(inner, tuple) else (inner,):
            _collect(each, found)
