"""The contract of an engine: what it can do, ``plan``, ``step``. Nothing else.

State is a value handed in and out (:class:`Utterance`), never hidden on the model, so that cancelling,
interleaving and batching are safe. An engine object is owned by one thread (its worker in ``scheduler.worker``);
it needs no locks of its own and must not start threads that outlive a call.

Three manners of engine fit:

- *frame engines* (FastSpeech2 + MelGAN, VITS, hibari) know ``num_frames`` after ``plan`` and render any number
  of frames a step; streamed sound equals offline sound bit for bit (``Capabilities.exact``);
- *autoregressive engines* (GPT-SoVITS) learn their length at the end: ``num_frames`` is None until ``done``. A step
  makes whole blocks of tokens: it may give up to :data:`MAX_EXTRA_S` more than it was asked for, or less, and keeps
  back what is more;
- *remote engines* get sound when it comes: ``num_frames`` is None, and a step may give nothing and not be done. Where
  nothing has come yet it waits for it, up to :data:`MAX_WAIT_S`, since the worker that runs it would ask again at once.

The scheduler looks at each result (:mod:`yuliu.engines.validate`): what breaks these rules fails the stream.
Whatever the manner, the sound of a segment depends on its text, hints, style and options, never on where in the source
it stands: it may be kept and served again elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self

from yuliu.types import MAX_SPEED, MIN_SPEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.types import AudioFormat, Lang, Samples, Segment, Skipped, SpeakOptions, Timing


ALL_PACES = (MIN_SPEED, MAX_SPEED)
"""All that can be asked for."""
MAX_EXTRA_S = 2.0
"""Sound that a step of an engine that does not know its length may give beyond what was asked for, seconds."""
MAX_WAIT_S = 0.05
"""How long a step may wait for sound that comes from elsewhere, seconds."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine can do."""

    format: AudioFormat
    languages: tuple[Lang, ...]
    exact: bool
    """Whether streamed samples equal the offline ones bit for bit, and a repeated step gives the same as the first.
    Where not, a segment that failed is made anew only if none of its sound is out."""
    hop_samples: int
    """Samples per acoustic frame."""
    context_frames: int
    """Frames on each side that a step computes again beside the ones it was asked for; 0 where state is carried."""
    max_batch: int = 1
    """Most utterances that one ``step`` takes."""
    paces: tuple[float, float] = ALL_PACES
    """Slowest and fastest pace at which its model speaks well by itself; (1, 1) where it has one only. It is asked for
    no other: the sound is stretched to what is wanted beyond."""


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What ``plan`` is told beside the segment."""

    speak: SpeakOptions
    lead_s: float
    """Silence wanted before the first sound, seconds: model silence is cut down to it, never padded up to it."""
    tail_s: float
    """Silence wanted after the last sound, seconds: model silence is cut down to it, never padded up to it."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A planned segment and how far it has been rendered. Engines subclass it to carry their own state.

    Frames count within the utterance: frame 0 is the first one that will be heard (leading silence already cut).
    """

    segment: Segment
    phonemes: tuple[str, ...]
    """All phonemes and marks in the order given to the model, for people to read."""
    timings: tuple[Timing, ...]
    """Seconds from frame 0; sources are source offsets of the stream; not decreasing, within the utterance."""
    skipped: tuple[Skipped, ...]
    """Parts of the segment that are not spoken; sources are source offsets of the stream."""
    num_frames: int | None
    """Frames to be heard in all; None while not known."""
    lead_s: float
    """Silence actually left at its head, seconds (``PlanOptions.lead_s`` at most, give or take one frame)."""
    tail_s: float
    """Silence actually left at its end, seconds."""
    next_frame: int
    """First frame not rendered yet."""
    done: bool
    """Whether nothing is left to render. An utterance without any sound is planned as done."""
    front_end_s: float = field(default=0.0, kw_only=True, compare=False)
    """How long reading the text took within the plan, seconds; what two plans of one text may differ in."""

    @classmethod
    def nothing(
        cls,
        segment: Segment,
        skipped: tuple[Skipped, ...],
        *,
        front_end_s: float,
        **own: Any,  # noqa: ANN401 - whatever fields the subclass has
    ) -> Self:
        """The plan of a segment that holds nothing to say; ``own`` are the fields of the subclass."""
        return cls(
            segment=segment,
            phonemes=(),
            timings=(),
            skipped=skipped,
            num_frames=0,
            lead_s=0.0,
            tail_s=0.0,
            next_frame=0,
            done=True,
            front_end_s=front_end_s,
            **own,
        )


@dataclass(frozen=True, slots=True)
class StepRequest:
    """One utterance's part in a step."""

    utterance: Utterance
    num_frames: int
    """Render so many frames from ``utterance.next_frame`` on, or what is left; at least 1. An engine that knows
    ``num_frames`` renders at least one and at most these; to others it tells how much is wanted now."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step gave for one utterance."""

    samples: Samples
    """float32, shape (num_samples,), finite, range [-1, 1]: ``hop_samples`` for each frame; where ``num_frames`` is not
    known, any number, also none. What a gain would take beyond is bent (:func:`yuliu.audio.gain.scaled`), not cut."""
    utterance: Utterance
    """The utterance after the step; the one handed in stays valid and unchanged."""


class Engine(Protocol):
    """A model family that speaks, with its weights loaded."""

    @property
    def capabilities(self) -> Capabilities:
        """What it can do; constant."""
        ...

    def plan(self, segment: Segment, options: PlanOptions) -> Utterance:
        """Everything that is known before sound: phonemes, durations, number of frames, timings.

        Raises:
            SynthesisFailed: The model failed. Text never makes it fail: what cannot be said is skipped by rule.
        """
        ...

    def step(self, requests: Sequence[StepRequest]) -> list[StepResult]:
        """The next frames of each utterance, in the order given; at most ``capabilities.max_batch`` at once.

        Raises:
            SynthesisFailed: The model failed.
        """
        ...

    def close(self) -> None:
        """Release the model; the engine must not be used after it."""
        ...
