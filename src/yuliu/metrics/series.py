"""Time series of events: their names, labels and buckets."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from prometheus_client import Counter, Histogram

from yuliu.metrics.report import FeedbackKind, Loss
from yuliu.types import StreamClass

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from yuliu.metrics.report import StreamReport

MAX_NAMES = 64
"""Maximum number of values of one label; further ones become ``other``, so that a mistake cannot fill the memory."""
TTFP_BUCKETS_S = (0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0)
PART_BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
WORK_BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.06, 0.1, 0.2, 0.5, 1.0, 2.0)
GAP_BUCKETS_S = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 5.0)
LONG_BUCKETS_S = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
CANCEL_BUCKETS_S = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
OTHER = "other"


class Names:
    """Values of a label: the first ones seen, then ``other``."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def __call__(self, value: str) -> str:
        """Return the value itself, or ``other``."""
        if value in self._known:
            return value
        if len(self._known) >= MAX_NAMES:
            return OTHER
        self._known.add(value)
        return value


class StreamSeries:
    """Series that are updated at the end of a stream."""

    def __init__(self, registry: CollectorRegistry) -> None:
        whose = ["class", "voice"]
        self._voices, self._doors, self._codes = Names(), Names(), Names()
        self._ended = Counter(
            "yuliu_streams_ended_total", "Streams that are over.", [*whose, "door", "ending"], registry=registry
        )
        self._errors = Counter(
            "yuliu_stream_errors_total", "Streams that failed or were rejected.", ["class", "code"], registry=registry
        )
        self._degraded = Counter(
            "yuliu_streams_degraded_total", "Streams spoken in throughput mode.", ["class"], registry=registry
        )
        self._ttfp = Histogram(
            "yuliu_ttfp_seconds", "Time to first packet.", whose, buckets=TTFP_BUCKETS_S, registry=registry
        )
        self._parts = Histogram(
            "yuliu_ttfp_part_seconds",
            "Parts of the time to first packet, and the wait for text before it.",
            ["class", "part"],
            buckets=PART_BUCKETS_S,
            registry=registry,
        )
        self._last_byte = Histogram(
            "yuliu_last_byte_seconds",
            "From the opening of a stream to its last sound.",
            ["class"],
            buckets=LONG_BUCKETS_S,
            registry=registry,
        )
        self._whole = Histogram(
            "yuliu_stream_seconds",
            "From the opening of a stream to its end.",
            ["class", "ending"],
            buckets=LONG_BUCKETS_S,
            registry=registry,
        )
        self._gap = Histogram(
            "yuliu_longest_gap_seconds",
            "The longest time between two chunks of a stream.",
            ["class"],
            buckets=GAP_BUCKETS_S,
            registry=registry,
        )
        self._underrun_s = Counter(
            "yuliu_underrun_seconds_total", "Time that listeners stood silent.", ["class"], registry=registry
        )
        self._underruns = Counter(
            "yuliu_streams_underrun_total", "Streams whose listener heard a gap.", ["class"], registry=registry
        )
        self._heard = Counter("yuliu_streams_heard_total", "Streams that gave any sound.", ["class"], registry=registry)
        for each in StreamClass:
            self._heard.labels(each.value)
            self._underruns.labels(each.value)
        self._audio = Counter("yuliu_audio_seconds_total", "Sound handed out.", whose, registry=registry)
        self._characters = Counter("yuliu_characters_total", "Characters received.", whose, registry=registry)
        self._bytes = Counter("yuliu_sent_bytes_total", "Bytes of sound handed out.", whose, registry=registry)
        self._segments = Counter(
            "yuliu_segments_total", "Segments spoken, by where their sound came from.", ["source"], registry=registry
        )

    def ended(self, report: StreamReport) -> None:
        """Record the end of a stream."""
        cls, voice = report.stream_class.value, self._voices(report.voice)
        self._ended.labels(cls, voice, self._doors(report.door), report.outcome).inc()
        if report.code:
            self._errors.labels(cls, self._codes(report.code)).inc()
        if report.degraded:
            self._degraded.labels(cls).inc()
        self._whole.labels(cls, report.outcome).observe(report.moments.ended_s)
        self._characters.labels(cls, voice).inc(report.num_characters)
        self._segments.labels("cache").inc(report.num_cached_segments)
        self._segments.labels("engine").inc(report.num_segments - report.num_cached_segments)
        ttfp_s = report.moments.ttfp_s()
        if ttfp_s is not None:
            self._ttfp.labels(cls, voice).observe(ttfp_s)
            self._sound(report, cls, voice)

    def _sound(self, report: StreamReport, cls: str, voice: str) -> None:
        for part, took_s in report.moments.parts(report.front_end_s).items():
            self._parts.labels(cls, part).observe(took_s)
        if report.moments.last_sent_s is not None:
            self._last_byte.labels(cls).observe(report.moments.last_sent_s)
        self._heard.labels(cls).inc()
        self._gap.labels(cls).observe(report.longest_gap_s)
        self._underrun_s.labels(cls).inc(report.underrun_s)
        self._underruns.labels(cls).inc(report.had_underrun)
        self._audio.labels(cls, voice).inc(report.audio_s)
        self._bytes.labels(cls, voice).inc(report.num_bytes)


