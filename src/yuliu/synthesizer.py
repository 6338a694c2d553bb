"""Synthesizer: voices that are loaded once and shared by any number of streams.

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
from yuliu.stream import Caller, Stream, StreamContext, StreamOptions, VoiceRoute
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
    """Load voices and warm them up, which takes one to three seconds.

    Args:
        voices: Names of voices; the default is ``yuliu``, which speaks Mandarin and English mixed. The first one is
            used for streams that name none. The parts of a composite can also be used by their own names.
        home: Folder of the voices; None takes $YULIU_HOME or the platform's folder for application data.
        workers: Number of worker threads; None takes one per core, at most four.
        cache_bytes: Amount of recently rendered audio that is kept for reuse; 0 keeps none.
        adaptive: Whether step sizes and, in interactive streams, first segments adapt to measurements, and new streams
            are spoken in whole sentences under a large backlog, as their endings report.
        metrics: Receiver of events, and collector of gauges.

    Raises:
        UnknownVoice: There is no voice of that name.
        VoiceNotReady: A voice is not on disk, or damaged; the message names the command to run.
        InvalidRequest: $YULIU_RECORD names a file that cannot be written, or voices have different sample rates, one of
            which cannot be resampled.
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
    """Return the engines of a voice by language, without a scheduler, to measure the engines alone."""
    parts = _parts(store.info(name))
    loader = Loader()
    engines = {part: loader.load(_spec(store, part)) for part in dict.fromkeys(parts.values())}
    return {lang: cast("Engine", engines[part]) for lang, part in parts.items()}


def _parts(info: VoiceInfo) -> dict[Lang, str]:
    """Return the name of the engine of each language; an engine is named after its voice."""
    return dict(info.parts) or dict.fromkeys(info.languages, info.name)


def _spec(store: VoiceStore, name: str) -> EngineSpec:
    manifest = store.manifest(name)
    if isinstance(manifest, CompositeManifest):
        raise VoiceNotReady(f"voice {name!r} is itself composite, so it cannot be part of another one")
    return engine_spec(manifest, store.files(name), tuple(map(_warm_up, manifest.languages)))


def _version(store: VoiceStore, name: str) -> str:
    """Return a digest of the manifest: the same for the same files, sources and derivations."""
    return hashlib.sha256(repr(store.manifest(name)).encode()).hexdigest()


def _warm_up(lang: Lang) -> Segment:
    """Return the segment that a new engine speaks once in a language before it is used."""
    text = language_of(lang).sample
    return Segment(text, Span(0, len(text)), tuple(range(len(text))), Boundary.SENTENCE, lang)


@dataclass(frozen=True, slots=True)
class Audio:
    """Audio of a whole text."""

    samples: Samples
    """float32, mono, shape (num_samples,), range [-1, 1]."""
    sample_rate: int
    """In Hz."""
    timings: tuple[Timing, ...] = ()
    """Times of the Mandarin characters and English words."""
    coverage: Coverage = field(default_factory=Coverage)
    """Spoken and skipped parts of the text."""

    @property
    def duration_s(self) -> float:
        """Length, in seconds."""
        return len(self.samples) / self.sample_rate

    def to_wav(self) -> bytes:
        """Return a WAV file, s16le."""
        pcm = to_s16le(self.samples)
        return wav_header(AudioFormat(self.sample_rate), len(pcm)) + pcm

    def save(self, path: str | Path) -> None:
        """Write a WAV file, s16le."""
        Path(path).write_bytes(self.to_wav())


