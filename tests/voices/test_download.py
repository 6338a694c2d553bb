"""Downloads from a scripted server on loopback."""

from __future__ import annotations

import urllib.request
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_voice import MEMBERS, NAMES, WEIGHTS, Toy, sha256

from yuliu.errors import PullFailed
from yuliu.voices import download as download_module
from yuliu.voices.download import _SafeRedirects, download, hub_base_url
from yuliu.voices.manifest import HubSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CONTENT = bytes(range(251)) * 5


@dataclass(frozen=True)
class Answer:
    """The answer to one request: the point at which the server closes the connection, and its support for Range."""

    num_bytes: int = 10**9
    ranges: bool = True
    status: int = 0
    tell_length: bool = True


@dataclass
class Script:
    """A scripted server and the requests that it received."""

    contents: dict[str, bytes] = field(repr=False)
    answers: deque[Answer] = field(default_factory=deque)
    ranges_seen: list[str | None] = field(default_factory=list)
    url: str = ""


def handler(script: Script) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer = script.answers.popleft() if script.answers else Answer()
            wanted = self.headers["Range"]
            script.ranges_seen.append(wanted)
            content = script.contents.get(self.path)
            if answer.status or content is None:
                self.send_error(answer.status or 404)
                return
            start = int(wanted.removeprefix("bytes=").removesuffix("-")) if wanted and answer.ranges else 0
            self.send_response(206 if start else 200)
            if answer.tell_length:
                self.send_header("Content-Length", str(len(content) - start))
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            self.end_headers()
            self.wfile.write(content[start : start + answer.num_bytes])

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
            pass

    return Handler


@contextmanager
def serving(contents: dict[str, bytes]) -> Iterator[Script]:
    script = Script(contents)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(script))
    server.daemon_threads = False
    script.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture(scope="module")
def shared() -> Iterator[Script]:
    with serving({"/file": CONTENT}) as script:
        yield script


@pytest.fixture
def server(shared: Script) -> Script:
    shared.answers.clear()
    shared.ranges_seen.clear()
    return shared


@dataclass
class Fetch:
    """A download that records its waits and does not wait."""

    target: Path
    pauses: list[float] = field(default_factory=list)
    told: list[int] = field(default_factory=list)

    def run(self, url: str, size: int = len(CONTENT)) -> None:
        download(url, self.target, size=size, on_bytes=self.told.append, pause=self.pauses.append)


@pytest.fixture
def fetch(tmp_path: Path) -> Fetch:
    return Fetch(tmp_path / "file")


def test_a_file_is_downloaded_in_one_request(server: Script, fetch: Fetch) -> None:
    """A complete file is not requested again."""
    fetch.run(f"{server.url}/file")
    fetch.run(f"{server.url}/file")
    assert fetch.target.read_bytes() == CONTENT
    assert server.ranges_seen == [None]
    assert fetch.told[-1] == len(CONTENT)


def test_a_dropped_connection_is_resumed(server: Script, fetch: Fetch) -> None:
    """Only the rest of the file is requested."""
    server.answers.append(Answer(num_bytes=500))
    fetch.run(f"{server.url}/file")
    assert fetch.target.read_bytes() == CONTENT
    assert server.ranges_seen == [None, "bytes=500-"]
    assert len(fetch.pauses) == 1


def test_an_interrupted_download_is_resumed_by_the_next_one(server: Script, fetch: Fetch) -> None:
    """Bytes left by an earlier process are not fetched again."""
    fetch.target.write_bytes(CONTENT[:700])
    fetch.run(f"{server.url}/file")
    assert fetch.target.read_bytes() == CONTENT
    assert server.ranges_seen == ["bytes=700-"]


def test_a_server_without_ranges_starts_again(server: Script, fetch: Fetch) -> None:
    """A server that ignores Range sends the whole file, and the result is right."""
    server.answers.extend([Answer(num_bytes=500), Answer(ranges=False)])
    fetch.run(f"{server.url}/file")
    assert fetch.target.read_bytes() == CONTENT


