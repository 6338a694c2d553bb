"""``yuliu bench load``: many listeners at once, over real connections, and what they feel."""

from __future__ import annotations

from typing import Literal, get_args

Part = Literal["capacity", "cliff", "isolation", "overload", "cancel", "flat", "determinism", "peers"]
PARTS: tuple[Part, ...] = get_args(Part)
"""What ``--suite`` measures, in this order."""
