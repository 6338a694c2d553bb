"""The native stream over plain HTTP: the text comes in the body of a request, as text or as messages, while it is
written. Other fields of a ``start`` stand in the query.
"""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from yuliu.errors import InvalidRequest
from yuliu.wire.native.decode import MAX_MESSAGE_BYTES, START_FIELDS, message_of, parse_object
from yuliu.wire.native.messages import End, ForText, Start, TextDelta
from yuliu.wire.strict_json import media_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TEXT, LINES = "text/plain", "application/x-ndjson"
QUERY_FIELDS = tuple(name for name in START_FIELDS if name not in ("context", "lexicon_entries", "timings", "resume_s"))
_NUMBERS = (
    *("sample_rate", "channels", "kbps", "speed", "max_lead_s", "weight", "lead_in_ms", "seed"),
    *("volume_db", "pitch_semitones"),
)
_CONTEXT = "body"
_OF_BODY = ("start", "text", "flush", "config", "end")


def start_of_query(query: Mapping[str, str]) -> dict[str, object]:
    """Return the fields of a ``start`` that stand in a query; ``effects`` there is a list of names, with commas.

    Raises:
        InvalidRequest: One is not known there, or should be a number.
    """
    fields: dict[str, object] = {}
    for name, value in query.items():
        if name not in QUERY_FIELDS:
            raise InvalidRequest(f"the query may hold {', '.join(QUERY_FIELDS)}", param=name[:64])
        fields[name] = _number(name, value) if name in _NUMBERS else value
    if "effects" in query:
        fields["effects"] = dict.fromkeys(filter(None, query["effects"].split(",")), True)
    return fields


class Body:
    """A body as it arrives, cut anywhere.

    Args:
        content_type: The header's value; None if there was none.
        query: Fields of ``start`` from the query; those of a ``start`` in the body replace them.

    Raises:
        InvalidRequest: The body is of a kind that is not read.
    """

    def __init__(self, content_type: str | None, query: Mapping[str, object]) -> None:
        kind = media_type(content_type)
        if kind not in (TEXT, LINES):
            raise InvalidRequest(f"send the text as {TEXT}, or messages in lines as {LINES}", param="Content-Type")
        self._in_lines = kind == LINES
        self._fields = dict(query)
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._line = ""
        self._started = False

    def push(self, data: bytes) -> list[Start | ForText]:
        """Return the messages that have arrived; a ``Start`` comes first, once it is certain that the body holds none.

        Raises:
            InvalidRequest: It cannot be read.
        """
        return self._read(data, last=False)

    def finish(self) -> list[Start | ForText]:
        """Return the messages at the end of the body."""
        return self._read(b"", last=True)

    def _read(self, data: bytes, *, last: bool) -> list[Start | ForText]:
        try:
            text = self._decoder.decode(data, last)
        except UnicodeDecodeError:
            raise InvalidRequest("the body must be UTF-8") from None
        found: list[Start | ForText] = []
        if not self._in_lines:
            found = [*self._start({}), *([TextDelta(_CONTEXT, text)] if text else [])]
        else:
            for line in self._lines(text, last=last):
                found += self._message(line)
        if last:
            found += self._start({})
        return [*found, End(_CONTEXT)] if last and not any(isinstance(each, End) for each in found) else found

    def _lines(self, text: str, *, last: bool) -> Iterator[str]:
        *whole, rest = (self._line + text).split("\n")
        self._line = "" if last else rest
        if len(rest) > MAX_MESSAGE_BYTES:
            raise InvalidRequest(f"a line must be at most {MAX_MESSAGE_BYTES} characters")
        yield from (line for line in [*whole, *([rest] if last else [])] if line.strip())

    def _message(self, line: str) -> list[Start | ForText]:
        fields = parse_object(line)
        if fields.get("type") not in _OF_BODY or "context" in fields:
            raise InvalidRequest(f"a line is one of {', '.join(_OF_BODY)}, without 'context'", param="type")
        if fields["type"] == "start":
            if self._started:
                raise InvalidRequest("'start' must be the first line", param="type")
            return self._start({name: value for name, value in fields.items() if name != "type"})
        message = message_of({**fields, "context": _CONTEXT})
        assert isinstance(message, ForText)  # noqa: S101 - the others were refused
        return [*self._start({}), message]

    def _start(self, fields: Mapping[str, object]) -> list[Start | ForText]:
        """Return the start, if there was none."""
        if self._started:
            return []
        self._started = True
        message = message_of({**self._fields, **fields, "type": "start", "context": _CONTEXT})
        assert isinstance(message, Start)  # noqa: S101 - as its type says
        return [message]


def _number(name: str, value: str) -> float:
    try:
        return int(value) if value.isdecimal() and len(value) < 19 else float(value)
    except ValueError:
        raise InvalidRequest(f"{name!r} must be a number", param=name) from None