def test_a_refused_range_starts_again(server: Script, fetch: Fetch) -> None:
    """Status 416 drops the partial file and requests the whole one."""
    fetch.target.write_bytes(b"other")
    server.answers.append(Answer(status=416))
    fetch.run(f"{server.url}/file")
    assert fetch.target.read_bytes() == CONTENT
    assert server.ranges_seen == ["bytes=5-", None]


def test_an_overlong_leftover_is_dropped(server: Script, fetch: Fetch) -> None:
    """A partial file longer than the file itself is not part of it."""
    fetch.target.write_bytes(CONTENT + b"more")
    fetch.run(f"{server.url}/file")
    assert fetch.target.read_bytes() == CONTENT


def test_a_server_that_sends_nothing_fails_the_pull(server: Script, fetch: Fetch) -> None:
    """After a few attempts without a byte the error names the host and the reason; the partial file is kept."""
    fetch.target.write_bytes(CONTENT[:700])
    server.answers.extend([Answer(num_bytes=0)] * 9)
    with pytest.raises(PullFailed, match=r"127\.0\.0\.1:\d+ could not be reached .*closed early"):
        fetch.run(f"{server.url}/file")
    assert fetch.target.read_bytes() == CONTENT[:700]
    assert fetch.pauses == [0.5, 2.0, 8.0]


def test_a_busy_server_is_retried(server: Script, fetch: Fetch) -> None:
    """Temporary statuses (429, 503) are retried after a delay."""
    server.answers.extend([Answer(status=429), Answer(status=503)])
    fetch.run(f"{server.url}/file")
    assert fetch.target.read_bytes() == CONTENT


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_permanent_refusal_fails_at_once(server: Script, fetch: Fetch, status: int) -> None:
    """A permanent status is not retried."""
    server.answers.append(Answer(status=status))
    with pytest.raises(PullFailed, match=f"HTTP status {status}"):
        fetch.run(f"{server.url}/file")
    assert fetch.pauses == []


@pytest.mark.parametrize("done", [0, 5])
def test_another_announced_size_is_refused(server: Script, fetch: Fetch, done: int) -> None:
    """No byte of such a file is kept."""
    fetch.target.write_bytes(CONTENT[:done])
    with pytest.raises(PullFailed, match="1255 bytes long, 1000 were expected"):
        fetch.run(f"{server.url}/file", size=1000)
    assert fetch.target.read_bytes() == CONTENT[:done]


def test_no_more_than_the_expected_size_is_written(server: Script, fetch: Fetch) -> None:
    """A server that does not announce a size cannot fill the disk."""
    server.answers.append(Answer(tell_length=False))
    fetch.run(f"{server.url}/file", size=1000)
    assert fetch.target.read_bytes() == CONTENT[:1000]


def test_an_address_without_a_listener_fails(fetch: Fetch) -> None:
    """The error comes after the last attempt."""
    with serving({}) as gone:
        url = f"{gone.url}/file"
    with pytest.raises(PullFailed, match="could not be reached"):
        fetch.run(url)
    assert not fetch.target.exists()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.builds(Answer, num_bytes=st.integers(1, 900), ranges=st.booleans()), max_size=6))
def test_a_file_arrives_whole_across_any_breaks(shared: Script, answers: list[Answer]) -> None:
    """Only three attempts in a row without a new byte end the download, which takes a server that ignores ranges; the
    partial file is kept even then."""
    shared.answers.clear()
    shared.answers.extend(answers)
    with TemporaryDirectory() as folder:
        fetch = Fetch(Path(folder) / "file")
        try:
            fetch.run(f"{shared.url}/file")
        except PullFailed:
            assert sum(not answer.ranges for answer in answers) >= 3
            kept = fetch.target.read_bytes()
            assert kept
            assert CONTENT.startswith(kept)
        else:
            assert fetch.target.read_bytes() == CONTENT


