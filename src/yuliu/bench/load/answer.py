"""The answer to a speech request, read as it arrives: HTTP/1.1, chunked or not. No I/O, no clock."""

from __future__ import annotations

from yuliu.bench.playback import Arrival

_END_OF_LINE = b"\r\n"
_END_OF_HEAD = b"\r\n\r\n"


class Answer:
    """What has arrived so far. As light as can be: the reader shares the machine with what it measures.

    Args:
        keep: Keep the sound, too, not only when how much of it came.
    """

    def __init__(self, *, keep: bool = False) -> None:
        self.status: int = 0
        """HTTP status; 0 until the head is there."""
        self.headers: dict[str, str] = {}
        """By name in lower case."""
        self.arrivals: list[Arrival] = []
        """Of sound; the bodies of refusals are not counted."""
        self.whole: bool = False
        """Whether its end has arrived."""
        self.sound: bytearray = bytearray()
        """What was kept of the body."""
        self._keep = keep
        self._held = b""
        """The head, or the line before a chunk, as far as it is there."""
        self._left = 0
        """Bytes to come of the chunk with its line end, or of the body."""
        self._chunked = False

    def feed(self, data: bytes, at_s: float) -> None:
        """Take what arrived at a moment, seconds since the request was sent.

        Raises:
            ValueError: It is not what a server answers.
        """
        if not self.status:
            self._held += data
            head, end, data = self._held.partition(_END_OF_HEAD)
            if not end:
                return
            self._held = b""
            self._read_head(head.decode("latin-1"))
        num_bytes = self._read_chunks(data) if self._chunked else self._read_plain(data)
        if num_bytes and self.status == 200:
            self.arrivals.append(Arrival(at_s, num_bytes))

    def _read_head(self, head: str) -> None:
        first, *lines = head.split("\r\n")
        self.headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        self._chunked = self.headers.get("transfer-encoding", "") == "chunked"
        self._left = 0 if self._chunked else int(self.headers["content-length"])
        self.whole = not (self._chunked or self._left)
        self.status = int(first.split(" ", 2)[1])

    def _read_plain(self, data: bytes) -> int:
        self._left -= len(data)
        self.whole = self._left <= 0
        if self._keep:
            self.sound += data
        return len(data)

    def _read_chunks(self, data: bytes) -> int:
        at = num_bytes = 0
        while at < len(data) and not self.whole:
            if not self._left:
                at = self._read_line(data, at)
                continue
            end = at + min(len(data) - at, self._left)
            of_body = max(0, min(end - at, self._left - len(_END_OF_LINE)))
            if self._keep:
                self.sound += data[at : at + of_body]
            num_bytes += of_body
            self._left -= end - at
            at = end
        return num_bytes

    def _read_line(self, data: bytes, at: int) -> int:
        """The length of the next chunk, in hexadecimal digits; where the reading goes on."""
        end = data.find(b"\n", at)
        if end < 0:
            self._held += data[at:]
            return len(data)
        num_bytes = int((self._held + data[at:end]).partition(b";")[0], 16)
        self._held = b""
        self._left = num_bytes + len(_END_OF_LINE) if num_bytes else 0
        self.whole = not num_bytes
        return end + 1
