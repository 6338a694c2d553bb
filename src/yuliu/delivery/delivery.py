"""One text on its way to one client as encoded audio: the flow that all protocols share.

A delivery goes through these calls::

    Delivery(gateway, caller)                   accounted from here on: one line in the access log
        .open(order, principal)                 resolve the voice, apply the key's terms, admit
        .write .flush .change .end_text         text, within limits, before and during the run
        .run(sink)                              synthesise, encode, send events to the sink
        .played .cancel .fail                   what client and server say meanwhile
        .close()                                give everything back

It belongs to one event loop and ends in exactly one of three ways: the last event that its sink gets is
``DeliveryFinished`` or ``DeliveryFailed``, or it was cancelled and the sink gets nothing more.
"""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from yuliu.access import Principal
from yuliu.delivery.access_log import AccessRecord
from yuliu.delivery.events import DeliveryFailed, DeliveryFinished, DeliveryStarted
from yuliu.delivery.order import resolve_voice, stream_options
from yuliu.delivery.production import Production
from yuliu.delivery.text_queue import TextQueue
from yuliu.errors import Closed, Overloaded, YuliuError
from yuliu.stream import check_lang
from yuliu.types import Cancelled, Finished

if TYPE_CHECKING:
    from collections.abc import Callable

    from yuliu.audio.formats import Encoding
    from yuliu.delivery.capacity import BodyReservation
    from yuliu.delivery.encoder_pool import StreamEncoder, WholeEncoder
    from yuliu.delivery.gateway import Gateway
    from yuliu.delivery.order import Order
    from yuliu.delivery.production import Sink
    from yuliu.delivery.text_queue import SpeakingChange
    from yuliu.stream import Caller, Stream, StreamOptions
    from yuliu.synthesizer import Synthesizer
    from yuliu.types import Ending, Heard


@dataclass(frozen=True, slots=True)
class Accepted:
    """An order that was accepted, and what it comes to."""

    order: Order
    synthesizer: Synthesizer
    voice: str
    encoding: Encoding
    options: StreamOptions
    texts: TextQueue
    held: BodyReservation
    """Memory that the delivery holds."""


