"""Routes, each declared in one place, and the router that serves them and nothing else.

A route states what holds before its request is read: path, methods, access rule, size of the body, and a name for logs
and metrics. The router authorises before it dispatches, so a path that no route declares is refused to every key; a
route without an access rule cannot be built.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import compile_path

from yuliu.access import Exempt, KeyMissing, Principal, ScopeMissing, check_access
from yuliu.errors import YuliuError
from yuliu.logger import event_logger
from yuliu.server.request_body import read_body
from yuliu.server.responses import header_text, headers_of, problem_response, request_id
from yuliu.stream import Caller
from yuliu.wire.keys import SUBPROTOCOL, key_missing, scope_missing, shown_key, subprotocols
from yuliu.wire.problems import method_unknown, path_unknown, problem_of

if TYPE_CHECKING:
    import re
    from collections.abc import Awaitable, Callable, Iterable

    from starlette.types import Message, Receive, Scope, Send

    from yuliu.access import Access, KeyRing
    from yuliu.server.context import ServerContext
    from yuliu.server.limits import Limits
    from yuliu.wire.problems import Problem

    Endpoint = Callable[[ServerContext, "Exchange"], Awaitable[None]]
    BodyLimit = int | Callable[[Limits], int]

_log = event_logger(__name__)

WEBSOCKET = "WEBSOCKET"
"""Stands among methods for the handshake of a WebSocket."""


class Exchange(NamedTuple):
    """One request and its answer, or one WebSocket, as ASGI gives them."""

    scope: Scope
    receive: Receive
    send: Send


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One path of the server, with all that is declared of it."""

    path: str
    """Written as in Starlette, such as ``/v1/models/{name}``."""
    methods: tuple[str, ...]
    """HTTP methods, or :data:`WEBSOCKET`. ``GET`` includes ``HEAD``."""
    access: Access
    """Scope that a key needs, or an exemption. There is no default."""
    name: str
    """Name in logs and metrics."""
    summary: str
    """One line for the API reference."""
    endpoint: Endpoint
    max_body_bytes: BodyLimit = 0
    """Maximum size of a body that is read as a whole."""
    request: str | None = None
    """Schema of the request's body, or of the client's messages."""
    response: str | None = None
    """Schema of the answer's body, or of the server's messages."""

    def __post_init__(self) -> None:
        """Refuse an incomplete declaration.

        Raises:
            ValueError: There is no access rule, no method, or no path.
        """
        check_access(self.access)
        if not self.methods or not self.path.startswith("/"):
            raise ValueError(f"route {self.path!r} needs methods, and a path that begins with '/'")

    def body_limit(self, limits: Limits) -> int:
        """Return the maximum size of a body, bytes."""
        return self.max_body_bytes if isinstance(self.max_body_bytes, int) else self.max_body_bytes(limits)


def responding(respond: Callable[[ServerContext, Request], Awaitable[Response]]) -> Endpoint:
    """Return the endpoint of a function that answers a request with one response."""

    async def endpoint(context: ServerContext, exchange: Exchange) -> None:
        try:
            response = await respond(context, Request(exchange.scope, exchange.receive))
        except ClientDisconnect:
            response = Response(status_code=400)  # the client is gone
        await response(*exchange)

    return endpoint


