"""``yuliu keys``, and the options of ``yuliu serve`` for keys, origins, certificates and draining."""

from __future__ import annotations

import json
import re
import shutil
import signal
import ssl
import subprocess
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import pytest

from yuliu.access.key_store import KeyStore
from yuliu.cli.app import run

if TYPE_CHECKING:
    from pathlib import Path

    from program import Start


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KeyStore:
    monkeypatch.setenv("YULIU_HOME", str(tmp_path))
    return KeyStore()


def out(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> tuple[str, str]:
    assert run([*args], None) == code
    printed = capsys.readouterr()
    return printed.out, printed.err


def test_key_is_shown_once(capsys: pytest.CaptureFixture[str], store: KeyStore) -> None:
    """The key is alone on standard output, for scripts; the list never shows it again."""
    shown, note = out(capsys, "keys", "add", "phone", "--per-minute", "60", "--scope", "speak", "--scope", "metrics")
    assert re.fullmatch(r"yuliu_[A-Za-z0-9_-]{43}\n", shown)
    assert "will not be shown again" in note
    listed = "".join(out(capsys, "keys", "list")) + "".join(out(capsys, "keys", "list", "--json"))
    assert shown.strip() not in listed
    assert store.read()[0].digest not in listed
    assert "phone: speak, metrics, weight 1, per_minute 60, created 2" in listed
    (row,) = json.loads(out(capsys, "keys", "list", "--json")[0])
    assert (row["name"], row["scopes"], row["per_minute"]) == ("phone", ["speak", "metrics"], 60)


def test_every_option_reaches_the_key(capsys: pytest.CaptureFixture[str], store: KeyStore) -> None:
    """No option is accepted and then ignored."""
    bounds = ["--default-class", "bulk", "--highest-class", "standard", "--weight", "2", "--streams", "3"]
    out(capsys, "keys", "add", "one", *bounds, "--characters", "1000", "--per-minute", "5")
    (key,) = store.read()
    assert (key.default_class, key.highest_class, key.weight, key.streams) == ("bulk", "standard", 2.0, 3)
    assert (key.characters, key.per_minute, key.scopes) == (1000, 5, ("speak",))


def test_revoke_removes_a_key(capsys: pytest.CaptureFixture[str], store: KeyStore) -> None:
    """An unknown name is an error, so that a typing mistake does not leave a key in use."""
    assert "there are no keys" in out(capsys, "keys", "list")[0]
    out(capsys, "keys", "add", "phone")
    assert "revoked" in out(capsys, "keys", "revoke", "phone")[0]
    assert store.read() == ()
    assert "no key of that name" in out(capsys, "keys", "revoke", "phone", code=2)[1]
    assert "names of keys" in out(capsys, "keys", "add", "A Phone", code=2)[1]


def test_expose_needs_keys(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a key the server does not start; the message names both remedies."""
    error = out(capsys, "serve", "--host", "0.0.0.0", "--port", "0", "--expose", code=2)[1]
    assert "yuliu keys add" in error
    assert "--no-keys" in error


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--allow-origin", "*"], "https://example.org"),
        (["--tls-key", "key.pem"], "--tls-cert"),
        (["--tls-cert", "none.pem"], "cannot be read"),
        (["--drain-s", "0"], "drain-s"),
    ],
)
def test_wrong_options_are_reported(capsys: pytest.CaptureFixture[str], options: list[str], says: str) -> None:
    """The message appears before anything is loaded."""
    assert says in out(capsys, "serve", "--port", "0", *options, code=2)[1]


def read_until(process: subprocess.Popen[bytes], pattern: str) -> str:
    assert process.stderr
    log = ""
    for line in process.stderr:
        log += line.decode()
        if re.search(pattern, log):
            return log
    raise AssertionError(log)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_an_exposed_server_as_a_program(start: Start, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A server with keys, an origin and TLS, as an operator starts it; a revoked key is refused soon after."""
    shown = out(capsys, "keys", "add", "phone")[0].strip()
    chain, private = tmp_path / "cert.pem", tmp_path / "key.pem"
    files = ["-keyout", str(private), "-out", str(chain)]
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", *files]
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*command, *name], check=True, capture_output=True)
    files = ["--tls-cert", str(chain), "--tls-key", str(private)]
    process = start(
        *("serve", "--host", "0.0.0.0", "--port", "0", "--expose", "--allow-origin", "https://good.example"),
        *(*files, "--drain-s", "5"),
    )
    log = read_until(process, "ready voices=")
    assert "entry keys=required tls=yes" in log
    found = re.search(r"listening .*port=(\d+)", log)
    assert found
    client = Client(f"https://localhost:{found[1]}", chain)
    assert client.status("/ready") == 200
    assert client.status("/v1/models") == 401
    assert client.status("/v1/models", key=shown) == 200
    assert client.status("/v1/models", key=shown, origin="https://good.example") == 200
    assert client.status("/v1/models", key=shown, origin="https://evil.example") == 403
    out(capsys, "keys", "revoke", "phone")
    while client.status("/v1/models", key=shown) != 401:
        pass
    process.send_signal(signal.SIGTERM)
    assert process.stderr
    log += process.stderr.read().decode()
    assert shown not in log
    assert process.wait(20) == -signal.SIGTERM


class Client:
    """Client over TLS that trusts one certificate."""

    def __init__(self, url: str, chain: Path) -> None:
        self._url = url
        self._context = ssl.create_default_context(cafile=chain)

    def status(self, path: str, *, key: str | None = None, origin: str | None = None) -> int:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        headers |= {"Origin": origin} if origin else {}
        request = urllib.request.Request(self._url + path, headers=headers)
        try:
            with urllib.request.urlopen(request, context=self._context) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code