class Synthesizer:
    """Loaded voices, ready to speak.

    Args:
        engines: Specs of the engines. The synthesizer closes the engines built from them.
        voices: Name of the engine for each language of each voice.
        default: Voice for streams that name none.
        sample_rates: Sample rates of voices whose streams do not have the highest rate of their engines, in Hz.
        lexicons: Store of the lexicons that streams may name, and of the default one; None for no lexicons.
        num_workers: Number of worker threads; None takes that of ``settings``.
        settings: Settings of the scheduler.
        metrics: Receiver of events, and collector of gauges.
    """

    def __init__(  # noqa: PLR0913 - its collaborators
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
        """Voice for streams that name none."""
        self.sample_rate: int = self._routes[default].sample_rate
        """Sample rate of the default voice, in Hz; see :meth:`rate` for that of any voice."""
        self._lexicons = lexicons
        self._groups = itertools.count()
        self._pins = Pins()
        self._metrics = metrics
        if metrics is not None:
            metrics.gauge_source(partial(_gauges, self._scheduler))

    def __enter__(self) -> Self:
        """Return the synthesizer."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the synthesizer."""
        self.close()

    @property
    def voices(self) -> tuple[str, ...]:
        """Names of the loaded voices."""
        return tuple(self._routes)

    @property
    def num_streams(self) -> int:
        """Number of open streams."""
        return self._scheduler.num_streams

    def languages(self, voice: str) -> tuple[Lang, ...]:
        """Return the languages of a voice."""
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
        """Return a new stream, for an ``async with`` block in a running asyncio loop.

        Args:
            voice: Name of the voice; None takes the default.
            options: Options of the stream.
            words: Result of :meth:`words` for the same options, called on a thread; None calls it here, which reads
                lexicons that have changed.
            caller: Origin of the stream, for the metrics.

        Raises:
            UnknownVoice: No such voice is loaded.
            UnknownLexicon: ``options`` names a lexicon that does not exist.
        """
        route, options = self._route(voice or self.default), options or StreamOptions()
        words = self.words(options) if words is None else words
        context = StreamContext(self._routes, words, caller or Caller(), self._metrics)
        return Stream(self._scheduler, route, options, context)

    def words(self, options: StreamOptions) -> Words:
        """Return the lexicon entries for a stream with these options. May block, since it reads changed lexicons.

        Raises:
            UnknownLexicon: ``options`` names a lexicon that does not exist.
            InvalidRequest: ``options`` has too many lexicons or entries, or a file is damaged.
        """
        if self._lexicons is not None:
            return self._lexicons.words(options.lexicon, options.lexicon_entries)
        if options.lexicon:
            raise UnknownLexicon("this synthesizer has no lexicons", param="lexicon")
        return request_words(options.lexicon_entries)

    def speak(self, text: str, *, voice: str | None = None, options: StreamOptions | None = None) -> Audio:
        """Speak a whole text and return its audio. In asynchronous code use :meth:`stream`.

        Raises:
            UnknownVoice: No such voice is loaded.
            UnknownLexicon: ``options`` names a lexicon that does not exist.
            NothingToSpeak: The text contains nothing that the voice can speak.
            Overloaded: The stream exceeds the capacity of the machine.
            TimedOut: The stream reached one of the limits in ``options``.
            SynthesisFailed: An engine failed.
        """
        options = options or StreamOptions()
        return _run(self._speak(text, voice, options, self.words(options)))

    def pin(self, phrases: Iterable[str], *, voice: str | None = None, options: StreamOptions | None = None) -> None:
        """Render phrases now and keep their audio, so that a later stream has them at once.

        A stream uses a pinned phrase if it has the same voice, speed, seed and lexicon entries and cuts the phrase out
        of its text as a whole: certainly if the phrase is its whole text or if sentences are spoken one by one. A
        phrase that is already pinned with the same options is rendered again. Blocks while rendering: in asynchronous
        code call it on a thread.

        Raises:
            UnknownVoice: No such voice is loaded.
            UnknownLexicon: ``options`` names a lexicon that does not exist.
            NothingToSpeak: A phrase contains nothing that the voice can speak. Phrases before it are pinned.
            InvalidRequest: There is no room for the audio of a phrase. Phrases before it are pinned.
            Overloaded: The stream exceeds the capacity of the machine.
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
        """Release the audio of phrases.

        Args:
            phrases: Phrases, of which unknown ones are ignored; None releases all.
            voice: Name of the voice; None stands for all voices.
        """
        for group in self._pins.pop(None if phrases is None else set(phrases), voice):
            self._scheduler.unpin(group)

    @property
    def pinned(self) -> Mapping[str, tuple[str, ...]]:
        """Pinned phrases by voice, in the order of pinning."""
        return self._pins.by_voice()

    def close(self) -> None:
        """End all streams and release the engines."""
        self._scheduler.close()

    def _speak_for(self, group: int, phrase: str, voice: str, options: StreamOptions) -> None:
        """Speak a phrase and keep its audio for a group."""
        terms = replace(options.terms, phrases=group, max_lead_s=None)
        self.speak(phrase, voice=voice, options=replace(options, terms=terms))
        if not self._scheduler.keeps(group):
            raise InvalidRequest("there is no room to keep the sound of this phrase; unpin others first")

    def _route(self, voice: str) -> VoiceRoute:
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


def _gauges(scheduler: Scheduler) -> GaugeValues:
    """Return the current gauges of a scheduler."""
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
    """Run a coroutine to its end, on another thread if this one has a running loop (notebooks)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, coroutine).result()
