"""Files from an https address: resumed where a connection broke, bounded in size."""

from __future__ import annotations

import http.client
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import IO, TYPE_CHECKING

from yuliu.errors import PullFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from yuliu.voices.manifest import HubSource
    from yuliu.voices.progress import OnBytes

_BLOCK_BYTES = 128 * 1024
_TIMEOUT_S = 30.0
_RETRY_PAUSES_S = (0.5, 2.0, 8.0)
"""Waits before trying again without having got a byte; after the last one the pull fails."""
_HUB = "https://huggingface.co"
_CONTENT_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")


def hub_base_url(source: HubSource, environ: Mapping[str, str]) -> str:
    """Address of a commit's files on the hub, or on the mirror that $HF_ENDPOINT names.

    Raises:
        PullFailed: $HF_ENDPOINT is no https address.
    """
    endpoint = (environ.get("HF_ENDPOINT") or _HUB).rstrip("/")
    if not endpoint.startswith("https://"):
        raise PullFailed("HF_ENDPOINT must start with https://; unset it or correct it, and pull again")
    return f"{endpoint}/{source.repository}/resolve/{source.commit}/"


def download(
    url: str,
    target: Path,
    *,
    size: int,
    on_bytes: OnBytes,
    pause: Callable[[float], None] = time.sleep,
) -> None:
    """Fetch ``url`` into ``target``, going on from what is already there. What it holds is for the caller to verify.

    Where it raises, ``target`` keeps what has arrived, for the next time.

    Args:
        url: The address. A redirect from https to anything else is refused.
        target: Complete, partial or absent.
        size: Bytes of the whole file; no more are ever written.
        on_bytes: Told the bytes that are there.
        pause: Waits so many seconds between tries.

    Raises:
        PullFailed: The server does not have it, has another one, or could not be reached.
        OSError: The disk failed.
    """
    tries_left = list(_RETRY_PAUSES_S)
    done = _length(target)
    if done > size:
        target.unlink()
        done = 0
    on_bytes(done)
    while done < size:
        problem = _attempt(url, target, done, size, on_bytes)
        before, done = done, _length(target)
        if done > before:
            tries_left = list(_RETRY_PAUSES_S)
        if done < size:
            if not tries_left:
                raise PullFailed(f"{_host(url)} could not be reached ({problem}); check the network and pull again")
            pause(tries_left.pop(0))


def _length(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _host(url: str) -> str:
    return urllib.parse.urlsplit(url).netloc


def _attempt(url: str, target: Path, done: int, size: int, on_bytes: OnBytes) -> str:
    """Make one request; return the fault that another try may mend, or an empty string."""
    # Manifests admit https only, and the redirects of the opener keep to it.
    request = urllib.request.Request(url, headers={"Accept-Encoding": "identity", "User-Agent": "yuliu"})  # noqa: S310
    if done:
        request.add_header("Range", f"bytes={done}-")
    try:
        response = _opener().open(request, timeout=_TIMEOUT_S)
    except urllib.error.HTTPError as error:
        with error:
            return _refused(url, error.code, target)
    except (OSError, http.client.HTTPException) as error:
        return _reason(error)
    with response:
        start = _start(response, size=size)
        if start not in {0, done}:
            raise PullFailed(f"{_host(url)} answered with another part of the file than it was asked for")
        with target.open("r+b" if target.exists() else "xb") as file:
            file.seek(start)  # a server that starts anew writes over what is there, so that a break loses nothing
            return _receive(response, file, start, size, on_bytes)


def _refused(url: str, status: int, target: Path) -> str:
    if status == 416:  # what is there does not fit the file on the server: start again
        target.unlink(missing_ok=True)
    elif status < 500 and status not in {408, 429}:
        raise PullFailed(f"{_host(url)} does not give the file (HTTP status {status}); it may have moved")
    return f"HTTP status {status}"


def _reason(error: Exception) -> str:
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    return str(getattr(cause, "strerror", None) or type(cause).__name__)


def _start(response: http.client.HTTPResponse, *, size: int) -> int:
    """Return the place in the file where the body starts; PullFailed if the file is not ``size`` bytes long."""
    part = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", "")) if response.status == 206 else None
    whole = part[2] if part else response.headers.get("Content-Length", "*")
    if whole.isdigit() and int(whole) != size:
        raise PullFailed(f"the server's file is {whole} bytes long, {size} were expected: it is not the known one")
    return int(part[1]) if part else 0


def _receive(response: http.client.HTTPResponse, file: IO[bytes], start: int, size: int, on_bytes: OnBytes) -> str:
    done = start
    while done < size:
        try:
            block = response.read(min(_BLOCK_BYTES, size - done))
        except (OSError, http.client.HTTPException) as error:
            return _reason(error)
        if not block:
            return "the connection was closed early"
        file.write(block)
        done += len(block)
        on_bytes(done)
    file.flush()
    os.fsync(file.fileno())
    return ""


class _SafeRedirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but not from https to something that anybody on the way could change."""

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        if req.type == "https" and not newurl.lower().startswith("https://"):
            raise PullFailed(f"{req.host} redirects to an address that is not https; this is not followed")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_SafeRedirects)  # takes the proxies of the environment as it is now
