"""``python -m bench endpoints``: each endpoint and format for one client, beside PCM and beside the engines alone."""

from __future__ import annotations

from typing import Literal, get_args

EndpointPart = Literal["formats", "native", "tokens", "waterfall", "encoding"]
ENDPOINT_PARTS: tuple[EndpointPart, ...] = get_args(EndpointPart)
"""All parts, in the order in which they are measured."""
