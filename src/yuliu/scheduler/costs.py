"""What an engine's work costs, as measured lately. Pure."""

from __future__ import annotations

from dataclasses import dataclass

_KEPT = 0.98
"""Share of what was measured before that still counts after each new measurement: the last 50 or so decide."""
_PRIOR_S = 2.0
"""Sound for which the first guess counts, seconds."""
_GAIN_KEPT = 0.9
"""The same for what company saves: the last 10 decide."""
CALL_S = 0.05
"""A call costs as much as so much more sound, seconds: a guess that keeps steps from becoming tiny."""


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """What the policy knows of an engine beforehand."""

    frames_per_s: float
    """Acoustic frames in a second of sound."""
    max_batch: int = 1
    """Most utterances that one step takes."""
    rtf: float = 0.05
    """First guess of its real-time factor, a quarter of it for planning."""
    context_frames: int = 0
    """Frames on each side that a step computes beside its own."""

    @property
    def overhead_frames(self) -> float:
        """A step costs as much as so many frames more than it gives."""
        return 2 * self.context_frames + CALL_S * self.frames_per_s


class Costs:
    """What the work of one engine costs, from all lanes.

    A step of ``n`` frames is taken to cost ``a x (n + overhead)``; ``a`` is measured, the overhead is known. A step of
    several utterances costs their sum times a gain that is measured for each number of them.
    """

    def __init__(self, facts: EngineFacts) -> None:
        self._facts = facts
        self._audio_s = _PRIOR_S
        self._plan_s = facts.rtf * _PRIOR_S / 4
        self._step_s = facts.rtf * _PRIOR_S * 3 / 4
        self._took_s = self._step_s
        self._frames = _PRIOR_S * facts.frames_per_s
        self._num_plans = 1.0
        self._planned_s = self._plan_s
        self._gains = {n: (0.5 + 0.5 / n) for n in range(1, facts.max_batch + 1)}

    def planned(self, took_s: float) -> None:
        """A plan took so long."""
        self._plan_s += took_s
        self._planned_s = self._planned_s * _KEPT + took_s
        self._num_plans = self._num_plans * _KEPT + 1

    def stepped(self, took_s: float, audio_s: float, num_frames: int, size: int = 1) -> None:
        """A step took so long for so much sound.

        Args:
            took_s: How long.
            audio_s: Sound that it gave, of all utterances.
            num_frames: Frames that it gave, of all utterances.
            size: Number of utterances.
        """
        self._plan_s *= _KEPT
        self._step_s = self._step_s * _KEPT + took_s
        self._audio_s = self._audio_s * _KEPT + audio_s
        if not num_frames:
            return  # it waited for sound to come
        frames = num_frames + size * self._facts.overhead_frames
        if size == 1:
            self._took_s = self._took_s * _KEPT + took_s
            self._frames = self._frames * _KEPT + frames
        elif size in self._gains:
            gain = took_s / max(self.frame_s * frames, 1e-9)
            self._gains[size] = self._gains[size] * _GAIN_KEPT + min(gain, 2.0) * (1 - _GAIN_KEPT)

    @property
    def frame_s(self) -> float:
        """Seconds of computing for a frame."""
        return self._took_s / self._frames

    @property
    def plan_s(self) -> float:
        """Seconds that a plan takes."""
        return self._planned_s / self._num_plans

    @property
    def rtf(self) -> float:
        """Seconds of planning and stepping for a second of sound, as steps have been lately."""
        return (self._plan_s + self._step_s) / self._audio_s

    def step_s(self, num_frames: int, size: int = 1) -> float:
        """Seconds that a step takes.

        Args:
            num_frames: Frames of all utterances.
            size: Number of utterances.
        """
        frames = num_frames + size * self._facts.overhead_frames
        return self.frame_s * frames * (self._gains.get(size, 1.0) if size > 1 else 1.0)

    def frames_within(self, budget_s: float) -> int:
        """Frames of the largest step of one utterance that keeps within a budget, seconds.

        Never fewer than the overhead: it would be most of the work.
        """
        overhead = self._facts.overhead_frames
        return max(1, int(overhead), int(budget_s / max(self.frame_s, 1e-9) - overhead))
