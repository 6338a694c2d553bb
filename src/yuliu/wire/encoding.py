"""Encoding of sound, with errors that name the fields of a request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from yuliu.audio.formats import choose_encoding
from yuliu.errors import InvalidRequest

if TYPE_CHECKING:
    from yuliu.audio.formats import Encoding


def encoding_asked_for(
    name: str, source_rate: int, *, field: str, sample_rate: int | None, channels: int, kbps: int | None
) -> Encoding:
    """Return the encoding that a request names.

    Args:
        name: Of the format.
        source_rate: The voice's, Hz.
        field: What the request calls ``name``.
        sample_rate: Hz; None takes what suits the format.
        channels: 1 or 2.
        kbps: Of what is compressed; None takes what suits the format.

    Raises:
        InvalidRequest: The format cannot be had so; ``param`` names the field of the request.
    """
    try:
        return choose_encoding(name, source_rate, sample_rate=sample_rate, num_channels=channels, kbps=kbps)
    except InvalidRequest as error:
        names = {"name": field, "num_channels": "channels"}
        raise InvalidRequest(error.message, param=names.get(error.param or "", error.param)) from None
