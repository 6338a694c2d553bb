"""Headless Chromium, driven through its DevTools protocol, and a web server for its pages."""

from __future__ import annotations

import base64
import contextlib
import functools
import http.server
import json
import os
import re
import subprocess
import threading
from typing import TYPE_CHECKING, Any

from third_party_clients import PATIENCE_S, program
from websockets.sync.client import connect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from websockets.sync.client import ClientConnection

OPTIONS = (
    "--headless=new",
    "--remote-debugging-port=0",
    "--autoplay-policy=no-user-gesture-required",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-dev-shm-usage",
    "--disable-features=BackForwardCache",
    "--disable-gpu",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    "--no-default-browser-check",
    "--no-first-run",
)
"""Options: no background traffic, and no cache of pages for going back, which would keep their connections open."""
_DEVTOOLS = re.compile(r"DevTools listening on (ws://\S+)")


class Page:
    """A tab. Calls are made one after the other, with the ids of the DevTools protocol."""

    def __init__(self, ws: ClientConnection) -> None:
        self._ws = ws
        self._session: str | None = None
        self._number = 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Call a method of the protocol."""
        self._number += 1
        session = {} if self._session is None else {"sessionId": self._session}
        self._ws.send(json.dumps({"id": self._number, "method": method, "params": params, **session}))
        answer = self._until(lambda told: told.get("id") == self._number)
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    def open(self, url: str) -> None:
        """Open a page and wait until it is loaded."""
        assert "errorText" not in self.call("Page.navigate", url=url)
        self._until(lambda told: told.get("method") == "Page.loadEventFired")

    def run(self, function: str, *arguments: Any) -> Any:
        """Call a function of the page and return its result; fail if it throws."""
        told = self.call(
            "Runtime.evaluate", expression=_call(function, arguments), awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in told, told["exceptionDetails"]["exception"].get("description", told)
        return told["result"].get("value")

    def begin(self, function: str, *arguments: Any) -> None:
        """Call a function of the page without waiting for its result."""
        self.call("Runtime.evaluate", expression=f"void {_call(function, arguments)}")

    def photograph(self, path: Path) -> None:
        """Write a PNG of the whole page."""
        told = self.call("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(told["data"]))

    def _until(self, is_it: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while not is_it(told := json.loads(self._ws.recv(timeout=PATIENCE_S))):
            pass
        found: dict[str, Any] = told
        return found


def _call(function: str, arguments: Iterable[Any]) -> str:
    return f"{function}({', '.join(map(json.dumps, arguments))})"


@contextlib.contextmanager
def chromium(folder: Path) -> Iterator[Page]:
    """Run a fresh browser with its profile in a folder."""
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    command = [str(program("chromium")), *OPTIONS, *as_root, f"--user-data-dir={folder}", "about:blank"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        watch = threading.Timer(PATIENCE_S, process.kill)
        watch.start()
        try:
            assert process.stderr is not None
            lines = iter(process.stderr.readline, "")
            found = next((found for line in lines if (found := _DEVTOOLS.search(line))), None)
            watch.cancel()
            assert found is not None, f"Chromium did not start: {process.wait(PATIENCE_S)}"
            draining = threading.Thread(target=process.stderr.read)
            draining.start()
            with connect(found[1], max_size=None, compression=None) as ws:
                page = Page(ws)
                yield page
                ws.send(json.dumps({"id": 0, "method": "Browser.close"}))
            process.wait(PATIENCE_S)
        finally:
            watch.cancel()
            process.kill()
            draining.join(PATIENCE_S)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@contextlib.contextmanager
def pages(folder: Path) -> Iterator[int]:
    """Serve the files of a folder; yield the port."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join(PATIENCE_S)
