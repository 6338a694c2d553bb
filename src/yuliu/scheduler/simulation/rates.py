"""Table of how long engines take, for simulations. Pure."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from yuliu.errors import InvalidRequest
from yuliu.scheduler.policy.costs import EngineFacts

if TYPE_CHECKING:
    from collections.abc import Mapping

_MOST = 1e4


@dataclass(frozen=True, slots=True)
class Rates:
    """Durations of one engine's work on one worker."""

    plan_s: float = 0.001
    """A plan, whatever its length, seconds."""
    plan_s_per_s: float = 0.0
    """A plan, further seconds for each second of sound."""
    step_s: float = 0.001
    """A step, whatever its length, seconds."""
    step_s_per_s: float = 0.05
    """A step, further seconds for each second of sound."""
    max_batch: int = 1
    """Maximum batch size of a step."""
    batch_cost: float = 1.0
    """Cost of a further utterance in a step, as a share of the first: 1 saves nothing, 0 makes it free."""
    frames_per_s: float = 80.0
    """Acoustic frames in a second of sound."""

    def plan_takes_s(self, audio_s: float) -> float:
        """Return the duration of a plan, seconds."""
        return self.plan_s + self.plan_s_per_s * audio_s

    def step_takes_s(self, longest_s: float, size: int) -> float:
        """Return the duration of a step of several utterances, computed to the length of the longest, seconds."""
        return self.step_s + self.step_s_per_s * longest_s * (1 + (size - 1) * self.batch_cost)

    @property
    def rtf(self) -> float:
        """Of a whole utterance of four seconds in steps of one."""
        return (self.plan_takes_s(4.0) + 4 * self.step_takes_s(1.0, 1)) / 4.0

    @property
    def facts(self) -> EngineFacts:
        """The facts that the policy knows beforehand."""
        return EngineFacts(self.frames_per_s, self.max_batch, self.rtf)


def read_rates(table: Mapping[str, object], where: str) -> dict[str, Rates]:
    """The engines of a table, by name; what else stands beside the numbers must be ``note``.

    Args:
        table: As parsed from TOML.
        where: What it was read from, for messages.

    Raises:
        InvalidRequest: A name or value that does not belong there.
    """
    if not table:
        raise InvalidRequest(f"{where}: no engines in it", param="rtf")
    return {name: _rates(name, values, where) for name, values in table.items()}


def _rates(name: str, values: object, where: str) -> Rates:
    if not isinstance(values, dict):
        raise InvalidRequest(f"{where}: {name} must be a table of numbers", param="rtf")
    known = {field.name: field.type for field in fields(Rates)}
    for key, value in values.items():
        if key == "note":
            continue
        if key not in known:
            raise InvalidRequest(f"{where}: {name}.{key} is not known; known are {', '.join(known)}", param="rtf")
        whole = known[key] == "int"
        number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        least = 1 if key in ("max_batch", "frames_per_s") else 0
        if not number or not least <= value <= _MOST:
            kind = "a whole number" if whole else "a number"
            raise InvalidRequest(f"{where}: {name}.{key} must be {kind} from {least} to {_MOST:g}", param="rtf")
    return Rates(**{key: value for key, value in values.items() if key != "note"})