class WorkSeries:
    """Series of the work of engines, by engine."""

    def __init__(self, registry: CollectorRegistry) -> None:
        by = ["engine"]
        self.step = Histogram("yuliu_step_seconds", "Time of a step.", by, buckets=WORK_BUCKETS_S, registry=registry)
        self.plan = Histogram("yuliu_plan_seconds", "Time of a plan.", by, buckets=WORK_BUCKETS_S, registry=registry)
        self.front_end = Histogram(
            "yuliu_front_end_seconds",
            "The part of a plan in which text is read.",
            by,
            buckets=PART_BUCKETS_S,
            registry=registry,
        )
        self.audio = Counter("yuliu_engine_audio_seconds_total", "Sound made.", by, registry=registry)
        self.utterances = Counter("yuliu_step_utterances_total", "Utterances in steps.", by, registry=registry)
        self.retries = Counter("yuliu_retries_total", "Plans and steps repeated.", by, registry=registry)


class EngineSeries:
    """Series of one engine, looked up once and updated at each step."""

    __slots__ = ("audio", "front_end", "name", "plan", "retries", "step", "utterances")

    def __init__(self, name: str, work: WorkSeries) -> None:
        self.name = name
        self.step, self.plan = work.step.labels(name), work.plan.labels(name)
        self.front_end, self.audio = work.front_end.labels(name), work.audio.labels(name)
        self.utterances, self.retries = work.utterances.labels(name), work.retries.labels(name)


class EventSeries:
    """Series that are updated at each event."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.reasons, self.caches = Names(), Names()
        self.doors, self.codes = Names(), Names()
        self.started = Counter("yuliu_streams_started_total", "Streams opened.", ["class"], registry=registry)
        self.admissions = Counter(
            "yuliu_admissions_total", "Decisions about streams.", ["class", "decision", "reason"], registry=registry
        )
        self.errors = Counter(
            "yuliu_errors_total", "Errors that clients were told.", ["door", "code"], registry=registry
        )
        self.gap = Histogram(
            "yuliu_chunk_gap_seconds", "Time between two chunks.", buckets=GAP_BUCKETS_S, registry=registry
        )
        self.cancel = Histogram(
            "yuliu_cancel_seconds",
            "From the wish to cancel to the end of the work.",
            buckets=CANCEL_BUCKETS_S,
            registry=registry,
        )
        self.workers_replaced = Counter(
            "yuliu_workers_replaced_total", "Workers given up.", ["reason"], registry=registry
        )
        self.cache_lookups = Counter(
            "yuliu_cache_lookups_total", "Looks into caches.", ["cache", "result"], registry=registry
        )
        self.feedback = Counter("yuliu_feedback_total", "Complaints of listeners.", ["kind"], registry=registry)
        # A series that begins with its first event shows no increase, so series used by alerts begin at 0.
        for reason in get_args(Loss):
            self.workers_replaced.labels(reason)
        for kind in get_args(FeedbackKind):
            self.feedback.labels(kind)
