"""Lexicons over HTTP as values: ``/v1/lexicons`` and what is below it, and the fields of a speech request.

A lexicon goes over the wire as JSON, as a table (:mod:`yuliu.text.lexicon.tsv`) or as W3C PLS, by content type. Its
version is its entity tag (RFC 9110, 8.8.3), so that ``If-Match`` keeps two writers apart.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta, to_builtins

from yuliu.errors import InvalidRequest
from yuliu.text.lexicon import Entry
from yuliu.text.lexicon.pls import parse_pls, write_pls
from yuliu.text.lexicon.problems import MAX_ENTRIES, MAX_FILE_BYTES
from yuliu.text.lexicon.tsv import parse_tsv, write_tsv
from yuliu.wire.faults import must
from yuliu.wire.response_bodies import LexiconBody, LexiconList, ListedLexicon, json_body
from yuliu.wire.schema import Schema
from yuliu.wire.strict_json import BOM, media_type, read_json

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
_ENTRY: Schema[Entry] = Schema(Entry, what="the entry")
_TAG = re.compile(r'(?:W/)?"(\d{1,15})"|(\d{1,15})')


NamesField = Annotated[str | list[str] | None, must("a name or a list of names")]
_Reading = Annotated[Any, Meta(extra_json_schema={"type": "string"})]
EntriesField = list[Entry] | dict[str, _Reading] | None
"""Entries that come with a text: a list of them, or an object from texts to readings."""


def form_of_body(content_type: str | None) -> Form:
    """Return the form of a body.

    Raises:
        InvalidRequest: Not in a way that is read. A web page could send anything else than these to a server on its
            visitor's machine without asking.
    """
    form = _FORMS.get(media_type(content_type))
    if form is None:
        raise InvalidRequest(f"send the lexicon with one of these as Content-Type: {', '.join(_FORMS)}")
    return form


def form_of_answer(accept: str | None) -> Form:
    """Return the form of the response: the first of the ``Accept`` header that is known, else JSON."""
    for each in (accept or "").split(","):
        form = _FORMS.get(media_type(each))
        if form is not None:
            return form
    return "json"


def parse_if_match(value: str | None) -> int | None:
    """Return the version that a change is for; None for any.

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
    """Return the ``ETag`` of a version."""
    return f'"{version}"'


def parse_lexicon(body: bytes, form: Form) -> tuple[Entry, ...]:
    """Return the entries in a body.

    Raises:
        InvalidRequest: Something is wrong; the message says where.
    """
    if form == "json":
        return _parse_json(body)
    return (parse_tsv(body) if form == "tsv" else parse_pls(body)).checked()


def lexicon_body(name: str, version: int, entries: Sequence[Entry], form: Form) -> bytes:
    """Return the body of a lexicon."""
    if form == "tsv":
        return write_tsv(entries).encode("utf-8")
    if form == "pls":
        return write_pls(entries).encode("utf-8")
    return json_body(LexiconBody(name, version, tuple(entries)))


def lexicons_body(lexicons: Sequence[tuple[str, int, int]]) -> bytes:
    """Return the list of lexicons: names, versions, numbers of entries."""
    return json_body(LexiconList(tuple(ListedLexicon(*each) for each in lexicons)))


def entry_values(entry: Entry) -> dict[str, object]:
    """Return an entry as plain values, without those that are as by default."""
    values: dict[str, object] = to_builtins(entry)
    return values


def parse_entry(value: object, param: str) -> Entry:
    """Return an entry from plain values.

    Args:
        value: As read from JSON.
        param: Where it stood, for messages.

    Raises:
        InvalidRequest: It is no entry; ``param`` and the message say why.
    """
    return _ENTRY.convert(value, at=(param,))


def entry_names(names: str | list[str] | None) -> tuple[str, ...]:
    """Return the lexicons that the field ``lexicon`` of a request names; an empty name is none."""
    given = [names] if isinstance(names, str) else names or []
    return () if given == [""] else tuple(given)


def entries_of(given: EntriesField) -> tuple[Entry, ...]:
    """Return the entries of the field ``lexicon_entries`` of a request: a list, or an object from texts to readings.

    Raises:
        InvalidRequest: A text or a reading of the object is none.
    """
    if not isinstance(given, dict):
        return tuple(given or ())
    rows = ({"text": text, "reading": reading} for text, reading in given.items())
    return tuple(_ENTRY.convert(row, at=("lexicon_entries", index)) for index, row in enumerate(rows))


def _parse_json(body: bytes) -> tuple[Entry, ...]:
    value = read_json(body.removeprefix(BOM), what="the request body")
    if isinstance(value, dict):
        value = value.get("entries", [value])
    if not isinstance(value, list):
        raise InvalidRequest("'entries' must be a list of entries", param="entries")
    if len(value) > MAX_ENTRIES:
        raise InvalidRequest(f"more than {MAX_ENTRIES:,} entries; split the lexicon in two", param="entries")
    return tuple(_ENTRY.convert(each, at=("entries", index)) for index, each in enumerate(value))
