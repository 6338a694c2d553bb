"""TLS, with a test certificate."""

from __future__ import annotations

import shutil
import ssl
from typing import TYPE_CHECKING

import httpx
import pytest
from certificates import make_certificate
from serving import PATIENCE_S, Gate, started, tone_synthesizer
from websockets.sync.client import connect

from yuliu.engines.tone import ToneEngine, ToneScript
from yuliu.errors import InvalidRequest
from yuliu.server.limits import Limits
from yuliu.server.transport.tls import Certificate, check_certificate

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"), "-nodes")


def test_https_and_wss(certificate: Certificate) -> None:
    """Both work; plain HTTP and TLS before 1.2 are refused."""
    trusting = ssl.create_default_context(cafile=certificate.chain)
    with (
        started(lambda: tone_synthesizer(ToneEngine()), certificate=certificate) as server,
        httpx.Client(base_url=f"https://localhost:{server.port}", verify=trusting, timeout=PATIENCE_S) as client,
    ):
        while client.get("/ready").status_code != 200:
            pass
        body = {"input": "Hello there.", "response_format": "pcm"}
        sound = client.post("/v1/audio/speech", json=body).content
        with connect(f"wss://localhost:{server.port}/v1/stream", ssl=trusting) as ws:
            for message in ('{"type":"start","context":"a"}', '{"type":"text","context":"a","text":"Hello there."}'):
                ws.send(message)
            ws.send('{"type":"end","context":"a"}')
            frames = [ws.recv(timeout=PATIENCE_S)]
            while not (isinstance(frames[-1], str) and '"done"' in frames[-1]):
                frames.append(ws.recv(timeout=PATIENCE_S))
        assert sum(len(frame) for frame in frames if isinstance(frame, bytes)) > len(sound) > 10_000
        with pytest.raises(httpx.TransportError):
            httpx.get(f"http://localhost:{server.port}/health")
        old = ssl.create_default_context(cafile=certificate.chain)
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        with pytest.raises(httpx.TransportError):
            httpx.get(f"https://localhost:{server.port}/health", verify=old)


def test_a_body_that_is_cut_off_is_seen_over_tls(certificate: Certificate) -> None:
    """A body that is cut at shutdown is an error for the client."""
    gate = Gate()
    engine = ToneEngine(ToneScript(step_s_per_frame=1.0), sleep=gate)
    trusting = ssl.create_default_context(cafile=certificate.chain)
    with (
        started(lambda: tone_synthesizer(engine), Limits(shutdown_s=1), certificate=certificate) as server,
        httpx.Client(base_url=f"https://localhost:{server.port}", verify=trusting, timeout=PATIENCE_S) as client,
    ):
        while client.get("/ready").status_code != 200:
            pass
        body = {"input": "one two three four five six seven eight nine ten. " * 20, "response_format": "pcm"}
        with client.stream("POST", "/v1/audio/speech", json=body) as answer:
            pieces = answer.iter_raw()
            next(pieces)
            gate.close()
            server.stop()
            with pytest.raises(httpx.TransportError):
                for _ in pieces:
                    pass
        gate.open()


def test_wrong_certificates_are_reported_before_loading(certificate: Certificate, tmp_path: Path) -> None:
    """Wrong certificate files are reported before voices are loaded."""
    check_certificate(certificate)
    other = make_certificate(tmp_path, "-nodes")
    (tmp_path / "text").write_text("no PEM")
    (tmp_path / "empty").touch()
    locked = tmp_path / "locked"
    locked.mkdir()
    for wrong, says in [
        (Certificate(certificate.chain, other.key), "belong together"),
        (Certificate(certificate.chain), "belong together"),
        (Certificate(tmp_path / "text", other.key), "PEM"),
        (Certificate(tmp_path / "none", other.key), "cannot be read"),
        (Certificate(certificate.chain, tmp_path / "none"), "cannot be read"),
        (Certificate(tmp_path, other.key), "cannot be read|PEM"),
        (Certificate(tmp_path / "empty", other.key), "PEM"),
        (Certificate(other.key or tmp_path, other.key), "PEM"),
        (make_certificate(locked, "-passout", "pass:secret"), "password"),
    ]:
        with pytest.raises(InvalidRequest, match=says):
            check_certificate(wrong)
