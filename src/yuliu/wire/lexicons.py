"""Lexicons over HTTP as values: ``/v1/lexicons`` and what is below it, and the fields of a speech request.

A lexicon goes over the wire as JSON, as a table (:mod:`yuliu.text.lexicon.tsv`) or as W3C PLS, by content type. Its
version is its entity tag (RFC 9110, 8.8.3), so that ``If-Match`` keeps two writers apart.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal, cast

from yuliu.errors import InvalidRequest
from yuliu.text.lexicon import Entry
from yuliu.text.lexicon.pls import parse_pls, write_pls
from yuliu.text.lexicon.problems import MAX_ENTRIES, MAX_FILE_BYTES
from yuliu.text.lexicon.tsv import parse_tsv, write_tsv
from yuliu.wire.strict_json import media_type, read_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Form = Literal["json", "tsv", "pls"]
MEDIA_TYPES: Mapping[Form, str] = {
    "json": "application/json",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "pls": "application/pls+xml",
}
MAX_BODY_BYTES = MAX_FILE_BYTES
_FORMS: Mapping[str, Form] = {
    "application/json": "json",
    "text/tab-separated-values": "tsv",
    "application/pls+xml": "pls",
}
_FIELDS = ("text", "reading", "alphabet", "lang", "match_case", "where", "stage")
_TAG = re.compile(r'(?:W/)?"(\d{1,15})"|(\d{1,15})')


def form_of_body(content_type: str | None) -> Form:
    """How a body is written.

    Raises:
        InvalidRequest: Not in a way that is read. A web page could send anything else than these to a server on its
            visitor's machine without asking.
    """
    form = _FORMS.get(media_type(content_type))
    if form is None:
        raise InvalidRequest(f"send the lexicon with one of these as Content-Type: {', '.join(_FORMS)}")
    return form


def form_of_answer(accept: str | None) -> Form:
    """How an answer is wanted: the first of the ``Accept`` header that is known, else JSON."""
    for each in (accept or "").split(","):
        form = _FORMS.get(media_type(each))
        if form is not None:
            return form
    return "json"


def parse_if_match(value: str | None) -> int | None:
    """The version that a change is for; None for any.

    Raises:
        InvalidRequest: The header holds something else than one version, or ``*``.
    """
    if value is None or value.strip() == "*":
        return None
    found = _TAG.fullmatch(value.strip())
    if found is None:
        raise InvalidRequest("'If-Match' must be the version in quotes, such as \"3\", or *", param="If-Match")
    return int(found[1] or found[2])


def entity_tag(version: int) -> str:
    """The ``ETag`` of a version."""
    return f'"{version}"'


def parse_lexicon(body: bytes, form: Form) -> tuple[Entry, ...]:
    """The entries in a body.

    Raises:
        InvalidRequest: Something is wrong; the message says where.
    """
    if form == "json":
        return _parse_json(body)
    return (parse_tsv(body) if form == "tsv" else parse_pls(body)).checked()


def lexicon_body(name: str, version: int, entries: Sequence[Entry], form: Form) -> bytes:
    """A lexicon as it is told."""
    if form == "tsv":
        return write_tsv(entries).encode("utf-8")
    if form == "pls":
        return write_pls(entries).encode("utf-8")
    return _dump({"name": name, "version": version, "entries": [entry_values(entry) for entry in entries]})


def lexicons_body(lexicons: Sequence[tuple[str, int, int]]) -> bytes:
    """The list of lexicons: names, versions, numbers of entries."""
    listed = [{"name": name, "version": version, "entries": number} for name, version, number in lexicons]
    return _dump({"lexicons": listed})


def entry_values(entry: Entry) -> dict[str, object]:
    """An entry as plain values; those that are as by default are left out."""
    default = Entry("x", "x")
    values = {name: getattr(entry, name) for name in _FIELDS}
    return {name: value for name, value in values.items() if value != getattr(default, name)}


def parse_entry(value: object, param: str) -> Entry:
    """An entry from plain values.

    Args:
        value: As read from JSON.
        param: Where it stood, for messages.

    Raises:
        InvalidRequest: It is no entry; ``param`` and the message say why.
    """
    if not isinstance(value, dict) or not {"text", "reading"} <= set(value):
        raise InvalidRequest(f"{param!r} must be an object with a 'text' and a 'reading'", param=param)
    if unknown := set(value) - set(_FIELDS):
        raise InvalidRequest(
            f"{param!r} has {len(unknown)} unknown fields; known are {', '.join(_FIELDS)}", param=param
        )
    if not isinstance(value.get("match_case", False), bool):
        raise InvalidRequest(f"{param!r}: 'match_case' must be true or false", param=param)
    try:
        return Entry(**cast("dict[str, Any]", value))
    except InvalidRequest as error:
        raise InvalidRequest(f"{param!r}: {error.message}", param=param) from None


def parse_names(value: object) -> tuple[str, ...]:
    """The field ``lexicon`` of a speech request: a name, a list of names, or null.

    Raises:
        InvalidRequest: It is something else.
    """
    names = [value] if isinstance(value, str) else value
    if names is None or names == [""]:
        return ()
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InvalidRequest("'lexicon' must be a name or a list of names", param="lexicon")
    return tuple(names)


def parse_entries(value: object) -> tuple[Entry, ...]:
    """The field ``lexicon_entries`` of a speech request: a list of entries, an object from texts to readings, or null.

    Raises:
        InvalidRequest: It is something else.
    """
    if value is None:
        return ()
    if isinstance(value, dict):
        value = [{"text": text, "reading": reading} for text, reading in value.items()]
    if not isinstance(value, list):
        raise InvalidRequest("'lexicon_entries' must be a list of entries", param="lexicon_entries")
    return tuple(parse_entry(each, f"lexicon_entries[{index}]") for index, each in enumerate(value))


def _parse_json(body: bytes) -> tuple[Entry, ...]:
    value = read_json(body, what="the request body")
    if isinstance(value, dict):
        value = value.get("entries", [value])
    if not isinstance(value, list):
        raise InvalidRequest("'entries' must be a list of entries", param="entries")
    if len(value) > MAX_ENTRIES:
        raise InvalidRequest(f"more than {MAX_ENTRIES:,} entries; split the lexicon in two", param="entries")
    return tuple(parse_entry(each, f"entries[{index}]") for index, each in enumerate(value))


def _dump(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode("ascii")
