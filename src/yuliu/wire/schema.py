"""Structs as the one declaration of a message: decoded by msgspec, with errors in the words of the declaration.

A struct says which fields a message or a table has, of which kinds and in which bounds. msgspec decodes and checks it
in one pass. Only if it refuses is the document looked at again, to name the field and what it accepts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from yuliu.errors import InvalidRequest
from yuliu.wire.faults import Fault, dotted, find_fault, item_struct, json_error, locate, toml_error
from yuliu.wire.strict_json import BOM, check_keys, find_surrogate, read_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.wire.strict_json import Path

T = TypeVar("T")


class Schema(Generic[T]):
    """Decoder of a struct, or of a union of tagged structs.

    Args:
        kind: The struct, or the union.
        what: Name of the document for messages, such as ``the request body``.
    """

    def __init__(self, kind: Any, *, what: str) -> None:  # noqa: ANN401 - a union is of no type
        members: Sequence[type[msgspec.Struct]] = getattr(kind, "__args__", None) or (kind,)
        self._kind, self._what = kind, what
        self._decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(kind)
        self._known = frozenset(name for each in members for name in field_names(each))
        self._num_needed: dict[Any, int] = {each: _num_needed(each) for each in members}
        self._tag_field = members[0].__struct_config__.tag_field

    def decode(self, data: str | bytes) -> T:
        """Return the value of a JSON document.

        Args:
            data: The document. Bytes are UTF-8; a byte order mark before them is passed over.

        Raises:
            InvalidRequest: The document is malformed or ambiguous, or a field is wrong; ``param`` names the field.
        """
        if isinstance(data, bytes):
            data = data.removeprefix(BOM)
        try:
            value = self._decoder.decode(data)
        except InvalidRequest as error:  # a struct has refused its values
            raise self._item_refusal(read_json(data, what=self._what), error) from None
        except (ValueError, RecursionError) as error:  # all that msgspec raises
            raise self._refusal(data, error) from None
        num_colons = data.count(":") if isinstance(data, str) else data.count(b":")
        if num_colons != self._num_needed[type(value)]:  # else it has those keys and no other
            check_keys(data, what=self._what, known=self._known)
        return value

    def convert(self, value: object, *, at: Path = ()) -> T:
        """Return the value of a document that was parsed already.

        Args:
            value: The document.
            at: Its place in a larger one.

        Raises:
            InvalidRequest: A field is wrong; ``param`` names it.
        """
        if (steps := find_surrogate(value)) is not None:
            raise self._error_at(at, self._surrogate_fault(value, steps))
        try:
            found: T = msgspec.convert(value, self._kind)
        except msgspec.ValidationError as error:
            raise self._error_at(at, find_fault(error, self._kind, self._tag_of(value))) from None
        except InvalidRequest as error:  # a struct has refused its values
            raise _wrapped(error, at) if at else self._item_refusal(value, error) from None
        return found

    def _error_at(self, at: Path, fault: Fault) -> InvalidRequest:
        return json_error(replace(fault, path=(*at, *fault.path), item=at or fault.item), self._what)

    def _refusal(self, data: str | bytes, error: Exception) -> InvalidRequest:
        """Return what is wrong with a document that msgspec refused."""
        try:
            document = read_json(data, what=self._what)
        except InvalidRequest as refusal:
            return refusal
        if (steps := find_surrogate(document)) is not None:
            return json_error(self._surrogate_fault(document, steps), self._what)
        if isinstance(error, msgspec.ValidationError):
            return json_error(find_fault(error, self._kind, self._tag_of(document)), self._what)
        return InvalidRequest(f"{self._what} is not valid JSON")

    def _surrogate_fault(self, document: object, steps: Path) -> Fault:
        place = locate(self._kind, steps, self._tag_of(document))
        return Fault(place.path, "holds half of a surrogate pair, which is no character", item=place.item)

    def _item_refusal(self, document: object, error: InvalidRequest) -> InvalidRequest:
        """Return the refusal of a struct's own check, with its place if it stands in a list."""
        lists = document.items() if isinstance(document, dict) else ()
        places = [
            ((name, index), item)
            for name, items in lists
            if isinstance(items, list)
            for index, item in enumerate(items)
        ]
        for place, item in places:
            struct = item_struct(self._kind, place, self._tag_of(document))
            try:
                msgspec.convert(item, struct)
            except InvalidRequest as refusal:
                return _wrapped(refusal, place)
            except msgspec.ValidationError:
                continue
        return error

    def _tag_of(self, document: object) -> object:
        return document.get(self._tag_field) if isinstance(document, dict) else None


def convert_toml(values: object, kind: Any, *, where: str, at: Path = ()) -> Any:  # noqa: ANN401 - a value of the kind
    """Return the value of a parsed TOML document, or of a table in it.

    Args:
        values: As parsed.
        kind: The struct, or another type that msgspec knows.
        where: Prefix of the key in messages: the file, and maybe a table, such as ``presets.toml: api.``.
        at: Place of the table in the document.

    Raises:
        InvalidRequest: A key is missing, unknown or wrong; ``param`` names it.
    """
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        tag = values.get(kind_tag_field(kind)) if isinstance(values, dict) else None
        fault = find_fault(error, kind, tag)
        raise toml_error(replace(fault, path=(*at, *fault.path)), where) from None


def kind_tag_field(kind: Any) -> str | None:  # noqa: ANN401 - a struct, a union of them, or anything else
    """Return the field that tells the members of a union apart."""
    member = (getattr(kind, "__args__", None) or (kind,))[0]
    config = getattr(member, "__struct_config__", None)
    return config.tag_field if config else None


def _wrapped(error: InvalidRequest, at: Path) -> InvalidRequest:
    """Return what a value refused, with its place."""
    return InvalidRequest(f"{dotted(at)!r}: {error.message}", param=dotted(at))


def field_names(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the fields of a struct as the wire spells them, the tag first if there is one."""
    tag_field = struct.__struct_config__.tag_field
    return struct.__struct_encode_fields__ if tag_field is None else (tag_field, *struct.__struct_encode_fields__)


def _num_needed(struct: type[msgspec.Struct]) -> int:
    """Return how many fields the smallest document has."""
    num_fields = sum(field.required for field in msgspec.structs.fields(struct))
    return num_fields + (struct.__struct_config__.tag_field is not None)
