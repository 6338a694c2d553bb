"""The library's front door: engines loaded once, shared by any number of streams.

import yuliu

with yuliu.open() as synthesizer:
    synthesizer.speak("你好，world.").save("hello.wav")
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

import numpy as np

from yuliu.audio.pcm import to_s16le
from yuliu.audio.wav import wav_header
from yuliu.engines.registry import DERIVATIONS, Loader, engine_spec
from yuliu.errors import InvalidRequest, NothingToSpeak, UnknownLexicon, UnknownVoice, VoiceNotReady
from yuliu.lexicon_store import LexiconStore, request_words
from yuliu.metrics.report import GaugeValues
from yuliu.scheduler.pins import Pins
from yuliu.scheduler.recording import recording
from yuliu.scheduler.scheduler import Scheduler
from yuliu.scheduler.settings import Settings
from yuliu.stream import Caller, Route, Stream, StreamContext, StreamOptions
from yuliu.stream.routes import NO_RATES, routes_of, stream_rate
from yuliu.text.languages import language_of
from yuliu.types import AudioFormat, Boundary, Coverage, Finished, Segment, Span
from yuliu.voices import DEFAULT_VOICE, CompositeManifest, VoiceStore

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterable, Mapping, Sequence

    from yuliu.engines.api import Engine
    from yuliu.engines.registry import EngineSpec
    from yuliu.metrics.metrics import Metrics
    from yuliu.text.lexicon import Words
    from yuliu.types import Lang, Samples, Timing
    from yuliu.voices import VoiceInfo

T = TypeVar("T")


def open(  # noqa: A001 - read as yuliu.open
    *voices: str,
    home: Path | None = None,
    workers: int | None = None,
    cache_bytes: int = 0,
    adaptive: bool = False,
    metrics: Metrics | None = None,
) -> Synthesizer:
    """Load voices and warm them up; takes one to three seconds.

    Args:
        voices: Names of voices; the default is ``yuliu``, Mandarin and English mixed. The first is used where a stream
            names none. The voices that a composite is made of can be used by their own names as well.
        home: Where voices are kept; None takes $YULIU_HOME or the platform's folder for application data.
        workers: Threads that speak; None takes one a core, four at most.
        cache_bytes: Sound of segments spoken lately that is kept, to be served again; 0 keeps none.
        adaptive: Whether steps and, in interactive streams, first segments follow what is measured, and new streams
            are spoken in whole sentences past much backlog, which their endings tell.
        metrics: Is told what happens, and asks what is so.

    Raises:
        UnknownVoice: There is no voice of that name.
        VoiceNotReady: A voice is not on disk, or damaged; the message names the command to run.
        InvalidRequest: $YULIU_RECORD names a file for the log of the scheduler that cannot be written.
    """
    store = VoiceStore(home, derivations=DERIVATIONS)
    names = voices or (DEFAULT_VOICE,)
    wanted = {name: _parts(store.info(name)) for name in names}
    bases = dict.fromkeys(base for parts in wanted.values() for base in parts.values())
    engines = [_spec(store, base) for base in bases]
    voices_ = wanted | {base: _parts(store.info(base)) for base in bases}
    infos = map(store.info, wanted)
    rates = {info.name: info.sample_rate for info in infos if info.parts}
    versions = {base: _version(store, base) for base in bases}
    settings = Settings(
        num_workers=workers,
        cache_bytes=cache_bytes,
        adaptive=adaptive,
        versions=versions,
        record=recording(os.environ),
    )
    lexicons = LexiconStore(home)
    return Synthesizer(
        engines,
        voices_,
        default=names[0],
        sample_rates=rates,
        lexicons=lexicons,
        settings=settings,
        metrics=metrics,
    )


def load_voice(store: VoiceStore, name: str) -> dict[Lang, Engine]:
    """The engines of a voice by language, without a scheduler: for those who measure engines alone."""
    parts = _parts(store.info(name))
    loader = Loader()
    engines = {part: loader.load(_spec(store, part)) for part in dict.fromkeys(parts.values())}
    return {lang: cast("Engine", engines[part]) for lang, part in parts.items()}


def _parts(info: VoiceInfo) -> dict[Lang, str]:
    """Which voice's engine speaks which language; an engine is named for its voice."""
    return dict(info.parts) or dict.fromkeys(info.languages, info.name)


def _spec(store: VoiceStore, name: str) -> EngineSpec:
    manifest = store.manifest(name)
    if isinstance(manifest, CompositeManifest):
        raise VoiceNotReady(f"voice {name!r} is itself composite, so it can not be part of another one")
    return engine_spec(manifest, store.files(name), tuple(map(_warm_up, manifest.languages)))


def _version(store: VoiceStore, name: str) -> str:
    """The same for the same files, sources and derivations."""
    return hashlib.sha256(repr(store.manifest(name)).encode()).hexdigest()


