"""Log messages of workers and the scheduler."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

from yuliu.engines.registry import local_spec
from yuliu.engines.tone import ToneEngine, ToneScript
from yuliu.scheduler.scheduler import Scheduler
from yuliu.scheduler.settings import Settings
from yuliu.scheduler.workers.api import WorkerDied
from yuliu.server.log import JsonFormatter

if TYPE_CHECKING:
    import pytest


class UnclosableEngine(ToneEngine):
    """Cannot be closed."""

    def close(self) -> None:
        raise RuntimeError("xylophone")


def test_losses_are_logged_as_fields(caplog: pytest.LogCaptureFixture) -> None:
    """Each value has a name, so that logs can be searched, and none quotes an error."""
    engines = [UnclosableEngine(ToneScript()), ToneEngine()]
    scheduler = Scheduler([local_spec("tone", lambda: engines.pop(0))], Settings(num_workers=1))
    worker = scheduler._pool._members["worker-0"].worker
    scheduler.report(WorkerDied("worker-0", RuntimeError("xylophone")))
    worker.join(10)
    scheduler.close()
    records = [record for record in caplog.records if record.levelno >= logging.ERROR]
    lines = {line["event"]: line for line in (json.loads(JsonFormatter().format(record)) for record in records)}
    assert (
        lines["worker_lost"] | {"name": "worker-0", "reason": "crashed", "error": "RuntimeError"}
        == lines["worker_lost"]
    )
    assert lines["engine_not_closed"]["worker"] == "worker-0"
    assert lines["engine_not_closed"]["at"].startswith("test_thread.py:")
    assert "xylophone" not in caplog.text