class Delivery:
    """One text on its way to one client. Also a context manager that closes it, and counts a ``YuliuError`` as refusal.

    Args:
        gateway: Shared parts of all deliveries.
        caller: Protocol and id of the request.
    """

    def __init__(self, gateway: Gateway, caller: Caller) -> None:
        self.caller = caller
        self.record = AccessRecord(caller)
        self.principal = Principal()
        self.error: YuliuError | None = None
        """Error that refused or ended the delivery."""
        self.is_cancelled: bool = False
        self._gateway = gateway
        self._accepted: Accepted | None = None
        self._stream: Stream | None = None
        self._production: Production | None = None
        self._is_writer_lost = self._is_closed = False
        self._held = ExitStack()

    def __enter__(self) -> Self:
        """The delivery."""
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        """Close it."""
        if isinstance(error, YuliuError):
            self.fail(error)
        self.close()

    # Opening and closing.

    def open(self, order: Order, principal: Principal) -> None:
        """Accept an order, and take what it needs of the server's capacity and the principal's quotas.

        Raises:
            VoiceNotReady: No voices are loaded yet.
            UnknownVoice: The voice is not loaded.
            InvalidRequest: The audio, the preset or the language cannot be had.
            NotAllowed: The principal's key was revoked.
            QuotaExceeded: The principal has too many streams, or made too many requests.
            Overloaded: The server has too many streams.
        """
        self.principal = principal
        try:
            self._accepted = self._accept(order, principal)
        except YuliuError as error:
            self.fail(error)
            raise

    def close(self) -> None:
        """Give everything back and write the line of the access log. May be called again."""
        if self._is_closed:
            return
        self._is_closed = True
        self._held.close()
        if isinstance(self.error, Overloaded) and self._accepted is not None and not self.record.has_sent:
            self.principal.give_back(self._accepted.texts.num_charged)
        if self.ending is not None:
            self.record.ended(self.ending)
        if self.error is not None:
            self.record.failed(self.error)
        elif self.ending is None and self.is_cancelled:
            self.record.cancelled()
        self.record.close()

    # What the client sends.

    def write(self, text: str) -> None:
        """Add text. A text that breaks a limit fails the delivery."""
        self._put(lambda texts: texts.write(text))

    def flush(self) -> None:
        """Speak the text so far without waiting for more."""
        self._put(TextQueue.flush)

    def change(self, change: SpeakingChange) -> None:
        """Change settings for the text that follows.

        Raises:
            InvalidRequest: The change cannot be made; nothing is changed.
        """
        self._order.texts.check(change)
        self._put(lambda texts: texts.change(change))

    def end_text(self) -> None:
        """Add no more text."""
        self._put(TextQueue.end)

    @property
    def is_open(self) -> bool:
        """True once an order was accepted."""
        return self._accepted is not None

    @property
    def num_characters(self) -> int:
        """Length of the text received so far."""
        return self._accepted.texts.num_characters if self._accepted is not None else 0

    @property
    def text_ended(self) -> bool:
        """True once no more text may come."""
        return self._accepted is not None and self._accepted.texts.text_ended

    def played(self, position_s: float, *, left_s: float) -> None:
        """Note the playback position of the listener.

        Args:
            position_s: Length of the audio that was heard.
            left_s: Length of the audio that was sent and not heard.
        """
        if self._stream is not None and self._production is not None:
            self._stream.played(position_s)
            self._production.left(left_s)

    def writer_lost(self) -> None:
        """Hold text back that might go on: the client's connection is lost and may come back."""
        self._is_writer_lost = True
        if self._stream is not None:
            self._stream.writer_lost()

    def writer_back(self) -> None:
        """Go on: the client is connected again."""
        self._is_writer_lost = False
        if self._stream is not None:
            self._stream.writer_back()

    # Running.

    async def run(self, sink: Sink) -> None:
        """Deliver audio to a sink until the end, a failure, or :meth:`cancel`."""
        if not self._is_over:
            try:
                await self._deliver(sink)
            except YuliuError as error:
                self.fail(error)
        if self.error is not None and not self.is_cancelled:
            await sink.send(DeliveryFailed(self.error, self.ending))

    def cancel(self, position_s: float | None = None) -> Ending:
        """Stop at once; the sink gets no further event.

        Args:
            position_s: Length of the audio that the listener has heard, if that is known.

        Returns:
            How the stream ended.
        """
        self.is_cancelled = True
        ending = Cancelled() if self._stream is None else self._stream.cancel(position_s)
        self._stop()
        return ending

    def fail(self, error: YuliuError) -> None:
        """End the delivery with an error, after the audio that was sent so far. The first error counts."""
        if self.error is not None or self.is_cancelled:
            return
        self.error = error
        self._gateway.metrics.error_told(self.caller.door, error.code)
        if self._stream is not None:
            self._stream.cancel()
        self._stop()

    @property
    def ending(self) -> Ending | None:
        """Ending of the stream; None before it has ended, or if there is no stream."""
        return self._stream.ending if self._stream is not None else None

    @property
    def stream(self) -> Stream | None:
        """The stream; None before it is opened."""
        return self._stream

    def heard(self) -> Heard | None:
        """Return the part that the listener has heard; None if no position was ever given."""
        return self._stream.heard() if self._stream is not None else None

    @property
    def _is_over(self) -> bool:
        return self.is_cancelled or self.error is not None

    @property
    def _order(self) -> Accepted:
        if self._accepted is None:
            raise Closed("this delivery has no order; open it first")
        return self._accepted

    def _accept(self, order: Order, principal: Principal) -> Accepted:
        synthesizer, presets = self._gateway.synthesizer(), self._gateway.presets
        voice = resolve_voice(order.voice, synthesizer.voices, synthesizer.default)
        encoding = order.encoding(synthesizer.rate(voice))
        options = principal.granted(stream_options(order.speaking, presets), order.speaking.manner)
        options = replace(options, sample_rate=synthesizer.stream_rate(voice, options, encoding.sample_rate))
        languages, stream_class = synthesizer.languages(voice), options.terms.stream_class
        check_lang(options.lang, languages)
        self.record.accepted(voice, encoding.name, stream_class.value)
        with ExitStack() as taken:
            taken.enter_context(principal.stream())
            taken.enter_context(self._gateway.capacity.stream(stream_class))
            held = taken.enter_context(self._gateway.capacity.body(stream_class))
            self._held = taken.pop_all()
        texts = TextQueue(order.max_characters, options.effects, languages, principal=principal, held=held)
        return Accepted(order, synthesizer, voice, encoding, options, texts, held)

    def _put(self, put: Callable[[TextQueue], None]) -> None:
        texts = self._order.texts
        if self._is_over:
            return
        try:
            put(texts)
        except YuliuError as error:
            self.fail(error)
        self.record.written(texts.num_characters)

    async def _deliver(self, sink: Sink) -> None:
        accepted = self._order
        synthesizer, options = accepted.synthesizer, accepted.options
        with self._encoder(accepted) as encoder:
            words = await asyncio.to_thread(synthesizer.words, options)
            if self._is_over:
                return
            stream = synthesizer.stream(voice=accepted.voice, options=options, words=words, caller=self.caller)
            self._stream = stream
            if self._is_writer_lost:
                stream.writer_lost()
            async with stream, asyncio.TaskGroup() as tasks:
                production = self._production = Production(accepted.order, stream, encoder, sink, self.record)
                await sink.send(self._started(stream, accepted))
                pushing = tasks.create_task(self._push(stream, accepted.texts))
                await self._produce(production)
                pushing.cancel()
        if isinstance(stream.ending, Finished) and not self._is_over:
            await sink.send(DeliveryFinished(stream.ending, self.num_characters, production.has_sound))

    def _started(self, stream: Stream, accepted: Accepted) -> DeliveryStarted:
        self.record.admitted(degraded=stream.degraded)
        return DeliveryStarted(accepted.voice, accepted.encoding, stream.degraded, accepted.options.lead_in_ms)

    async def _produce(self, production: Production) -> None:
        """Produce all audio. An error must not reach the task group, which would wrap it."""
        try:
            await production.run()
        except YuliuError as error:
            self.fail(error)
        finally:
            production.stop()

    async def _push(self, stream: Stream, texts: TextQueue) -> None:
        try:
            await texts.push_into(stream)
        except Closed:
            return  # the stream is over, which the production learns
        except YuliuError as error:
            self.fail(error)

    def _encoder(self, accepted: Accepted) -> StreamEncoder | WholeEncoder:
        encoders = self._gateway.encoders
        rate = accepted.options.sample_rate or accepted.synthesizer.rate(accepted.voice)
        if accepted.order.is_whole:
            return encoders.whole_encoder(accepted.encoding, rate, accepted.held.take)
        return encoders.stream_encoder(accepted.encoding, rate)

    def _stop(self) -> None:
        if self._production is not None:
            self._production.stop()
