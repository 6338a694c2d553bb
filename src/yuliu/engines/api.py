"""The contract of an engine: its capabilities, ``plan`` and ``step``. Nothing else.

State is a value handed in and out (:class:`Utterance`), never hidden on the model, so that cancelling,
interleaving and batching are safe. An engine object is owned by one worker (:mod:`yuliu.scheduler.workers`);
it needs no locks of its own and must not start threads that outlive a call.

Three kinds of engine fit:

- *frame engines* (FastSpeech2 + MelGAN, VITS, hibari) know ``num_frames`` after ``plan`` and render any number
  of frames per step; streamed audio equals offline audio bit for bit (``Capabilities.exact``);
- *autoregressive engines* (GPT-SoVITS) learn their length at the end: ``num_frames`` is None until ``done``. A step
  makes whole blocks of tokens: it may give up to :data:`MAX_EXTRA_S` more than requested, or less, and holds back the
  rest;
- *remote engines* get audio over time: ``num_frames`` is None, and a step may give nothing without being done. While
  nothing has arrived a step of an :class:`Engine` waits up to :data:`MAX_WAIT_S`, since its thread would ask again at
  once; one of an :class:`AsyncEngine`, which holds no thread, waits until something arrives.

An engine whose state cannot travel (a key-value cache on a device, an open connection) says so with
``Capabilities.local_state``: an utterance then carries a handle, and is only stepped by the engine that planned it.
Utterances and results pickle, whatever the engine.

The worker checks each result (:mod:`yuliu.engines.validate`): a breach of these rules fails the stream.
In any case the audio of a segment depends on its text, hints, style and options, never on its place in the source:
it may be kept and served again elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, Self

from yuliu.types import MAX_SPEED, MIN_SPEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.types import AudioFormat, Lang, Samples, Segment, Skipped, SpeakOptions, Timing


ALL_PACES = (MIN_SPEED, MAX_SPEED)
"""The whole range that can be requested."""
MAX_EXTRA_S = 2.0
"""Maximum audio beyond the request in a step of an engine that does not know its length, seconds."""
MAX_WAIT_S = 0.05
"""Maximum time that a step on a thread may wait for audio from elsewhere, seconds."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Capabilities of an engine; constant for its life."""

    format: AudioFormat
    languages: tuple[Lang, ...]
    exact: bool
    """True if streamed samples equal the offline ones bit for bit, and a repeated step gives the same as the first.
    If not, a failed segment is planned again only if none of its audio is out."""
    hop_samples: int
    """Samples per acoustic frame."""
    context_frames: int
    """Frames on each side that a step computes again beside the requested ones; 0 if state is carried."""
    max_batch: int = 1
    """Maximum batch size of one ``step`` call."""
    paces: tuple[float, float] = ALL_PACES
    """Slowest and fastest pace at which its model speaks well by itself; (1, 1) if it has only one. No other is
    requested: beyond it the audio is stretched."""
    local_state: bool = False
    """True if an utterance works only in the engine that planned it. Such an engine also has ``release``; see
    :class:`StatefulEngine`."""


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Arguments of ``plan`` beside the segment."""

    speak: SpeakOptions
    lead_s: float
    """Maximum silence before the first sound, seconds: model silence is cut down to it, never padded up to it."""
    tail_s: float
    """Maximum silence after the last sound, seconds: model silence is cut down to it, never padded up to it."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A planned segment and its progress. Engines subclass it to carry their own state.

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
    """Total number of frames to be heard; None while not known."""
    lead_s: float
    """Silence actually left at its head, seconds (at most ``PlanOptions.lead_s``, give or take one frame)."""
    tail_s: float
    """Silence actually left at its end, seconds."""
    next_frame: int
    """First frame not rendered yet."""
    done: bool
    """True if nothing is left to render. An utterance without any sound is planned as done."""
    front_end_s: float = field(default=0.0, kw_only=True, compare=False)
    """Time that reading the text took within the plan, seconds; the only field that may differ between two plans."""

    @classmethod
    def nothing(
        cls,
        segment: Segment,
        skipped: tuple[Skipped, ...],
        *,
        front_end_s: float,
        **own: Any,  # noqa: ANN401 - whatever fields the subclass has
    ) -> Self:
        """Return the plan of a segment that holds nothing to say; ``own`` are the fields of the subclass."""
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
    """Number of frames to render from ``utterance.next_frame`` on; at least 1. An engine that knows ``num_frames``
    renders at least one of them and never more; for others it says how much is wanted now."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """Result of a step for one utterance."""

    samples: Samples
    """float32, shape (num_samples,), finite, range [-1, 1]: ``hop_samples`` for each frame; any number, also none, if
    ``num_frames`` is not known. A gain beyond the range is bent (:func:`yuliu.audio.gain.scaled`), not clipped."""
    utterance: Utterance
    """The utterance after the step; the one handed in stays valid and unchanged."""


class Engine(Protocol):
    """A model family that speaks, with its weights loaded."""

    @property
    def capabilities(self) -> Capabilities:
        """Its capabilities; constant."""
        ...

    def plan(self, segment: Segment, options: PlanOptions) -> Utterance:
        """Return everything that is known before audio: phonemes, durations, number of frames, timings.

        Raises:
            SynthesisFailed: The model failed. Text never makes it fail: unpronounceable parts are skipped by rule.
        """
        ...

    def step(self, requests: Sequence[StepRequest]) -> list[StepResult]:
        """Render the next frames of each utterance, in the order given; at most ``capabilities.max_batch`` at once.

        Raises:
            SynthesisFailed: The model failed.
        """
        ...

    def close(self) -> None:
        """Release the model; the engine must not be used after it."""
        ...


class StatefulEngine(Engine, Protocol):
    """An engine with local state."""

    def release(self, utterance: Utterance) -> None:
        """Drop the state of an utterance that no step will follow; called for each that is not rendered to its end."""
        ...


class AsyncEngine(Protocol):
    """An engine that waits for a network: its calls share an event loop, and may be cancelled at any ``await``."""

    @property
    def capabilities(self) -> Capabilities:
        """Its capabilities; constant."""
        ...

    async def plan(self, segment: Segment, options: PlanOptions) -> Utterance:
        """Plan a segment; see :meth:`Engine.plan`."""
        ...

    async def step(self, requests: Sequence[StepRequest]) -> list[StepResult]:
        """Render the next frames; see :meth:`Engine.step`. Calls for different utterances may overlap."""
        ...

    async def close(self) -> None:
        """Release all connections; the engine must not be used after it."""
        ...


class AsyncStatefulEngine(AsyncEngine, Protocol):
    """An asynchronous engine with local state."""

    async def release(self, utterance: Utterance) -> None:
        """Drop the state of an utterance that no step will follow; called for each that is not rendered to its end."""
        ...