class Router:
    """Authorises requests and dispatches them to their routes.

    Args:
        routes: All there are.
        context: Handed to the endpoints.
        key_ring: Keys that are accepted; None requires none.
    """

    def __init__(self, routes: Iterable[Route], context: ServerContext, key_ring: KeyRing | None) -> None:
        self.routes: tuple[Route, ...] = tuple(routes)
        self._compiled: list[tuple[re.Pattern[str], Route]] = [(compile_path(r.path)[0], r) for r in self.routes]
        self._context, self._key_ring = context, key_ring

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it before anything of its body is read."""
        at_path = [(route, found) for regex, route in self._compiled if (found := regex.fullmatch(scope["path"]))]
        served = [each for each in at_path if _takes(each[0], scope)]
        refusal = self._authorise(scope, [route for route, _ in served or at_path])
        if refusal is None and not served:
            refusal = self._refusal([route for route, _ in at_path], scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        route, found = served[0]
        scope["path_params"] = found.groupdict()
        scope["state"]["route"] = route
        await route.endpoint(self._context, Exchange(scope, receive, self._accepting(scope, send)))

    def _authorise(self, scope: Scope, routes: list[Route]) -> Response | None:
        """Return a refusal, or remember the principal of a request."""
        try:
            scope.setdefault("state", {})["principal"] = self._principal(scope, routes)
        except YuliuError as error:
            problem = _access_problem(error)
            _log.info("refused", id=request_id(scope), code=problem.code, status=problem.status)
            return problem_response(scope, problem)
        return None

    def _principal(self, scope: Scope, routes: list[Route]) -> Principal:
        """Return the principal, by the access rule of the first route. A path without routes still wants a key."""
        if self._key_ring is None:
            return Principal()
        access = routes[0].access if routes else Exempt.ANY_KEY
        principal = self._key_ring.authorise(shown_key(headers_of(scope)), access)
        if principal.name:
            _log.info("request", id=request_id(scope), key=principal.name)
        return principal

    def _refusal(self, at_path: Iterable[Route], scope: Scope) -> Response:
        """Return the answer where there is nothing at the path, or nothing with this method."""
        if scope["type"] == "websocket":
            return problem_response(scope, path_unknown(each.path for each in self.routes if WEBSOCKET in each.methods))
        allowed = ", ".join(sorted({method for route in at_path for method in _http_methods(route)}))
        if not allowed:
            return problem_response(scope, path_unknown(each.path for each in self.routes))
        response = problem_response(scope, method_unknown(allowed))
        response.headers["Allow"] = allowed
        return response

    def _accepting(self, scope: Scope, send: Send) -> Send:
        """Accept our subprotocol where a key may be shown in one: browsers drop a connection that accepts none."""
        if self._key_ring is None or scope["type"] != "websocket" or SUBPROTOCOL not in subprotocols(headers_of(scope)):
            return send

        async def accepting(message: Message) -> None:
            if message["type"] == "websocket.accept":
                message = {**message, "subprotocol": SUBPROTOCOL}
            await send(message)

        return accepting


def principal_of(scope: Scope) -> Principal:
    """Return the principal of a request that a router has dispatched."""
    principal: Principal = scope["state"]["principal"]
    return principal


def caller_of(exchange: Exchange, stream_id: str | None = None) -> Caller:
    """Return how a stream is known in logs, metrics and traces.

    Args:
        exchange: The request that it belongs to.
        stream_id: Id of the stream, where it is not the request's.
    """
    scope = exchange.scope
    return Caller(route_of(scope).name, stream_id or request_id(scope), header_text(scope, b"traceparent"))


def route_of(scope: Scope) -> Route:
    """Return the route of a request that a router has dispatched."""
    route: Route = scope["state"]["route"]
    return route


async def body_of(context: ServerContext, request: Request) -> bytes:
    """Return the whole body of a request, within the limit of its route.

    Raises:
        BodyTooLarge: It is larger.
        ClientDisconnect: The client is gone.
    """
    scope = request.scope
    return await read_body(scope, request.receive, route_of(scope).body_limit(context.limits))


def _access_problem(error: YuliuError) -> Problem:
    match error:
        case KeyMissing(was_shown=was_shown):
            return key_missing(was_shown=was_shown)
        case ScopeMissing(scope=scope):
            return scope_missing(scope)
    return problem_of(error)


def _http_methods(route: Route) -> tuple[str, ...]:
    methods = tuple(each for each in route.methods if each != WEBSOCKET)
    return (*methods, "HEAD") if "GET" in methods else methods


def _takes(route: Route, scope: Scope) -> bool:
    if scope["type"] == "websocket":
        return WEBSOCKET in route.methods
    return scope["method"] in _http_methods(route)
