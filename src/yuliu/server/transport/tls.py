"""Certificates for TLS, looked at before anything is loaded."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Certificate:
    """What a server shows of itself."""

    chain: Path
    """The certificate, and those between it and the root, as PEM."""
    key: Path | None = None
    """Its private key, as PEM; None if it is in the same file."""


def check_certificate(certificate: Certificate) -> None:
    """Load it once, to tell in good time what is wrong.

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
    """OpenSSL would not say which file it could not read."""
    if path is None:
        return
    try:
        path.open("rb").close()
    except OSError as error:
        raise InvalidRequest(f"{path}: cannot be read: {error.strerror}", param="certificate") from error


def _refuse_password() -> NoReturn:
    """Without this, OpenSSL would ask on the terminal."""
    raise InvalidRequest("the private key has a password, which nobody could enter when the server starts again")
