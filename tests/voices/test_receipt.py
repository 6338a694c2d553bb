"""The receipt of an installed voice."""

from __future__ import annotations

import json
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from yuliu.voices.installed import RECEIPT, InstalledFile, Receipt, read_receipt, write_receipt

NAMES = st.text("abc.-_", min_size=1, max_size=8).filter(lambda name: name not in {".", ".."})
FILES = st.builds(InstalledFile, NAMES, st.integers(0, 10**12), st.text("0123456789abcdef", min_size=64, max_size=64))
RECEIPTS = st.builds(Receipt, st.text(max_size=9), NAMES, st.lists(FILES, unique_by=lambda f: f.name).map(tuple))


@given(RECEIPTS, RECEIPTS)
def test_a_written_receipt_is_read_back(first: Receipt, second: Receipt) -> None:
    """A second one replaces it, and no temporary file remains."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        assert read_receipt(folder) is None
        for receipt in (first, second):
            write_receipt(folder, receipt)
            assert read_receipt(folder) == receipt
        assert os.listdir(folder) == [RECEIPT]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)


@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps({"schema": 1, "files": value}).encode()))
def test_any_content_is_a_receipt_or_a_value_error(content: bytes) -> None:
    """No content makes the reader raise anything but ValueError."""
    with TemporaryDirectory() as name:
        (Path(name) / RECEIPT).write_bytes(content)
        with pytest.raises(ValueError, match="damaged"):
            read_receipt(Path(name))


@pytest.mark.parametrize("evil", ["..", "../x", "/etc", "a/b", ""])
def test_paths_outside_the_folder_are_refused(tmp_path: Path, evil: str) -> None:
    """A receipt cannot name files outside the voice's folder."""
    of = {"size": 1, "sha256": "0"}
    for generation, file in ((evil, "a"), ("a", evil)):
        values = {"schema": 1, "fingerprint": "f", "generation": generation, "files": {file: of}}
        (tmp_path / RECEIPT).write_text(json.dumps(values))
        with pytest.raises(ValueError, match="damaged"):
            read_receipt(tmp_path)


def test_a_receipt_of_a_later_version_counts_as_absent(tmp_path: Path) -> None:
    """A receipt in an unknown format is not interpreted: the voice is pulled again."""
    (tmp_path / RECEIPT).write_text('{"schema": 2}')
    assert read_receipt(tmp_path) is None
