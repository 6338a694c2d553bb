"""From messages of the native protocol to orders of a delivery."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from yuliu.delivery import Order, SpeakingChange, SpeakingQuery, VoiceQuery
from yuliu.presets import parse_chunking
from yuliu.stream import StreamLimits
from yuliu.wire.encoding import encoding_asked_for
from yuliu.wire.openai import ALIASES

if TYPE_CHECKING:
    from yuliu.server.limits import Limits
    from yuliu.wire.native.messages import Config, Start


def order_of(start: Start, limits: Limits, *, must_sound: bool, progress: bool) -> Order:
    """Return the order that a ``start`` asks for.

    Args:
        start: The message.
        limits: Those of the server.
        must_sound: Whether a text that holds nothing to say is an error.
        progress: Whether segments, marks and underruns are wanted.
    """
    sound = start.sound
    encoding = functools.partial(
        encoding_asked_for,
        sound.format,
        field="format",
        sample_rate=sound.sample_rate,
        channels=sound.channels,
        kbps=sound.kbps,
    )
    speaking = SpeakingQuery(
        speed=start.speed,
        manner=start.manner,
        lexicon=start.lexicon,
        lexicon_entries=start.lexicon_entries,
        limits=StreamLimits(idle_text_s=limits.native.idle_text_s, total_s=limits.stream_s),
    )
    return Order(
        encoding=encoding,
        voice=VoiceQuery(start.voice, stand_ins=ALIASES),
        speaking=speaking,
        max_characters=limits.native.max_characters,
        must_sound=must_sound,
        progress=progress,
    )


def change_of(config: Config) -> SpeakingChange:
    """Return the change that a ``config`` asks for.

    Raises:
        InvalidRequest: The chunking is wrong.
    """
    chunking = None if config.chunking is None else parse_chunking(config.chunking)
    return SpeakingChange(config.speed, chunking, config.language, config.effects)
