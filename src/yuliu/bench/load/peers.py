"""The same weights, the same listeners, another server: hibari's own library behind plain HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from yuliu.bench.load.figures import of, ratio, shown
from yuliu.bench.load.point import Shape, Timing, observe
from yuliu.bench.process import ServerProcess

if TYPE_CHECKING:
    from yuliu.bench.load.setting import Setting
    from yuliu.bench.load.texts import Shares

CLIENTS = 8
VOICE = "heart"
PROGRAM = ("-m", "yuliu.bench.load.hibari_http")
MIX: Shares = (("short", 1), ("paragraph", 1))


def measure_peers(setting: Setting) -> dict[str, Any]:
    """Eight clients who ask again as soon as they were served, and eight who play what they got in real time."""
    timing = Timing(setting.timing.seconds / 2, setting.timing.warm_up_s / 2)
    rows = []
    for name in ("yuliu", "hibari"):
        with setting.server() if name == "yuliu" else ServerProcess(program=PROGRAM) as server:
            for paced in (False, True):
                shape = Shape((VOICE,), CLIENTS, shares=MIX, paced=paced, seed="peers")
                observed = observe(server, timing, {"load": shape.drive(timing)})
                rows.append({"server": name, "paced": paced, **observed.machine, **observed.figures("load")})
        setting.progress(f"peers: {name}, TTFP p95 {shown(of(rows[-2]['ttfp_ms'], 'p95'))} ms")
    return {"voice": VOICE, "clients": CLIENTS, "rows": rows, "p95_ratio": _ratio(rows, paced=False)}


def _ratio(rows: list[dict[str, Any]], *, paced: bool) -> float | None:
    """How many times longer the other server's p95 of the time to first packet is."""
    ours, theirs = (of(row["ttfp_ms"], "p95") for row in rows if row["paced"] == paced)
    return ratio(theirs, ours)
