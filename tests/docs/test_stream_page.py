"""The native stream page is complete."""

from __future__ import annotations

import re

import pytest
from pages import ROOT, Page

from yuliu.audio.formats import FORMATS
from yuliu.server.limits import NativeLimits
from yuliu.wire.native.decode import KINDS, MAX_MESSAGE_BYTES
from yuliu.wire.native.encode import MAX_SOUND_BYTES, TYPES
from yuliu.wire.native.messages import Close
from yuliu.wire.native.protocol import MAX_CONTEXTS, MAX_REFUSED, _No

pytestmark = pytest.mark.parametrize("lang", ["en", "zh"])


def page(lang: str) -> str:
    return Page(ROOT / "docs" / lang / "reference" / "native-stream.md").text


def quoted(text: str) -> set[str]:
    return set(re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)))


def test_client_messages_are_listed(lang: str) -> None:
    """Each message has a row with its fields; those of ``start`` have a separate table."""
    for kind, known in KINDS.items():
        row = re.search(rf"^\| `{kind}` \|.*$", page(lang), re.MULTILINE)
        assert row, kind
        assert set(known) <= quoted(page(lang) if kind == "start" else row[0]), kind
    assert set(FORMATS) <= quoted(page(lang))


def test_server_messages_are_listed(lang: str) -> None:
    """Each message has a row with its fields."""
    everywhere = {"context", "seq"}
    for message, kind in TYPES.items():
        row = re.search(rf"^\| `{kind}` \|.*$", page(lang), re.MULTILINE)
        assert row, kind
        own = set(message.__struct_encode_fields__)
        assert own - everywhere <= quoted(row[0]), kind


def test_codes_and_limits_are_listed(lang: str) -> None:
    """The page lists close codes, errors, and the number of every limit."""
    for code in Close:
        assert re.search(rf"^\| {code.value} \|", page(lang), re.MULTILINE), code
    assert {no.value[0] for no in _No if no.value[0]} <= quoted(page(lang))
    limits = NativeLimits()
    numbers = [
        limits.max_characters,
        limits.idle_s,
        limits.idle_text_s,
        limits.ping_s,
        limits.kept_bytes,
        limits.kept_total_bytes,
    ]
    numbers += [limits.kept_s, limits.drain_s, MAX_CONTEXTS, MAX_REFUSED, MAX_MESSAGE_BYTES, MAX_SOUND_BYTES]
    for number in numbers:
        assert re.search(rf"(?<![\d,]){number:,.0f}(?![\d,])", page(lang)), number
