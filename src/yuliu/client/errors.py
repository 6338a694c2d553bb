"""Errors of the client: the library's own errors by their codes, and those that only a client can meet."""

from __future__ import annotations

from yuliu import errors
from yuliu.errors import InvalidRequest, Overloaded, YuliuError

_KINDS = {each.code: each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, YuliuError)}
DEFAULT_RETRY_S = 1.0
"""Retry delay where the server gives none, seconds."""


class ConnectionLost(YuliuError):
    """The server cannot be reached, or a stream was lost with its connection.

    Args:
        message: Description of the failure.
        is_passing: See the attribute.
    """

    code = "connection_lost"

    def __init__(self, message: str, *, is_passing: bool = True) -> None:
        super().__init__(message)
        self.is_passing: bool = is_passing
        """True if even a client that has never connected should retry, because a server did respond."""


class ServerRefused(YuliuError):
    """The server refused for a reason that has no error class in the library.

    Args:
        message: The server's message.
        server_code: The server's error code.
    """

    code = "server_refused"

    def __init__(self, message: str, *, server_code: str) -> None:
        super().__init__(message)
        self.server_code: str = server_code
        """The server's error code, such as ``not_resumable`` or ``too_many_contexts``."""


def error_of(code: str, message: str, *, param: str | None = None, retry_after_s: float | None = None) -> YuliuError:
    """Return the error for a code."""
    kind = _KINDS.get(code, YuliuError)
    if issubclass(kind, InvalidRequest):
        return kind(message, param=param)
    if issubclass(kind, Overloaded):
        return kind(message, retry_after_s=DEFAULT_RETRY_S if retry_after_s is None else retry_after_s)
    return ServerRefused(message, server_code=code) if kind is YuliuError else kind(message)
