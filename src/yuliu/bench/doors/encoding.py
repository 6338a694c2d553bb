"""The part ``encoding``: what encoding takes of the processor, and whether it holds an event loop."""

from __future__ import annotations

import http.client
import json
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from yuliu.audio.encode import Encoder
from yuliu.audio.formats import choose_encoding
from yuliu.bench.doors.holding import held_by_threads, held_idle, held_in_loop
from yuliu.bench.doors.ticking import PATH
from yuliu.bench.doors.ways import House
from yuliu.bench.process import ServerProcess
from yuliu.bench.report import spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from yuliu.audio.formats import FormatName
    from yuliu.bench.doors.setting import Setting
    from yuliu.types import Samples

LENGTH = "172"
PIECE_S = 0.1
"""So much sound is written at a time where only the encoder is measured."""

Row = dict[str, float]


def measure_encoding(setting: Setting) -> dict[str, Any]:
    """Each format in each round: by an encoder alone, in an event loop, and by a server whose loop is watched."""
    rows: dict[FormatName, list[Row]] = {name: [] for name in setting.formats}
    idle: list[Row] = []
    texts = [texts[LENGTH] for texts in setting.texts.values()]
    with setting.open_synthesizer() as synthesizer, ServerProcess(program=setting.ticking) as server:
        house = House(server.port, synthesizer, setting.voice)
        sound = np.concatenate([synthesizer.speak(text, voice=setting.voice).samples for text in texts])
        for number in range(-1, setting.few_rounds):
            found = {name: _figures(house, server, name, texts, sound) for name in setting.formats}
            quiet = held_idle()
            if number >= 0:
                idle.append(quiet)
                for name, row in found.items():
                    rows[name].append(row)
            setting.progress(
                f"encoding: round {number + 1} of {setting.few_rounds}" if number >= 0 else "encoding: warming up"
            )
        audio_s = len(sound) / synthesizer.sample_rate
    return {
        "audio_s": audio_s,
        "idle_p50_ms": spread(row["p50_ms"] for row in idle),
        "idle_ms": spread(row["max_ms"] for row in idle),
        "formats": [encoding_figures(name, found, rows["pcm"], audio_s=audio_s) for name, found in rows.items()],
    }


def _figures(house: House, server: ServerProcess, name: FormatName, texts: Sequence[str], sound: Samples) -> Row:
    rate = house.synthesizer.sample_rate
    encoding = choose_encoding(name, rate)
    threads, loop = held_by_threads(encoding, sound, rate), held_in_loop(encoding, sound, rate)
    return {
        "encoder_ms_per_s": _encoder_ms_per_s(name, sound, rate),
        "held_p50_ms": threads["p50_ms"],
        "held_ms": threads["max_ms"],
        "in_loop_p50_ms": loop["p50_ms"],
        "in_loop_ms": loop["max_ms"],
        **_served(house, server, name, texts),
    }


def _encoder_ms_per_s(name: FormatName, sound: Samples, rate: int) -> float:
    """CPU time of this process for each second of sound, that of an encoder's own threads included."""
    size = round(PIECE_S * rate)
    began_s = time.process_time()
    with Encoder(choose_encoding(name, rate), rate) as encoder:
        for start in range(0, len(sound), size):
            encoder.write(sound[start : start + size])
        encoder.finish()
    return 1e3 * (time.process_time() - began_s) * rate / len(sound)


def _served(house: House, server: ServerProcess, name: FormatName, texts: Sequence[str]) -> Row:
    """What a server takes, its voice included, and how late its ticks are."""
    _held(house.port)
    before_s = server.cpu_s()
    for text in texts:
        house.take("speech", text, name)
    return {"server_cpu_s": server.cpu_s() - before_s, "server_held_ms": _held(house.port)["max_ms"]}


def _held(port: int) -> Mapping[str, float]:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", PATH)
        with connection.getresponse() as response:
            held: Mapping[str, float] = json.loads(response.read())
            return held


def encoding_figures(name: FormatName, rows: Sequence[Row], pcm: Sequence[Row], *, audio_s: float) -> dict[str, Any]:
    """Of one format; what the server takes more than for PCM is over all rounds, since clocks of processes are coarse.

    Args:
        name: The format.
        rows: Of its rounds.
        pcm: Those of PCM, of the same texts.
        audio_s: Length of the sound of a round.
    """
    more_s = sum(row["server_cpu_s"] for row in rows) - sum(row["server_cpu_s"] for row in pcm)
    spreads = ("encoder_ms_per_s", "held_p50_ms", "held_ms", "in_loop_p50_ms", "in_loop_ms", "server_held_ms")
    return {"format": name, "server_more_ms_per_s": 1e3 * more_s / (audio_s * len(rows))} | {
        key: spread(row[key] for row in rows) for key in spreads
    }
