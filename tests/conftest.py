"""Fixtures and settings of all tests: the asyncio backend, a guard against blocking calls on the event loop, toy
synthesizers, and no deadline for hypothesis."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from blockbuster import blockbuster_ctx
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from yuliu.synthesizer import Synthesizer

# The duration of an example depends on the load of the machine and says nothing about the code under test.
settings.register_profile("yuliu", deadline=None, suppress_health_check=[HealthCheck.too_slow])
# The coverage gate draws the same examples each time, so that no branch is covered by chance.
settings.register_profile("coverage", settings.get_profile("yuliu"), derandomize=True, database=None)
settings.load_profile("coverage" if "YULIU_COVERAGE_GATE" in os.environ else "yuliu")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Use asyncio: streams hand chunks from worker threads to an asyncio loop."""
    return "asyncio"


@pytest.fixture(autouse=True)
def no_blocking_calls() -> Iterator[None]:
    """Fail a test in which our code makes a blocking call on the event loop."""
    with blockbuster_ctx("yuliu") as guard:
        # The scheduler's lock is held for microseconds, and never while an engine works.
        guard.functions["threading.Lock.acquire"].deactivate()
        guard.functions["threading.Lock.acquire_lock"].deactivate()
        # Opening a stream checks the date of a local file, for microseconds; the server does that on a thread.
        guard.functions["os.stat"].can_block_in("yuliu/lexicon_store.py", "_stamp")
        yield


@pytest.fixture
def tone_synthesizer() -> Iterator[Synthesizer]:
    """Return a synthesizer with one weightless voice, ``tone``."""
    from yuliu.engines.registry import local_spec
    from yuliu.engines.tone import ToneEngine
    from yuliu.synthesizer import Synthesizer

    with Synthesizer(
        [local_spec("tone", ToneEngine)], {"tone": {"zh": "tone", "en": "tone"}}, default="tone"
    ) as synthesizer:
        yield synthesizer
