"""AsyncAPI 3 document of the native stream over a WebSocket, from the structs of its messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from yuliu.wire.json_schema import schemas_of
from yuliu.wire.keys import SUBPROTOCOL
from yuliu.wire.native.decode import ClientFields
from yuliu.wire.native.encode import HEAD_NUM_BYTES, MAX_SOUND_BYTES
from yuliu.wire.native.messages import ServerMessage

if TYPE_CHECKING:
    from collections.abc import Iterable

    import msgspec

    JsonObject = dict[str, Any]

PATH = "/v1/stream"
SOUND = "sound"
"""Name of the binary frame that carries sound."""
_SOUND_FRAME = (
    f"A head of {HEAD_NUM_BYTES} bytes, big-endian: the byte 1, three bytes 0, the tag of the context in 4 bytes, the "
    f"place of the first byte in the sound of the stream in 8 bytes; then at most {MAX_SOUND_BYTES} bytes of sound."
)
CLIENT_STRUCTS: tuple[type[msgspec.Struct], ...] = get_args(ClientFields)
SERVER_STRUCTS: tuple[type[msgspec.Struct], ...] = get_args(ServerMessage)


def asyncapi_document(*, version: str) -> JsonObject:
    """Return the AsyncAPI document.

    Args:
        version: Of the server.
    """
    client, server = _messages(CLIENT_STRUCTS), _messages(SERVER_STRUCTS) | {SOUND: _sound()}
    names = [*client, *server]
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Yuliu",
            "version": version,
            "description": "Text goes in while it is being written, sound comes out while it is being made. "
            "The HTTP paths are described by `/openapi.json`.",
            "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {
            "stream": {
                "address": PATH,
                "title": "Native stream",
                "description": f"A WebSocket with several contexts. Browsers show a key in the subprotocol "
                f"`{SUBPROTOCOL}.key.KEY`, beside `{SUBPROTOCOL}`.",
                "messages": {name: _ref("messages", name) for name in names},
                "bindings": {"ws": {"method": "GET", "bindingVersion": "0.1.0"}},
            }
        },
        "operations": {
            "receive": _operation("receive", "Messages of the client", client),
            "send": _operation("send", "Messages of the server", server),
        },
        "components": {
            "messages": client | server,
            "schemas": {
                name: draft_7(schema) for name, schema in schemas_of((*CLIENT_STRUCTS, *SERVER_STRUCTS)).items()
            },
        },
    }


def draft_7(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a schema in the dialect of AsyncAPI, which has another name for the elements of a tuple."""
    if isinstance(schema, list):
        return [draft_7(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: draft_7(value) for name, value in schema.items()}
    if "prefixItems" in found:
        found["items"] = found.pop("prefixItems")
        found["additionalItems"] = False
    return found


def _messages(structs: Iterable[type[msgspec.Struct]]) -> dict[str, JsonObject]:
    return {str(each.__struct_config__.tag): _message(each) for each in structs}


def _message(struct: type[msgspec.Struct]) -> JsonObject:
    doc = (struct.__doc__ or "").partition("\n")[0].replace("``", "`")
    return {
        "name": str(struct.__struct_config__.tag),
        "summary": doc,
        "payload": {"$ref": f"#/components/schemas/{struct.__name__}"},
    }


def _sound() -> JsonObject:
    return {
        "name": SOUND,
        "summary": "A binary frame with sound of one context.",
        "description": _SOUND_FRAME,
        "contentType": "application/octet-stream",
        "payload": {"type": "string", "format": "binary"},
    }


def _operation(action: str, title: str, messages: Iterable[str]) -> JsonObject:
    return {
        "action": action,
        "title": title,
        "channel": {"$ref": "#/channels/stream"},
        "messages": [{"$ref": f"#/channels/stream/messages/{name}"} for name in messages],
    }


def _ref(kind: str, name: str) -> JsonObject:
    return {"$ref": f"#/components/{kind}/{name}"}
