"""All parts of the endpoint suite, one after the other, in one report."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from bench.corpus import token_streams
from bench.endpoints import ENDPOINT_PARTS
from bench.endpoints.encoding import MONITORED_SERVER, measure_encoding
from bench.endpoints.incremental import measure_native, measure_tokens
from bench.endpoints.targets import check_targets
from bench.endpoints.waterfall import measure_waterfall
from yuliu.bench.endpoints import EndpointConfig, measure_formats, open_testbed
from yuliu.bench.report import started_report
from yuliu.explanation import Explainer

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from bench.endpoints import EndpointPart
    from yuliu.bench.endpoints import Testbed


@dataclass(frozen=True, slots=True)
class EndpointSuite:
    """Everything that the suite measures."""

    config: EndpointConfig = field(default_factory=EndpointConfig)
    recordings: Sequence[Mapping[str, Any]] = field(default_factory=token_streams)
    """Texts as a language model wrote them, for the part ``tokens``."""
    monitored_server: tuple[str, ...] = MONITORED_SERVER
    """Server for the part ``encoding``, as arguments of ``python``."""


def run_endpoint_suite(suite: EndpointSuite, parts: Collection[EndpointPart], command: str) -> dict[str, Any]:
    """Measure some parts; all of them take six minutes with nine rounds.

    Raises:
        VoiceNotReady: The voice is not installed.
        RuntimeError: A server did not start, or a response held no audio.
    """
    config = suite.config
    began_s = time.perf_counter()
    report = started_report(command) | {"rounds": config.rounds, "voice": config.voice}
    done: dict[str, Any] = {}
    with_testbed = [part for part in ENDPOINT_PARTS if part in parts and part != "encoding"]
    if with_testbed:
        with open_testbed(config) as testbed:
            explainer = Explainer()
            for part in with_testbed:
                done[part] = _measure(part, suite, testbed, explainer)
    if "encoding" in parts:
        done["encoding"] = measure_encoding(config, suite.monitored_server)
    checks = [asdict(check) for check in check_targets(done)]
    return report | {"took_s": round(time.perf_counter() - began_s, 1), "requirements": checks, "parts": done}


def _measure(part: EndpointPart, suite: EndpointSuite, testbed: Testbed, explainer: Explainer) -> Any:  # noqa: ANN401 - JSON
    match part:
        case "formats":
            return measure_formats(suite.config, testbed)
        case "native":
            return measure_native(suite.config, testbed, explainer)
        case "tokens":
            return measure_tokens(suite.config, testbed, explainer, suite.recordings)
        case _:
            return measure_waterfall(suite.config, testbed)
