"""The part ``peers``: the same weights and clients, with hibari's own library behind plain HTTP as the other server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from yuliu.bench.load.figures import percentile_of, ratio, shown
from yuliu.bench.load.point import LoadShape, LoadTiming, observe
from yuliu.bench.server_process import ServerProcess

if TYPE_CHECKING:
    from yuliu.bench.load.point import LoadConfig
    from yuliu.bench.texts import LengthShares

NUM_CLIENTS = 8
VOICE = "heart"
PROGRAM = (str(Path(__file__).with_name("hibari_server.py")),)
MIX: LengthShares = (("short", 1), ("paragraph", 1))


def measure_peers(config: LoadConfig) -> dict[str, Any]:
    """Measure eight clients that send the next request when served, and eight that first play the audio."""
    timing = LoadTiming(config.timing.seconds / 2, config.timing.warm_up_s / 2)
    rows = []
    for name in ("yuliu", "hibari"):
        with config.server() if name == "yuliu" else ServerProcess(program=PROGRAM) as server:
            for paced in (False, True):
                shape = LoadShape((VOICE,), NUM_CLIENTS, shares=MIX, paced=paced, seed="peers")
                observed = observe(server, timing, {"load": shape.driver(timing)})
                rows.append({"server": name, "paced": paced, **observed.machine, **observed.figures("load")})
        config.progress(f"peers: {name}, TTFP p95 {shown(percentile_of(rows[-2]['ttfp_ms'], 'p95'))} ms")
    return {"voice": VOICE, "clients": NUM_CLIENTS, "rows": rows, "p95_ratio": _p95_ratio(rows, paced=False)}


def _p95_ratio(rows: list[dict[str, Any]], *, paced: bool) -> float | None:
    """Return the other server's p95 of the time to first packet as a multiple of ours."""
    ours, theirs = (percentile_of(row["ttfp_ms"], "p95") for row in rows if row["paced"] == paced)
    return ratio(theirs, ours)
