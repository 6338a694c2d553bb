"""The API reference as one HTML page that needs nothing else: no scripts, no fonts, no network."""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from yuliu.wire.faults import NOT_BEFORE_NEWLINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    JsonObject = Mapping[str, Any]

_AS_DATA = """The same as data: <a href="openapi.json">OpenAPI 3.1</a>, <a href="asyncapi.json">AsyncAPI 3.0</a>."""
_CODE = re.compile(r"`([^`]+)`")


def reference_page(openapi: JsonObject, asyncapi: JsonObject) -> str:
    """Return the page that shows both documents."""
    operations = [
        (method, path, operation) for path, methods in openapi["paths"].items() for method, operation in methods.items()
    ]
    messages = asyncapi["components"]["messages"]
    schemas = {**openapi["components"]["schemas"], **asyncapi["components"]["schemas"]}
    channel = asyncapi["channels"]["stream"]
    parts = [
        f"<p>{_prose(openapi['info']['summary'])}, version {escape(openapi['info']['version'])}. {_AS_DATA}</p>",
        "<h2 id='http'>HTTP</h2>",
        *(_operation(*each) for each in operations),
        f"<h2 id='websocket'>WebSocket <code>{escape(channel['address'])}</code></h2>",
        f"<p>{_prose(channel['description'])}</p>",
        *(_direction(asyncapi["operations"][name], messages) for name in ("receive", "send")),
        "<h2 id='schemas'>Schemas</h2>",
        *(_schema(name, schemas[name]) for name in sorted(schemas)),
    ]
    template = files(__package__).joinpath("reference_page.html").read_text(encoding="utf-8")
    return template.replace("<!-- NAVIGATION -->", _navigation(operations)).replace(
        "<!-- CONTENT -->", "\n".join(parts)
    )


def _navigation(operations: Iterable[tuple[str, str, JsonObject]]) -> str:
    links = [
        f'<a href="#{operation["operationId"]}"><b class="{method}">{method.upper()}</b> {escape(path)}</a>'
        for method, path, operation in operations
    ]
    return "\n".join([*links, '<a href="#websocket"><b>WS</b> /v1/stream</a>', '<a href="#schemas">Schemas</a>'])


def _operation(method: str, path: str, operation: JsonObject) -> str:
    head = (
        f'<section id="{operation["operationId"]}"><h3><b class="{method}">{method.upper()}</b> '
        f"<code>{escape(path)}</code></h3><p>{_prose(operation['summary'])}.{_access(operation)}</p>"
    )
    rows = [
        (each["name"], each["schema"], each.get("description", ""), f"in {each['in']}", each.get("required", False))
        for each in operation["parameters"]
    ]
    request = operation.get("requestBody", {}).get("content", {})
    body = f"<h4>Request</h4>{_contents(request)}" if request else ""
    response = "".join(
        f"<h4>Response {escape(status)}</h4>{_contents(each.get('content', {})) or '<p>Empty.</p>'}"
        for status, each in operation["responses"].items()
    )
    return f"{head}<h4>Parameters</h4>{_table(rows)}{body}{response}</section>"


def _access(operation: JsonObject) -> str:
    if not operation["security"]:
        return " Needs no key."
    scopes = [scope for each in operation["security"] for scope in each.get("bearer", ())]
    return (
        f" Where keys are used: scope <code>{escape(scopes[0])}</code>." if scopes else " Where keys are used: any key."
    )


def _contents(contents: JsonObject) -> str:
    items = (f"<li><code>{escape(name)}</code>{_of_content(each['schema'])}</li>" for name, each in contents.items())
    found = "".join(items)
    return f"<ul>{found}</ul>" if found else ""


def _of_content(schema: JsonObject) -> str:
    return f": {_kind(schema)}" if schema else ""


def _direction(operation: JsonObject, messages: Mapping[str, JsonObject]) -> str:
    names = [each["$ref"].rpartition("/")[2] for each in operation["messages"]]
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{_kind(messages[name]['payload'])}</td>"
        f"<td>{_prose(messages[name]['summary'])} {_prose(messages[name].get('description', ''))}</td></tr>"
        for name in names
    )
    return f"<h3>{escape(operation['title'])}</h3><table><tr><th>type</th><th>schema</th><th></th></tr>{rows}</table>"


def _schema(name: str, schema: JsonObject) -> str:
    needed = schema.get("required", ())
    rows = [
        (field, each, each.get("description", ""), "", field in needed)
        for field, each in schema.get("properties", {}).items()
    ]
    shown = _table(rows) if rows else f"<p>{_kind(schema)}</p>"
    return f'<section id="{name}"><h3>{name}</h3><p>{_prose(schema.get("description", ""))}</p>{shown}</section>'


def _table(rows: Iterable[tuple[str, JsonObject, str, str, bool]]) -> str:
    shown = "".join(
        f"<tr><td><code>{escape(name)}</code>{' <em>required</em>' if needed else ''} {place}</td>"
        f"<td>{_kind(schema)}</td><td>{_prose(doc)}</td></tr>"
        for name, schema, doc, place, needed in rows
    )
    return f"<table><tr><th>name</th><th>value</th><th></th></tr>{shown}</table>"


def _kind(schema: JsonObject) -> str:
    """Return what a value is, as HTML."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f'<a href="#{name}">{name}</a>'
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"<code>{escape(str(each)) or '&quot;&quot;'}</code>" for each in schema["enum"])
    return escape(_scalar(schema)) + _inner(schema)


def _scalar(schema: JsonObject) -> str:
    kind = str(schema.get("type", "any value"))
    if "minimum" in schema and "maximum" in schema:
        return f"{kind}, {_number(schema['minimum'])} to {_number(schema['maximum'])}"
    if "pattern" in schema:
        return f"{kind} that matches {schema['pattern'].removesuffix(NOT_BEFORE_NEWLINE)}"
    return kind


def _number(value: float) -> str:
    return f"{int(value):,}" if value == int(value) else f"{value:g}"


def _inner(schema: JsonObject) -> str:
    items = schema.get("items")
    if isinstance(items, dict) and items:
        return f" of {_kind(items)}"
    elements = schema.get("prefixItems") or (items if isinstance(items, list) else [])
    return f" of {', '.join(map(_kind, elements))}" if elements else ""


def _prose(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=False))
