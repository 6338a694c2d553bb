"""What a server refuses becomes the error that the library raises for it; what only a client meets has its own."""

from __future__ import annotations

from yuliu import errors
from yuliu.errors import InvalidRequest, Overloaded, YuliuError

_KINDS = {each.code: each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, YuliuError)}
DEFAULT_RETRY_S = 1.0
"""When to try again if the server does not say, seconds."""


class ConnectionLost(YuliuError):
    """The server cannot be reached, or what it had was lost with the connection.

    Args:
        message: What went wrong.
        is_passing: As the attribute.
    """

    code = "connection_lost"

    def __init__(self, message: str, *, is_passing: bool = True) -> None:
        super().__init__(message)
        self.is_passing: bool = is_passing
        """Whether also a client that was never connected is to try again: somebody was there."""


class ServerRefused(YuliuError):
    """The server said no for a reason that the library has no error for.

    Args:
        message: The server's.
        server_code: The server's.
    """

    code = "server_refused"

    def __init__(self, message: str, *, server_code: str) -> None:
        super().__init__(message)
        self.server_code: str = server_code
        """What the server calls it, such as ``not_resumable`` or ``too_many_contexts``."""


def error_of(code: str, message: str, *, param: str | None = None, retry_after_s: float | None = None) -> YuliuError:
    """The error that a code stands for."""
    kind = _KINDS.get(code, YuliuError)
    if issubclass(kind, InvalidRequest):
        return kind(message, param=param)
    if issubclass(kind, Overloaded):
        return kind(message, retry_after_s=DEFAULT_RETRY_S if retry_after_s is None else retry_after_s)
    return ServerRefused(message, server_code=code) if kind is YuliuError else kind(message)