def redirect(old: str, new: str) -> urllib.request.Request | None:
    request = urllib.request.Request(old)
    return _SafeRedirects().redirect_request(request, BytesIO(), 302, "Found", Message(), new)  # type: ignore[arg-type]


def test_redirects_stay_on_https() -> None:
    """A redirect to any other scheme is refused."""
    followed = redirect("https://example.org/a", "https://example.com/b")
    assert followed is not None
    assert followed.full_url == "https://example.com/b"
    for unsafe in ("http://example.org/a", "ftp://example.org/a", "file:///etc/passwd"):
        with pytest.raises(PullFailed, match="not https"):
            redirect("https://example.org/a", unsafe)


def test_a_hub_file_has_a_known_address() -> None:
    """A mirror may replace the hub, by https only."""
    source = HubSource("me/voice", "ab" * 20)
    tail = f"/me/voice/resolve/{'ab' * 20}/"
    assert hub_base_url(source, {}) == f"https://huggingface.co{tail}"
    assert hub_base_url(source, {"HF_ENDPOINT": "https://mirror.example/"}) == f"https://mirror.example{tail}"
    with pytest.raises(PullFailed, match="HF_ENDPOINT must start with https"):
        hub_base_url(source, {"HF_ENDPOINT": "http://mirror.example"})


@pytest.fixture
def to_loopback(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Redirect one https host to the server on loopback, because manifests allow https only."""

    def lead(host: str, url: str) -> None:
        real = download_module._attempt

        def attempt(address: str, *rest: object) -> str:
            assert address.startswith(host)
            return real(address.replace(host, url, 1), *rest)  # type: ignore[arg-type]

        monkeypatch.setattr(download_module, "_attempt", attempt)

    return lead


@pytest.mark.parametrize(
    ("source", "prefix"),
    [
        ('[sources.box]\nkind = "url"\nbase_url = "https://example.org/v1/"', "/v1/"),
        (
            f'[sources.box]\nkind = "hub"\nrepository = "me/voice"\ncommit = "{"ab" * 20}"',
            f"/me/voice/resolve/{'ab' * 20}/",
        ),
    ],
)
def test_the_store_pulls_from_addresses(
    toy: Toy, to_loopback: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch, source: str, prefix: str
) -> None:
    """A voice is pulled from addresses or the hub, and no partial download remains."""
    monkeypatch.setenv("HF_ENDPOINT", "https://example.org")
    toy.describe(source)
    with serving({prefix + name: content for name, content in MEMBERS.items()}) as server:
        to_loopback("https://example.org", server.url)
        toy.store().pull("toy")
    assert {name: path.read_bytes() for name, path in toy.store().files("toy").items()} == {
        "weights.bin": WEIGHTS,
        "names.json": NAMES,
        "twice.bin": WEIGHTS * 2,
    }
    assert not list((toy.home / "downloads").iterdir())


def test_the_store_refuses_wrong_bytes_and_keeps_right_ones(toy: Toy, to_loopback: Callable[[str, str], None]) -> None:
    """A complete download of wrong bytes is dropped, so that the next pull starts again; right ones are kept."""
    toy.describe('[sources.box]\nkind = "url"\nbase_url = "https://example.org/"')
    wrong = {"/toybox/weights.bin": WEIGHTS, "/toybox/names.json": b"x" * len(NAMES)}
    with serving(wrong) as server:
        to_loopback("https://example.org", server.url)
        with pytest.raises(PullFailed, match=r"names\.json is not the known file: its sha256"):
            toy.store().pull("toy")
        assert toy.left() == {f"downloads/{sha256(WEIGHTS)}"}
        assert replace(toy).store().info("toy").num_bytes_to_fetch == len(NAMES)
        server.contents["/toybox/names.json"] = NAMES
        server.ranges_seen.clear()
        toy.store().pull("toy")
        assert server.ranges_seen == [None]
