"""Recorded requests and messages, right ones and wrong ones, with the code and the field of each refusal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from yuliu.errors import InvalidRequest
from yuliu.wire.feedback import parse_feedback
from yuliu.wire.keys import parse_keys
from yuliu.wire.lexicons import parse_lexicon
from yuliu.wire.native.client_codec import parse_reply
from yuliu.wire.native.decode import parse_message
from yuliu.wire.openai import SpeechLimits, parse_speech
from yuliu.wire.phrases import parse_phrases

if TYPE_CHECKING:
    from collections.abc import Callable

JSON = "application/json"
CASES: list[tuple[str, str, list[str | None] | None]] = [
    tuple(json.loads(line))
    for line in (Path(__file__).parents[1] / "wire" / "data")
    .joinpath("cases.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
"""Kind, document, and the code and field of the refusal; None if it is accepted."""
READERS: dict[str, Callable[[str], Any]] = {
    "speech": lambda text: parse_speech(text.encode(), JSON, SpeechLimits()),
    "phrases": lambda text: parse_phrases(text.encode(), JSON),
    "feedback": lambda text: parse_feedback(text.encode(), JSON),
    "lexicon": lambda text: parse_lexicon(text.encode(), "json"),
    "keys": lambda text: parse_keys(text.encode()),
    "message": parse_message,
    "reply": parse_reply,
}


def outcome(kind: str, text: str) -> list[str | None] | None:
    try:
        READERS[kind](text)
    except InvalidRequest as error:
        return [error.code, error.param]
    except ValueError:
        assert kind == "reply"
        return ["ValueError", None]
    return None
