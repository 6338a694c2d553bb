"""A raw WebSocket client: it can send malformed frames, and it answers nothing by itself."""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket

    from serving import Running

CONT, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10
_HANDSHAKE = (
    "GET /v1/stream HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{}\r\n"
)


def frame(opcode: int, data: bytes = b"", *, fin: bool = True, compressed: bool = False) -> bytes:
    """Return a client frame, masked with zeros."""
    head = bytes([fin << 7 | compressed << 6 | opcode])
    if len(data) < 126:
        size = struct.pack("!B", 128 | len(data))
    elif len(data) < 65_536:
        size = struct.pack("!BH", 128 | 126, len(data))
    else:
        size = struct.pack("!BQ", 128 | 127, len(data))
    return head + size + bytes(4) + data


def message(kind: str, context: str | None = "a", **fields: Any) -> bytes:
    """Return a message of the native stream in a frame."""
    of_context = {} if context is None else {"context": context}
    return frame(TEXT, json.dumps({"type": kind, **of_context, **fields}).encode())


class RawWebSocket:
    """A connection after its handshake."""

    def __init__(self, running: Running, headers: str = "", *, receive_bytes: int | None = None) -> None:
        self.raw: socket.socket = running.connect(receive_bytes=receive_bytes)
        self.raw.sendall(_HANDSHAKE.format(headers).encode())
        self._unread = b""
        while b"\r\n\r\n" not in self._unread:
            self._more()
        self.head, _, self._unread = self._unread.partition(b"\r\n\r\n")
        """The server's handshake response."""

    def send(self, *frames: bytes) -> None:
        """Send frames."""
        self.raw.sendall(b"".join(frames))

    def next(self) -> tuple[int, bytes]:
        """Return the opcode and payload of the next frame."""
        head = self._take(2)
        size = head[1] & 127
        if size > 125:
            size = int.from_bytes(self._take(2 if size == 126 else 8))
        return head[0] & 15, self._take(size)

    def told(self, kind: str) -> dict[str, Any]:
        """Return the next message of a type."""
        while True:
            opcode, data = self.next()
            if opcode == TEXT and (found := json.loads(data))["type"] == kind:
                return dict(found)

    def closed(self) -> tuple[int, str]:
        """Receive until the server closes; return code and reason."""
        opcode, data = self.next()
        while opcode != CLOSE:
            opcode, data = self.next()
        return int.from_bytes(data[:2]), data[2:].decode()

    def _take(self, num_bytes: int) -> bytes:
        while len(self._unread) < num_bytes:
            self._more()
        data, self._unread = self._unread[:num_bytes], self._unread[num_bytes:]
        return data

    def _more(self) -> None:
        data = self.raw.recv(262_144)
        if not data:
            raise EOFError("the connection has ended")
        self._unread += data
