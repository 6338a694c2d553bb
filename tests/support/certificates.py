"""Certificates for tests."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from yuliu.server.transport.tls import Certificate

if TYPE_CHECKING:
    from pathlib import Path


def make_certificate(folder: Path, *more: str, name: str = "localhost") -> Certificate:
    """Create a self-signed certificate for this machine or for another name."""
    chain, key = folder / "cert.pem", folder / "key.pem"
    names = f"subjectAltName=DNS:{name}" + (",IP:127.0.0.1" if name == "localhost" else "")
    subject = ("-subj", f"/CN={name}", "-addext", names)
    kind = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-days", "2")
    command = ["openssl", "req", "-x509", *kind, "-keyout", str(key), "-out", str(chain), *subject, *more]
    subprocess.run(command, check=True, capture_output=True)
    return Certificate(chain, key)
