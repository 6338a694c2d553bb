"""Pages of the documentation as values: fenced blocks, headings and links."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = {ROOT / "docs" / "performance.md"}
"""Pages that ``make bench`` writes and that may not exist yet."""

_FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Tests run ``python`` and ``sh``; ``output`` is the output of the block before it, with ``...`` for any text;
    ``toml`` is read as a manifest; ``console`` and ``text`` are not checked.
    """

    language: str
    code: str

    @property
    def without_comments(self) -> str:
        """The part that both languages of a page share; empty for a picture (``text``)."""
        if self.language == "text":
            return ""
        mark = "//" if self.language == "js" else "#"
        lines = (re.sub(rf"(^|\s+){mark}\s.*$", "", line) for line in self.code.splitlines())
        return "\n".join(line for line in lines if line)


@dataclass(frozen=True)
class Page:
    """A Markdown file."""

    path: Path

    @cached_property
    def text(self) -> str:
        """Markdown source."""
        return self.path.read_text(encoding="utf-8")

    @property
    def name(self) -> str:
        """Path from the root of the project."""
        return self.path.relative_to(ROOT).as_posix()

    @property
    def blocks(self) -> list[Block]:
        """Fenced blocks in order."""
        return [Block(language, code) for _, language, code in _FENCE.findall(self.text)]

    @property
    def examples(self) -> list[tuple[Block, Block | None]]:
        """The blocks that are run, each with the expected output or None."""
        return [
            (block, after if after and after.language == "output" else None)
            for block, after in zip_longest(self.blocks, self.blocks[1:])
            if block.language in {"python", "sh"}
        ]

    @property
    def anchors(self) -> set[str]:
        """Anchors of the headings, by GitHub's rule."""
        headings = _HEADING.findall(_FENCE.sub("", self.text))
        return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}

    @property
    def links(self) -> list[str]:
        """Targets of all links."""
        return _LINK.findall(_FENCE.sub("", self.text))


def user_pages(lang: str) -> list[Page]:
    """Return the pages for users in a language (``en`` or ``zh``), the README first."""
    readme = ROOT / ("README.md" if lang == "en" else f"README.{lang}.md")
    return [Page(readme), *(Page(path) for path in sorted((ROOT / "docs" / lang).rglob("*.md")))]


def all_pages() -> list[Page]:
    """Return all pages."""
    docs = (path for path in (ROOT / "docs").rglob("*.md") if path not in GENERATED)
    return [Page(path) for path in sorted([*ROOT.glob("*.md"), *docs])]


def counterpart(page: Page) -> Page:
    """Return the Chinese page of an English one."""
    if page.path.parent == ROOT:
        return Page(ROOT / "README.zh.md")
    return Page(ROOT / "docs" / "zh" / page.path.relative_to(ROOT / "docs" / "en"))
