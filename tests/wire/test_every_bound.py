"""Every bound that ``wire`` and ``server`` define is tested at its edge, here or in a test that is named here."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import yuliu
from yuliu.errors import InvalidRequest
from yuliu.types import MAX_SPEED, MIN_SPEED
from yuliu.wire.feedback import parse_feedback
from yuliu.wire.keys import (
    MAX_CHARACTERS,
    MAX_KEYS,
    MAX_PER_MINUTE,
    MAX_STREAMS,
    ApiKey,
    parse_keys,
    shown_key,
)
from yuliu.wire.native import decode, messages
from yuliu.wire.native.body_codec import LINES, Body
from yuliu.wire.openai import SpeechLimits, parse_speech
from yuliu.wire.phrases import (
    MAX_PHRASE_CHARACTERS,
    MAX_PHRASES,
    MAX_TOTAL_CHARACTERS,
    check_total,
    parse_phrase_file,
    parse_phrases,
)
from yuliu.wire.preset_fields import MAX_LEAD_S, MIN_LEAD_S
from yuliu.wire.synthesis_options import MAX_LEAD_IN_MS, MAX_SEED, MAX_WEIGHT, MIN_WEIGHT, parse_synthesis_options

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCE = Path(yuliu.__file__).parent
TESTS = Path(__file__).parents[1]
JSON = "application/json"


def speech(**fields: Any) -> object:
    return parse_speech(json.dumps({"input": "a", **fields}).encode(), JSON, SpeechLimits())


def digits(number: int) -> object:
    return parse_speech(b'{"input": "a", "ignored": ' + b"9" * number + b"}", JSON, SpeechLimits())


def phrases(*texts: str) -> object:
    return parse_phrases(json.dumps({"phrases": texts}).encode(), JSON)


def keys(number: int) -> object:
    rows = [{"name": f"k{index}", "sha256": f"{index:064x}"} for index in range(number)]
    return parse_keys(json.dumps({"version": 1, "keys": rows}).encode())


def key(**terms: Any) -> object:
    return ApiKey("a", "0" * 64, **terms)


def message(kind: str, **fields: Any) -> object:
    return decode.message_of({"type": kind, "context": "a", **fields})


def line(num_characters: int) -> object:
    return Body(LINES, {}).push(b" " * num_characters)


def shown(num_characters: int) -> object:
    found = shown_key({"x-api-key": "k" * num_characters})
    if found is None:
        raise InvalidRequest("it is none")
    return found


EDGES: dict[str, list[tuple[Callable[[], object], Callable[[], object]]]] = {
    "types.MIN_SPEED": [
        (lambda: speech(speed=MIN_SPEED), lambda: speech(speed=MIN_SPEED - 1e-9)),
        (lambda: message("start", speed=MIN_SPEED), lambda: message("start", speed=MIN_SPEED - 1e-9)),
        (lambda: message("config", speed=MIN_SPEED), lambda: message("config", speed=MIN_SPEED - 1e-9)),
    ],
    "types.MAX_SPEED": [
        (lambda: speech(speed=MAX_SPEED), lambda: speech(speed=MAX_SPEED + 1e-9)),
        (lambda: message("start", speed=MAX_SPEED), lambda: message("start", speed=MAX_SPEED + 1e-9)),
        (lambda: message("config", speed=MAX_SPEED), lambda: message("config", speed=MAX_SPEED + 1e-9)),
    ],
    "wire.phrases.MAX_PHRASES": [
        (lambda: phrases(*"a" * MAX_PHRASES), lambda: phrases(*"a" * (MAX_PHRASES + 1))),
        (lambda: check_total("a" * MAX_PHRASES), lambda: check_total("a" * (MAX_PHRASES + 1))),
    ],
    "wire.phrases.MAX_PHRASE_CHARACTERS": [
        (lambda: phrases("a" * MAX_PHRASE_CHARACTERS), lambda: phrases("a" * (MAX_PHRASE_CHARACTERS + 1))),
        (
            lambda: parse_phrase_file("a" * MAX_PHRASE_CHARACTERS, where="f"),
            lambda: parse_phrase_file("a" * (MAX_PHRASE_CHARACTERS + 1), where="f"),
        ),
    ],
    "wire.phrases.MAX_TOTAL_CHARACTERS": [
        (lambda: check_total(["a" * MAX_TOTAL_CHARACTERS]), lambda: check_total(["a" * MAX_TOTAL_CHARACTERS, "a"]))
    ],
    "wire.synthesis_options.MIN_WEIGHT": [
        (lambda: speech(weight=MIN_WEIGHT), lambda: speech(weight=MIN_WEIGHT - 1e-9)),
        (lambda: key(weight=MIN_WEIGHT), lambda: key(weight=MIN_WEIGHT - 1e-9)),
    ],
    "wire.synthesis_options.MAX_WEIGHT": [
        (lambda: speech(weight=MAX_WEIGHT), lambda: speech(weight=MAX_WEIGHT + 1e-9)),
        (lambda: key(weight=MAX_WEIGHT), lambda: key(weight=MAX_WEIGHT + 1e-9)),
        (
            lambda: parse_synthesis_options({}, {"x-yuliu-weight": "10"}),
            lambda: parse_synthesis_options({}, {"x-yuliu-weight": "10.1"}),
        ),
    ],
    "wire.synthesis_options.MAX_LEAD_IN_MS": [
        (lambda: speech(lead_in_ms=MAX_LEAD_IN_MS), lambda: speech(lead_in_ms=MAX_LEAD_IN_MS + 1))
    ],
    "wire.preset_fields.MIN_LEAD_S": [
        (lambda: speech(max_lead_s=MIN_LEAD_S), lambda: speech(max_lead_s=MIN_LEAD_S - 1e-9))
    ],
    "wire.preset_fields.MAX_LEAD_S": [
        (lambda: speech(max_lead_s=MAX_LEAD_S), lambda: speech(max_lead_s=MAX_LEAD_S + 1e-9))
    ],
    "wire.strict_json._MAX_DIGITS": [(lambda: digits(4300), lambda: digits(4301))],
    "wire.synthesis_options.MAX_SEED": [(lambda: speech(seed=MAX_SEED), lambda: speech(seed=MAX_SEED + 1))],
    "wire.native.decode.MAX_MESSAGE_BYTES": [
        (lambda: line(decode.MAX_MESSAGE_BYTES), lambda: line(decode.MAX_MESSAGE_BYTES + 1))
    ],
    "wire.native.messages.MAX_RESUME_S": [
        (
            lambda: message("start", resume_s=messages.MAX_RESUME_S),
            lambda: message("start", resume_s=messages.MAX_RESUME_S + 1e-9),
        )
    ],
    "wire.native.messages.MAX_PING_ID_CHARACTERS": [
        (
            lambda: decode.message_of({"type": "ping", "id": "a" * messages.MAX_PING_ID_CHARACTERS}),
            lambda: decode.message_of({"type": "ping", "id": "a" * (messages.MAX_PING_ID_CHARACTERS + 1)}),
        )
    ],
    "wire.native.messages.MAX_WHOLE": [
        (
            lambda: message("resume", stream="a", offset=messages.MAX_WHOLE, seq=0),
            lambda: message("resume", stream="a", offset=messages.MAX_WHOLE + 1, seq=0),
        )
    ],
    "wire.native.messages.MAX_MS": [
        (
            lambda: message("playback", position_ms=messages.MAX_MS),
            lambda: message("cancel", position_ms=messages.MAX_MS + 1),
        )
    ],
    "wire.keys.MAX_KEYS": [(lambda: keys(MAX_KEYS), lambda: keys(MAX_KEYS + 1))],
    "wire.keys.MAX_PER_MINUTE": [(lambda: key(per_minute=MAX_PER_MINUTE), lambda: key(per_minute=MAX_PER_MINUTE + 1))],
    "wire.keys.MAX_STREAMS": [(lambda: key(streams=MAX_STREAMS), lambda: key(streams=MAX_STREAMS + 1))],
    "wire.keys.MAX_CHARACTERS": [(lambda: key(characters=MAX_CHARACTERS), lambda: key(characters=MAX_CHARACTERS + 1))],
    "wire.keys._MAX_SHOWN": [(lambda: shown(256), lambda: shown(257))],
}
"""For each bound, a value that is still accepted and one that is not."""
ELSEWHERE = {
    "wire.lexicons.MAX_BODY_BYTES": "server/test_request_body.py::test_a_body_too_large_is_not_read",
    "wire.phrases.MAX_BODY_BYTES": "server/test_request_body.py::test_a_body_too_large_is_not_read",
    "wire.feedback.MAX_BODY_BYTES": "server/test_request_body.py::test_a_body_too_large_is_not_read",
    "wire.openai_events.MAX_SOUND_BYTES": "wire/test_openai_events.py::test_audio_arrives_unchanged",
    "wire.native.encode.MAX_SOUND_BYTES": "wire/native/test_replay_buffer.py::test_audio_is_cut_into_frames",
    "wire.native.protocol.MAX_CONTEXTS": "wire/native/test_protocol.py::test_the_number_of_open_contexts_is_bounded",
    "wire.native.protocol.MAX_OVER": ("wire/native/test_protocol.py::test_finished_contexts_are_forgotten_eventually"),
    "wire.native.protocol.MAX_REFUSED": (
        "wire/native/test_protocol.py::test_a_client_that_sends_only_invalid_messages_is_disconnected"
    ),
    "delivery.encoder_pool.MAX_WHOLE_S": "server/test_speech_whole.py::test_too_long_audio_is_refused_with_a_remedy",
    "server.transport.websocket.MAX_FRAGMENTS": "server/native/test_hostile.py::test_messages_in_fragments",
    "server.transport.websocket.MAX_PONGS_BYTES": (
        "server/native/test_hostile.py::test_pings_whose_answers_are_not_read"
    ),
    "server.transport.flow_control.MAX_UNANSWERED_BYTES": (
        "server/native/test_flow_control.py::test_audio_waits_for_pongs"
    ),
    "server.endpoints.native.websocket.MAX_ANSWERS": "server/native/test_hostile.py::test_answers_that_are_not_read",
    "server.transport.http.MAX_TURNED_AWAY": (
        "server/test_clients.py::test_connections_far_above_the_limit_are_refused_at_once"
    ),
    "server.transport.http.MAX_UPGRADE_LINES": "server/test_upgrades.py::test_a_handshake_too_large_is_refused",
    "server.transport.http.MAX_UPGRADE_LINE_BYTES": "server/test_upgrades.py::test_a_handshake_too_large_is_refused",
}
"""Tests of bounds that take more than one call."""
NONE = ("delivery.encoder_pool.MAX_THREADS",)
"""Constants that are named like bounds but do not limit what a client sends."""


def bounds() -> set[str]:
    """Return all module-level names that are written like a bound."""
    found = set()
    for folder in ("wire", "server", "delivery", "access"):
        for path in (SOURCE / folder).rglob("*.py"):
            module = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                for target in node.targets if isinstance(node, ast.Assign) else ():
                    names = target.elts if isinstance(target, ast.Tuple) else [target]
                    found |= {
                        f"{module}.{name.id}"
                        for name in names
                        if isinstance(name, ast.Name) and name.id.lstrip("_").startswith(("MAX_", "MIN_"))
                    }
    return found


def test_every_bound_is_listed() -> None:
    """A new bound needs an entry that states how it is tested."""
    assert bounds() - set(EDGES) - set(ELSEWHERE) - set(NONE) == set()


@pytest.mark.parametrize("name", ELSEWHERE)
def test_tests_in_other_files_exist(name: str) -> None:
    """A renamed test must be renamed here as well."""
    path, _, test = ELSEWHERE[name].partition("::")
    assert f"def {test}(" in (TESTS / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", EDGES)
def test_a_value_at_the_bound_is_accepted_and_one_beyond_is_not(name: str) -> None:
    """This holds for each bound of the table."""
    for taken, refused in EDGES[name]:
        taken()
        with pytest.raises(InvalidRequest):
            refused()


def test_feedback_at_its_limit_is_read() -> None:
    """The bound is large enough for any valid feedback."""
    body = json.dumps({"stream": "a" * 128, "kind": "click"})
    assert parse_feedback(body.encode(), JSON).stream == "a" * 128