def _warm_up(lang: Lang) -> Segment:
    """Return the segment that a new engine speaks once in a language before it is used."""
    text = language_of(lang).sample
    return Segment(text, Span(0, len(text)), tuple(range(len(text))), Boundary.SENTENCE, lang)


@dataclass(frozen=True, slots=True)
class Audio:
    """A text, spoken."""

    samples: Samples
    """float32, mono, shape (num_samples,), range [-1, 1]."""
    sample_rate: int
    """Hz."""
    timings: tuple[Timing, ...] = ()
    """When each Mandarin character and English word sounds."""
    coverage: Coverage = field(default_factory=Coverage)
    """What of the text was spoken, and what was skipped by which rule."""

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / self.sample_rate

    def to_wav(self) -> bytes:
        """A whole WAV file, s16le."""
        pcm = to_s16le(self.samples)
        return wav_header(AudioFormat(self.sample_rate), len(pcm)) + pcm

    def save(self, path: str | Path) -> None:
        """Write a WAV file, s16le."""
        Path(path).write_bytes(self.to_wav())


class Synthesizer:
    """Voices that are loaded and warm.

    Args:
        engines: Specs of the engines. The synthesizer closes what is built from them.
        voices: For each voice which engine speaks which language.
        default: The voice that is used where none is named.
        sample_rates: Sample rates of voices whose streams have another one than the highest of their engines, in Hz.
        lexicons: Where the lexicons are that streams may name, and the one that holds for all; None has none.
        num_workers: Threads that speak; None takes what ``settings`` say.
        settings: What else is settled for the scheduler's life.
        metrics: Is told what happens, and asks what is so.
    """

    def __init__(  # noqa: PLR0913 - what it is made of
        self,
        engines: Sequence[EngineSpec],
        voices: Mapping[str, Mapping[Lang, str]],
        *,
        default: str,
        sample_rates: Mapping[str, int] = NO_RATES,
        lexicons: LexiconStore | None = None,
        num_workers: int | None = None,
        settings: Settings | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        settings = settings or Settings()
        if num_workers is not None:
            settings = replace(settings, num_workers=num_workers)
        self._scheduler = Scheduler(engines, settings, observer=metrics)
        try:
            self._routes = routes_of(voices, self._scheduler.capabilities, sample_rates)
        except InvalidRequest:
            self._scheduler.close()
            raise
        self.default: str = default
        """The voice that is used where none is named."""
        self.sample_rate: int = self._routes[default].sample_rate
        """Sample rate of the default voice, in Hz; see :meth:`rate` for that of any voice."""
        self._lexicons = lexicons
        self._groups = itertools.count()
        self._pins = Pins()
        self._metrics = metrics
        if metrics is not None:
            metrics.gauge_source(partial(_levels, self._scheduler))

    def __enter__(self) -> Self:
        """The synthesizer itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it."""
        self.close()

    @property
    def voices(self) -> tuple[str, ...]:
        """Names of the voices that can be used."""
        return tuple(self._routes)

    @property
    def num_streams(self) -> int:
        """Streams open now."""
        return self._scheduler.num_streams

    def languages(self, voice: str) -> tuple[Lang, ...]:
        """What a voice speaks."""
        return tuple(self._route(voice).engines)

    def rate(self, voice: str) -> int:
        """Return the sample rate of a voice, in Hz: that of its streams, unless their options ask for another.

        Raises:
            UnknownVoice: No such voice is loaded.
        """
        return self._route(voice).sample_rate

    def stream_rate(self, voice: str, options: StreamOptions, output_rate: int) -> int:
        """Return the sample rate at which to open a stream whose output has a rate of its own, in Hz.

        It is the voice's, which the output resamples, where all voices that the stream may use share it. Otherwise it
        is the output's, so that all sound is resampled once, from the rate of its engine.

        Args:
            voice: Voice of the stream.
            options: Options of the stream; where its markup may name a voice, it may use all that are loaded.
            output_rate: Sample rate of the output, in Hz.

        Raises:
            UnknownVoice: No such voice is loaded.
        """
        return stream_rate(self._route(voice), self._routes.values(), options, output_rate)

    def stream(
        self,
        *,
        voice: str | None = None,
        options: StreamOptions | None = None,
        words: Words | None = None,
        caller: Caller | None = None,
    ) -> Stream:
        """A stream, to be used in an ``async with`` block of a running asyncio loop.

        Args:
            voice: Which one speaks.
            options: How.
            words: What :meth:`words` made of the same options, called on a thread; else it is called here, and reads
                lexicons that have changed.
            caller: Who asked for it, for the metrics.

        Raises:
            UnknownVoice: No such voice is loaded.
            UnknownLexicon: ``options`` names a lexicon that is not there.
        """
        route, options = self._route(voice or self.default), options or StreamOptions()
        words = self.words(options) if words is None else words
        around = StreamContext(self._routes, words, caller or Caller(), self._metrics)
        return Stream(self._scheduler, route, options, around)

    def words(self, options: StreamOptions) -> Words:
        """What a stream with these options looks its words up in. Reads lexicons that have changed: it may block.

        Raises:
            UnknownLexicon: ``options`` names a lexicon that is not there.
            InvalidRequest: It names too many, has too many entries of its own, or a file is damaged.
        """
        if self._lexicons is not None:
            return self._lexicons.words(options.lexicon, options.lexicon_entries)
        if options.lexicon:
            raise UnknownLexicon("this synthesizer has no lexicons", param="lexicon")
        return request_words(options.lexicon_entries)

    def speak(self, text: str, *, voice: str | None = None, options: StreamOptions | None = None) -> Audio:
        """Speak a whole text and wait for it. In asynchronous code use :meth:`stream`.

        Raises:
            UnknownVoice: No such voice is loaded.
            UnknownLexicon: ``options`` names a lexicon that is not there.
            NothingToSpeak: The text holds nothing that the voice can say.
            Overloaded: The machine cannot carry it now.
            TimedOut: One of the limits in ``options`` was met.
            SynthesisFailed: An engine failed.
        """
        options = options or StreamOptions()
        return _run(self._speak(text, voice, options, self.words(options)))

    def pin(self, phrases: Iterable[str], *, voice: str | None = None, options: StreamOptions | None = None) -> None:
        """Speak phrases now and keep their sound: a stream that says one of them again has it at once.

        What counts is that the stream cuts its text in the same way and has the same voice, speed, seed and words: a
        phrase is sure to be met where it is all of a stream's text, or where sentences are spoken one by one. A phrase
        that is pinned with the same options already is spoken anew. Takes as long as speaking does: in asynchronous
        code call it on a thread.

        Raises:
            UnknownVoice: No such voice is loaded.
            UnknownLexicon: ``options`` names a lexicon that is not there.
            NothingToSpeak: A phrase holds nothing that the voice can say. Those before it are pinned.
            InvalidRequest: There is no room for the sound of a phrase. Those before it are pinned.
            Overloaded: The machine cannot carry it now.
            SynthesisFailed: An engine failed.
        """
        voice, options = voice or self.default, options or StreamOptions()
        for phrase in phrases:
            group = next(self._groups)
            try:
                self._speak_for(group, phrase, voice, options)
            except BaseException:
                self._scheduler.unpin(group)
                raise
            for old in self._pins.put(voice, phrase, options, group=group):
                self._scheduler.unpin(old)

    def unpin(self, phrases: Iterable[str] | None = None, *, voice: str | None = None) -> None:
        """Keep the sound of phrases no longer.

        Args:
            phrases: None is all of them; those that are not pinned are ignored.
            voice: None is every voice.
        """
        for group in self._pins.pop(None if phrases is None else set(phrases), voice):
            self._scheduler.unpin(group)

    @property
    def pinned(self) -> Mapping[str, tuple[str, ...]]:
        """The phrases that are pinned, by voice, in the order in which they were."""
        return self._pins.by_voice()

    def close(self) -> None:
        """End all streams and release the engines."""
        self._scheduler.close()

    def _speak_for(self, group: int, phrase: str, voice: str, options: StreamOptions) -> None:
        """Speak a phrase so that its sound is kept for a group."""
        terms = replace(options.terms, phrases=group, max_lead_s=None)
        self.speak(phrase, voice=voice, options=replace(options, terms=terms))
        if not self._scheduler.keeps(group):
            raise InvalidRequest("there is no room to keep the sound of this phrase; unpin others first")

    def _route(self, voice: str) -> Route:
        if voice not in self._routes:
            raise UnknownVoice(f"no voice {voice!r} is loaded; there are: {', '.join(self._routes)}", param="voice")
        return self._routes[voice]

    async def _speak(self, text: str, voice: str | None, options: StreamOptions, words: Words) -> Audio:
        async with self.stream(voice=voice, options=options, words=words) as stream:
            await stream.push(text)
            await stream.end()
            chunks = [chunk async for chunk in stream]
        if not isinstance(stream.ending, Finished) or all(chunk.lead_in for chunk in chunks):
            raise NothingToSpeak("the text holds nothing that the voice can say", param="text")
        samples = np.concatenate([chunk.samples for chunk in chunks])
        timings = tuple(timing for chunk in chunks for timing in chunk.timings)
        return Audio(samples, stream.sample_rate, timings, stream.ending.coverage)


def _levels(scheduler: Scheduler) -> GaugeValues:
    """What is so in a scheduler now, for the metrics."""
    found, cached = scheduler.snapshot(), scheduler.cache_counts()
    return GaugeValues(
        streams=found.streams,
        queue_depth=found.queue_depth,
        num_workers=found.num_workers,
        num_workers_busy=found.num_workers_busy,
        throughput_mode=found.throughput,
        cache_bytes={"sound": cached.num_bytes, "phrases": cached.pinned_bytes},
    )


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run to the end, in a thread of its own where the caller's thread has a running loop (notebooks)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
