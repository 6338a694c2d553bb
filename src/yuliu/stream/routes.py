"""Routes: the engine of each language of a voice, and the sample rate of its streams."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from yuliu.audio.formats import MAX_RATE, MIN_RATE
from yuliu.audio.resample import Resampler
from yuliu.errors import InvalidRequest
from yuliu.text.languages import parse_language

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from yuliu.engines.api import Capabilities
    from yuliu.stream.options import StreamOptions
    from yuliu.types import Lang

NO_RATES: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class VoiceRoute:
    """Engine of each language of one voice."""

    engines: Mapping[Lang, str]
    sample_rate: int
    """Sample rate of its streams, in Hz, unless their options ask for another."""
    voice: str = ""
    """Name of the voice."""
    paces: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Slowest and fastest pace of each engine, if limited; beyond them audio is stretched."""
    engine_rates: Mapping[str, int] = field(default_factory=dict)
    """Sample rate of each engine, in Hz; the route's own for an engine that is not in it."""

    def rate_of(self, engine: str) -> int:
        """Return the sample rate of an engine, in Hz."""
        return self.engine_rates.get(engine, self.sample_rate)


def routes_of(
    voices: Mapping[str, Mapping[str, str]], engines: Mapping[str, Capabilities], sample_rates: Mapping[str, int]
) -> dict[str, VoiceRoute]:
    """Return the route of each voice.

    Args:
        voices: Names of the engines of each voice, by BCP 47 tag of the language.
        engines: Capabilities of each engine.
        sample_rates: Sample rates of voices, in Hz; a voice that is not in it has the highest rate of its engines.

    Raises:
        InvalidRequest: Voices have different rates, one of which cannot be resampled.
    """
    engine_rates = {name: found.format.sample_rate for name, found in engines.items()}
    paces = {name: found.paces for name, found in engines.items()}
    highest = {name: max(engine_rates[engine] for engine in parts.values()) for name, parts in voices.items()}
    rates = {**highest, **sample_rates}
    if len(distinct := {*engine_rates.values(), *rates.values()}) > 1:
        _prepare_resampling(distinct)
    return {
        name: VoiceRoute(_by_language(parts), rates[name], name, paces, engine_rates) for name, parts in voices.items()
    }


def _by_language(parts: Mapping[str, str]) -> dict[Lang, str]:
    return {parse_language(tag, param="voices"): engine for tag, engine in parts.items()}


def stream_rate(route: VoiceRoute, loaded: Iterable[VoiceRoute], options: StreamOptions, output_rate: int) -> int:
    """Return the sample rate at which to open a stream whose output has a rate of its own, in Hz.

    It is the voice's, which the output then resamples, where all engines that the stream may use share it. Otherwise it
    is the output's, so that all sound is resampled once, straight from the rate of its engine.

    Args:
        route: VoiceRoute of the stream's voice.
        loaded: All routes that markup may name.
        options: Options of the stream.
        output_rate: Sample rate of the output, in Hz.
    """
    usable = (route,) if options.reader.ssml == "off" else (route, *loaded)
    rates = {each.rate_of(engine) for each in usable for engine in each.engines.values()}
    return route.sample_rate if rates == {route.sample_rate} else output_rate


def _prepare_resampling(rates: Collection[int]) -> None:
    """Load the library that resamples, which takes tens of milliseconds, before the first stream needs it.

    Raises:
        InvalidRequest: A rate is out of range.
    """
    lowest, highest = min(rates), max(rates)
    if not MIN_RATE <= lowest <= highest <= MAX_RATE:
        found = f"these have {lowest} to {highest} Hz"
        raise InvalidRequest(f"voices of different sample rates must have {MIN_RATE} to {MAX_RATE} Hz; {found}")
    Resampler(lowest, highest)
