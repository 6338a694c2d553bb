"""The flow of one delivery, without a protocol: what its sink gets, and what is given back."""

from __future__ import annotations

import asyncio
import functools
import logging
from typing import TYPE_CHECKING, Any

import pytest
from serving import tone_synthesizer

from yuliu.access import Principal
from yuliu.access.quotas import KeyUsage
from yuliu.delivery import (
    AudioEncoded,
    Delivery,
    DeliveryFailed,
    DeliveryFinished,
    DeliveryStarted,
    Gateway,
    Order,
    PlaybackStalled,
    SegmentStarted,
    VoiceQuery,
)
from yuliu.delivery.capacity import Capacity
from yuliu.delivery.encoder_pool import EncoderPool
from yuliu.engines.tone import ToneEngine
from yuliu.errors import Closed, Overloaded, QuotaExceeded, UnknownVoice
from yuliu.metrics.metrics import Metrics
from yuliu.presets import presets
from yuliu.stream import Caller
from yuliu.wire.encoding import encoding_asked_for
from yuliu.wire.keys import ApiKey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.delivery import DeliveryEvent

PCM = functools.partial(encoding_asked_for, "pcm", field="format", sample_rate=None, channels=1, kbps=None)


class ListSink:
    """Sink that keeps its events."""

    def __init__(self) -> None:
        self.events: list[DeliveryEvent] = []
        self.is_begun = asyncio.Event()

    async def send(self, event: DeliveryEvent) -> None:
        self.events.append(event)
        self.is_begun.set()

    def stalled(self, _: PlaybackStalled) -> bool:
        return False

    def stop(self) -> None:
        pass


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    """A gateway with room for one stream and 1,000 bytes."""
    metrics, encoders = Metrics(), EncoderPool(1)
    with tone_synthesizer(ToneEngine()) as synthesizer:
        yield Gateway(lambda: synthesizer, presets(), metrics, Capacity(1, 1_000, metrics), encoders)
    encoders.close()


def order(voice: str | None = None, **changes: Any) -> Order:
    return Order(encoding=PCM, voice=VoiceQuery(voice), **changes)


def keyed(**quotas: Any) -> tuple[Principal, KeyUsage]:
    key, usage = ApiKey("one", "0" * 64, **quotas), KeyUsage()
    return Principal(lambda: key, usage), usage


async def run(delivery: Delivery) -> list[DeliveryEvent]:
    sink = ListSink()
    await delivery.run(sink)
    return sink.events


async def test_events_come_in_order_and_everything_is_given_back(gateway: Gateway) -> None:
    """A text gives a start, segments, audio and an end; afterwards nothing is held."""
    with Delivery(gateway, Caller("test", "1")) as delivery:
        delivery.open(order(progress=True), Principal())
        delivery.write("Hello there.")
        delivery.end_text()
        assert gateway.capacity.num_streams == 1
        events = await run(delivery)
    assert isinstance(events[0], DeliveryStarted)
    assert isinstance(events[1], SegmentStarted)
    assert any(isinstance(event, AudioEncoded) and event.data for event in events)
    assert isinstance(events[-1], DeliveryFinished)
    assert events[-1].num_characters == 12
    assert (gateway.capacity.num_streams, gateway.capacity.num_body_bytes) == (0, 0)


async def test_a_failure_is_the_last_event(gateway: Gateway) -> None:
    """A text without sound fails; with ``must_sound`` false it finishes."""
    for must_sound, last in ((True, DeliveryFailed), (False, DeliveryFinished)):
        with Delivery(gateway, Caller("test", "1")) as delivery:
            delivery.open(order(must_sound=must_sound), Principal())
            delivery.end_text()
            assert isinstance((await run(delivery))[-1], last)


async def test_the_first_error_counts(gateway: Gateway) -> None:
    """Text that breaks a limit fails the delivery before it runs; later calls change nothing."""
    with Delivery(gateway, Caller("test", "1")) as delivery:
        delivery.open(order(), Principal())
        delivery.write("x" * 2_000)
        delivery.write("Hello.")
        delivery.fail(Closed("later"))
        (event,) = await run(delivery)
    assert isinstance(event, DeliveryFailed)
    assert isinstance(event.error, Overloaded)


async def test_a_cancelled_delivery_sends_nothing_more(gateway: Gateway) -> None:
    """Neither a failure nor an end follows, and the place is free."""
    with Delivery(gateway, Caller("test", "1")) as delivery:
        delivery.open(order(), Principal())
        sink = ListSink()
        running = asyncio.create_task(delivery.run(sink))
        await sink.is_begun.wait()
        delivery.cancel()
        delivery.fail(Closed("too late"))
        await running
    assert [type(event) for event in sink.events] == [DeliveryStarted]
    assert gateway.capacity.num_streams == 0


async def test_characters_are_refunded_if_the_server_is_overloaded(gateway: Gateway) -> None:
    """A text that could not be carried is not charged; one that was spoken is."""
    principal, usage = keyed(characters=12)
    with Delivery(gateway, Caller("test", "1")) as delivery:
        delivery.open(order(), principal)
        delivery.write("Hello there.")
        delivery.fail(Overloaded("not now", retry_after_s=1.0))
        await run(delivery)
    with Delivery(gateway, Caller("test", "2")) as delivery:
        delivery.open(order(), principal)
        delivery.write("Hello there.")
        delivery.end_text()
        await run(delivery)
    with pytest.raises(QuotaExceeded):
        principal.characters(1)
    assert usage.num_streams == 0


def test_a_refused_order_leaves_one_line_and_holds_nothing(gateway: Gateway, caplog: pytest.LogCaptureFixture) -> None:
    """The line has the protocol and the code of the error."""
    caplog.set_level(logging.INFO)
    with pytest.raises(UnknownVoice), Delivery(gateway, Caller("test", "1")) as delivery:
        delivery.open(order("nobody"), Principal())
    (line,) = [each.getMessage() for each in caplog.records if each.name == "yuliu.delivery.access_log"]
    assert line.startswith("test id=1 ")
    assert line.endswith("ending=unknown_voice")
    assert gateway.capacity.num_streams == 0
