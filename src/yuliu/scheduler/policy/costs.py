"""Costs of an engine's work, as measured lately. Pure."""

from __future__ import annotations

from dataclasses import dataclass

_KEPT = 0.98
"""Weight of earlier measurements after each new one: about the last 50 count."""
_PRIOR_S = 2.0
"""Sound for which the first guess counts, seconds."""
_SHARE_KEPT = 0.9
"""The same for the cost of a further utterance in a step: about the last 10 count."""
_TRUSTED = 10
"""Batched steps that must have been measured before their savings count towards admission."""
CALL_S = 0.05
"""Fixed cost of a call, as seconds of audio: a guess that keeps steps from becoming tiny."""


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """Facts about an engine that the policy knows beforehand."""

    frames_per_s: float
    """Acoustic frames in a second of sound."""
    max_batch: int = 1
    """Maximum batch size of a step."""
    rtf: float = 0.05
    """First guess of its real-time factor, a quarter of it for planning."""
    context_frames: int = 0
    """Frames on each side that a step computes beside its own."""
    local_state: bool = False
    """True if a job stays on the worker that planned it."""

    @property
    def overhead_frames(self) -> float:
        """Fixed cost of a step, in frames."""
        return 2 * self.context_frames + CALL_S * self.frames_per_s


class Costs:
    """Costs of one engine's work, on all workers.

    A step of ``n`` frames is taken to cost ``a x (n + overhead)``; ``a`` is measured, the overhead is known. A step of
    several utterances costs that of the first, and a share of it that is measured for each further one.
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
        self._further = 0.5  # cost of a further utterance in a step, as a share of the first
        self._num_shared = 0  # steps that this was measured on

    def planned(self, took_s: float) -> None:
        """Add the duration of a plan."""
        self._plan_s += took_s
        self._planned_s = self._planned_s * _KEPT + took_s
        self._num_plans = self._num_plans * _KEPT + 1

    def stepped(self, took_s: float, audio_s: float, num_frames: int, size: int = 1) -> None:
        """Add the duration of a step and the audio that it gave.

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
        else:
            first_s = self.frame_s * frames / size
            further = (took_s / max(first_s, 1e-9) - 1) / (size - 1)
            self._further = self._further * _SHARE_KEPT + min(max(further, 0.0), 1.0) * (1 - _SHARE_KEPT)
            self._num_shared += 1

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
        return self.frame_s * frames / size * (1 + (size - 1) * self._further)

    def frames_within(self, budget_s: float, size: int = 1) -> int:
        """Frames for each utterance of the largest step that keeps within a budget.

        Never fewer than twice the overhead, whatever the budget: that would be too much of the work.

        Args:
            budget_s: Seconds.
            size: Number of utterances.
        """
        overhead = self._facts.overhead_frames
        first_s = budget_s / (1 + (size - 1) * self._further)
        return max(1, int(2 * overhead), int(first_s / max(self.frame_s, 1e-9) - overhead))

    def under_load(self, took_s: float, num_frames: int, *, budget_s: float, least: int) -> float:
        """Return the cost of a part in a step if the step had been as full as possible, seconds.

        With few streams there is little company; that says nothing about how many could be carried.

        Args:
            took_s: What it cost, seconds.
            num_frames: Frames that it gave.
            budget_s: What a step may take, seconds.
            least: Minimum number of frames that make a step worthwhile.
        """
        if self._num_shared < _TRUSTED:
            return took_s
        overhead = self._facts.overhead_frames
        for size in range(self._facts.max_batch, 1, -1):
            most = self.frames_within(budget_s, size)
            if most >= least:
                frame_s = self.frame_s * (1 + overhead / most) * (1 + (size - 1) * self._further) / size
                return min(took_s, frame_s * num_frames)
        return took_s
