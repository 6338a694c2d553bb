"""Messages of the native protocol become orders of a delivery."""

from __future__ import annotations

import pytest

from yuliu.errors import InvalidRequest
from yuliu.server.endpoints.native.orders import change_of, order_of
from yuliu.server.limits import Limits
from yuliu.wire.native.messages import Config, Start


def test_a_wrong_chunking_is_refused_by_its_field() -> None:
    """The change is refused before it is queued, so that nothing is changed by half."""
    with pytest.raises(InvalidRequest) as refused:
        change_of(Config("a", chunking="nonsense"))
    assert refused.value.param == "chunking.strategy"


def test_a_start_becomes_an_order() -> None:
    """The voice, the limits and the encoding are those of the message."""
    order = order_of(Start("a", voice="tone", speed=2.0), Limits(), must_sound=False, progress=True)
    assert (order.voice.name, order.speaking.speed, order.max_characters) == ("tone", 2.0, 200_000)
    assert order.encoding(24_000).name == "pcm"
    assert not order.speaking.is_complete
