"""Table of how long engines take, for simulations. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct

from yuliu.errors import InvalidRequest
from yuliu.scheduler.policy.costs import EngineFacts
from yuliu.wire.schema import convert_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_RATE = 10_000
Cost = Annotated[float, Meta(ge=0, le=MAX_RATE)]


class Rates(Struct, frozen=True, forbid_unknown_fields=True):
    """Durations of one engine's work on one worker."""

    plan_s: Cost = 0.001
    """A plan, whatever its length, seconds."""
    plan_s_per_s: Cost = 0.0
    """A plan, further seconds for each second of sound."""
    step_s: Cost = 0.001
    """A step, whatever its length, seconds."""
    step_s_per_s: Cost = 0.05
    """A step, further seconds for each second of sound."""
    max_batch: Annotated[int, Meta(ge=1, le=MAX_RATE)] = 1
    """Maximum batch size of a step."""
    batch_cost: Cost = 1.0
    """Cost of a further utterance in a step, as a share of the first: 1 saves nothing, 0 makes it free."""
    frames_per_s: Annotated[float, Meta(ge=1, le=MAX_RATE)] = 80.0
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
    """The engines of a table, by name; beside the numbers only ``note`` is allowed.

    Args:
        table: As parsed from TOML.
        where: Source of the table, for messages.

    Raises:
        InvalidRequest: A name or value that does not belong there.
    """
    if not table:
        raise InvalidRequest(f"{where}: no engines in it", param="rtf")
    return {name: _rates(name, values, where) for name, values in table.items()}


def _rates(name: str, values: object, where: str) -> Rates:
    numbers = {key: value for key, value in values.items() if key != "note"} if isinstance(values, dict) else values
    try:
        found: Rates = convert_toml(numbers, Rates, where=f"{where}: ", at=(name,))
    except InvalidRequest as error:
        raise InvalidRequest(error.message, param="rtf") from None
    return found
