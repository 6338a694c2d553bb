"""Who wants to know what the scheduler does: :class:`yuliu.metrics.metrics.Metrics` fits as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from yuliu.types import StreamClass


class Observer(Protocol):
    """Is told facts as they happen, from any thread, some of them under the scheduler's lock: it must be quick."""

    def admission(
        self, stream_class: StreamClass, decision: Literal["admitted", "queued", "rejected"], *, reason: str = ""
    ) -> None:
        """A stream was let in, made to wait (it is let in or turned away later), or turned away."""
        ...

    def planned(self, engine: str, took_s: float, *, front_end_s: float = 0.0) -> None:
        """A segment was planned; reading its text was a part of that."""
        ...

    def step(self, engine: str, took_s: float, *, audio_s: float, batch: int = 1) -> None:
        """So much sound was made, of so many utterances at once."""
        ...

    def retried(self, engine: str) -> None:
        """A plan or step that failed is repeated."""
        ...

    def worker_replaced(self, reason: Literal["crashed", "hung"]) -> None:
        """A worker was given up."""
        ...

    def cancelled(self, took_s: float) -> None:
        """A stream was cancelled; so long afterwards no worker was at work for it any more."""
        ...

    def cache_lookup(self, cache: str, *, hit: bool) -> None:
        """A segment's sound was looked for."""
        ...


class Unobserved:
    """Nobody wants to know."""

    def admission(
        self, stream_class: StreamClass, decision: Literal["admitted", "queued", "rejected"], *, reason: str = ""
    ) -> None:
        """Nothing is done."""

    def planned(self, engine: str, took_s: float, *, front_end_s: float = 0.0) -> None:
        """Nothing is done."""

    def step(self, engine: str, took_s: float, *, audio_s: float, batch: int = 1) -> None:
        """Nothing is done."""

    def retried(self, engine: str) -> None:
        """Nothing is done."""

    def worker_replaced(self, reason: Literal["crashed", "hung"]) -> None:
        """Nothing is done."""

    def cancelled(self, took_s: float) -> None:
        """Nothing is done."""

    def cache_lookup(self, cache: str, *, hit: bool) -> None:
        """Nothing is done."""
