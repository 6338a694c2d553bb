"""Errors of the client for servers whose TLS it cannot use."""

from __future__ import annotations

import shutil
import ssl
from typing import TYPE_CHECKING

import httpx
import pytest
from certificates import make_certificate
from serving import started, tone_synthesizer

from yuliu.client import WebSocketTransport
from yuliu.client.errors import ConnectionLost
from yuliu.engines.tone import ToneEngine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from yuliu.server.transport.tls import Certificate

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"), "-nodes")


@pytest.fixture(scope="module")
def address(certificate: Certificate) -> Iterator[str]:
    """Address of a server with TLS, without the scheme."""
    with started(lambda: tone_synthesizer(ToneEngine()), certificate=certificate) as server:
        trusting = ssl.create_default_context(cafile=certificate.chain)
        while httpx.get(f"https://localhost:{server.port}/ready", verify=trusting).status_code != 200:
            pass
        yield f"localhost:{server.port}"


async def test_untrusted_certificate_is_reported(address: str) -> None:
    """The message names the variable for trusted certificates."""
    with pytest.raises(ConnectionLost, match=r"not trusted: self-signed certificate; \$SSL_CERT_FILE"):
        await WebSocketTransport(f"https://{address}").connect()


async def test_given_certificate_is_trusted(
    address: str, certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable in the message works."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.chain))
    connection = await WebSocketTransport(f"https://{address}").connect()
    await connection.close()


async def test_certificate_of_another_name_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the mismatch."""
    other = make_certificate(tmp_path, "-nodes", name="elsewhere.invalid")
    monkeypatch.setenv("SSL_CERT_FILE", str(other.chain))
    with (
        started(lambda: tone_synthesizer(ToneEngine()), certificate=other) as server,
        pytest.raises(ConnectionLost, match="ostname mismatch"),
    ):
        await WebSocketTransport(f"https://localhost:{server.port}").connect()


async def test_wrong_scheme_is_reported(address: str) -> None:
    """The message names the right scheme in both cases."""
    with pytest.raises(ConnectionLost, match=r"the address begins with https$"):
        await WebSocketTransport(f"http://{address}").connect()
    with (
        started(lambda: tone_synthesizer(ToneEngine())) as plain,
        pytest.raises(ConnectionLost, match=r"the address begins with http$"),
    ):
        await WebSocketTransport(f"https://localhost:{plain.port}").connect()
