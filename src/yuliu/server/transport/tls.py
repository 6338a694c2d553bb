"""Certificates for TLS, checked before anything is loaded."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Certificate:
    """Certificate of a server."""

    chain: Path
    """File of the certificate and the intermediate ones, PEM."""
    key: Path | None = None
    """File of the private key, PEM; None if it is in the same file."""


def check_certificate(certificate: Certificate) -> None:
    """Load a certificate once, to report early what is wrong.

    Raises:
        InvalidRequest: A file cannot be read, or they do not belong together.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    for path in (certificate.chain, certificate.key):
        _check_readable(path)
    try:
        context.load_cert_chain(certificate.chain, certificate.key, password=_refuse_password)
    except ssl.SSLError as error:
        reason = "the certificate and the private key are no PEM files, or do not belong together"
        raise InvalidRequest(reason, param="certificate") from error


def _check_readable(path: Path | None) -> None:
    """Check that a file can be read: OpenSSL would not name it."""
    if path is None:
        return
    try:
        path.open("rb").close()
    except OSError as error:
        raise InvalidRequest(f"{path}: cannot be read: {error.strerror}", param="certificate") from error


def _refuse_password() -> NoReturn:
    """Refuse to ask for a password: OpenSSL would prompt on the terminal."""
    raise InvalidRequest("the private key has a password, which cannot be entered when the server starts again")
