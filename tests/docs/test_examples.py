"""Every example in the documentation runs with the real voices, as a reader would run it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from page_examples import run_examples
from pages import Page, counterpart, user_pages

from yuliu.voices import VoiceStore

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGES = [page for page in user_pages("en") if page.examples and page.path.parent.name != "extend"]
BIN = Path(sys.executable).parent
PRINTED_ADDRESS = "127.0.0.1:8000"


def home_in(folder: Path) -> str:
    """Return a new home that contains the voices, so that examples can change it."""
    voices = folder / "home" / "voices"
    voices.mkdir(parents=True)
    for name in ("baker", "heart"):
        (voices / name).symlink_to(VoiceStore().home / "voices" / name)
    return str(voices.parent)


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a running server with the default voice."""
    command = [str(BIN / "yuliu"), "serve", "--port", "0"]
    environment = os.environ | {"YULIU_HOME": home_in(tmp_path_factory.mktemp("server"))}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stderr is not None
        log = ""
        for line in server.stderr:
            log += line
            if " ready " in line:
                break
        port = re.search(r"listening host=\S+ port=(\d+)", log)
        assert port, log
        yield f"127.0.0.1:{port[1]}"
        server.terminate()


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Environment of a reader: commands on the path, and a new home that contains the voices."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"PATH": path, "YULIU_HOME": home_in(tmp_path), "PYTHONWARNINGS": "error"}


@pytest.mark.voices
@pytest.mark.timeout(300)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page: Page, address: str, tmp_path: Path, environment: dict[str, str]) -> None:
    """All blocks of a page succeed when they run in order in one folder."""
    run_examples(page, tmp_path / "work", environment, lambda code: code.replace(PRINTED_ADDRESS, address))


@pytest.mark.parametrize("page", user_pages("en"), ids=lambda page: page.name)
def test_chinese_page_has_the_same_blocks(page: Page) -> None:
    """The Chinese page has the same blocks in the same order, so running the English ones tests both."""
    chinese = [(block.language, block.without_comments) for block in counterpart(page).blocks]
    assert chinese == [(block.language, block.without_comments) for block in page.blocks]
