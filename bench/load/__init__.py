"""``python -m bench load``: capacity, and the behaviour near it, beyond it and over a long time."""

from __future__ import annotations

from typing import Literal, get_args

LoadPart = Literal["capacity", "cliff", "isolation", "overload", "cancel", "flat", "determinism", "peers"]
LOAD_PARTS: tuple[LoadPart, ...] = get_args(LoadPart)
"""All parts, in the order in which they are measured."""
