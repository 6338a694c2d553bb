"""``yuliu bench doors``: every way in and every format, for one listener, beside PCM and beside the engines alone."""

from __future__ import annotations

from typing import Literal, get_args

Part = Literal["formats", "native", "tokens", "waterfall", "encoding"]
PARTS: tuple[Part, ...] = get_args(Part)
"""What is measured where nothing else is said, in this order."""
