"""Delivery: one flow from a client's text to its encoded audio, for all protocols.

``delivery`` holds the flow, ``order`` what a protocol orders, ``events`` what it gets back, ``production`` the way from
chunks to events, ``text_queue`` the way of the text, ``capacity`` and ``encoder_pool`` what deliveries share. Nothing
here knows HTTP, JSON or a web framework.
"""

from yuliu.delivery.delivery import Delivery
from yuliu.delivery.events import (
    AudioEncoded,
    DeliveryEvent,
    DeliveryFailed,
    DeliveryFinished,
    DeliveryStarted,
    MarksReached,
    PlaybackResumed,
    PlaybackStalled,
    SegmentStarted,
)
from yuliu.delivery.gateway import Gateway
from yuliu.delivery.order import Order, SpeakingQuery, VoiceQuery, resolve_voice, stream_options
from yuliu.delivery.production import Sink
from yuliu.delivery.text_queue import SpeakingChange

__all__ = (
    "AudioEncoded",
    "Delivery",
    "DeliveryEvent",
    "DeliveryFailed",
    "DeliveryFinished",
    "DeliveryStarted",
    "Gateway",
    "MarksReached",
    "Order",
    "PlaybackResumed",
    "PlaybackStalled",
    "SegmentStarted",
    "Sink",
    "SpeakingChange",
    "SpeakingQuery",
    "VoiceQuery",
    "resolve_voice",
    "stream_options",
)
