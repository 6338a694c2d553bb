"""The list of presets over HTTP."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def presets_body(presets: Iterable[Mapping[str, object]], default: str) -> bytes:
    """``GET /v1/presets``: each preset as the plain values that a request may override, and whether it is the default.

    Args:
        presets: As :func:`yuliu.presets.as_values` gives them.
        default: Name of the one that holds where none is named.
    """
    listed = [{**preset, "default": preset["name"] == default} for preset in presets]
    return json.dumps({"presets": listed}, ensure_ascii=True, separators=(",", ":")).encode("ascii")
