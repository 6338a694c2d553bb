"""What an engine's work costs, as measured lately. Pure."""

from __future__ import annotations

from dataclasses import dataclass

_KEPT = 0.98
"""Share of what was measured before that still counts after each new step: the last 50 steps or so decide."""
_PRIOR_S = 2.0
"""Sound for which the first guess counts, seconds."""


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What the policy knows of an engine beforehand."""

    frames_per_s: float
    """Acoustic frames in a second of sound."""
    max_batch: int = 1
    """Most utterances that one step takes."""
    rtf: float = 0.05
    """First guess of its real-time factor, a quarter of it for planning."""


class Costs:
    """Real-time factors of one engine, from all lanes."""

    def __init__(self, facts: EngineFacts) -> None:
        self._audio_s = _PRIOR_S
        self._plan_s = facts.rtf * _PRIOR_S / 4
        self._step_s = facts.rtf * _PRIOR_S * 3 / 4

    def planned(self, took_s: float) -> None:
        """A plan took so long."""
        self._plan_s += took_s

    def stepped(self, took_s: float, audio_s: float) -> None:
        """A step took so long for so much sound."""
        self._plan_s *= _KEPT
        self._step_s = self._step_s * _KEPT + took_s
        self._audio_s = self._audio_s * _KEPT + audio_s

    @property
    def step_rtf(self) -> float:
        """Seconds of stepping for a second of sound."""
        return self._step_s / self._audio_s

    @property
    def rtf(self) -> float:
        """Seconds of planning and stepping for a second of sound."""
        return (self._plan_s + self._step_s) / self._audio_s
