"""What all tests share: asyncio as the backend, a guard against blocking calls on the event loop, toy synthesizers,
examples that may take their time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from blockbuster import blockbuster_ctx
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.synthesizer import Synthesizer

# How long an example takes says how busy the machine is, and nothing of what is tried.
settings.register_profile("yuliu", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("yuliu")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Streams hand their chunks from worker threads to an asyncio loop."""
    return "asyncio"


@pytest.fixture(autouse=True)
def no_blocking_calls() -> Iterator[None]:
    """A blocking call of ours on the event loop fails the test."""
    with blockbuster_ctx("yuliu") as guard:
        # The scheduler's lock is held for microseconds, never while an engine works.
        guard.functions["threading.Lock.acquire"].deactivate()
        guard.functions["threading.Lock.acquire_lock"].deactivate()
        # One look at a local file's date when a stream is opened, microseconds; the server does it on a thread.
        guard.functions["os.stat"].can_block_in("yuliu/lexicon_store.py", "_stamp")
        yield


@pytest.fixture
def tone_synthesizer() -> Iterator[Synthesizer]:
    """A synthesizer with one weightless voice, ``tone``."""
    from yuliu.engines.registry import local_spec
    from yuliu.engines.tone import ToneEngine
    from yuliu.synthesizer import Synthesizer

    with Synthesizer(
        [local_spec("tone", ToneEngine)], {"tone": {"zh": "tone", "en": "tone"}}, default="tone"
    ) as synthesizer:
        yield synthesizer
