"""The page of the API reference."""

from __future__ import annotations

from html.parser import HTMLParser
from importlib.resources import files

from api_documents import OPENAPI

from yuliu.wire.asyncapi import asyncapi_document
from yuliu.wire.native.encode import TYPES
from yuliu.wire.reference_page import reference_page

PAGE = reference_page(OPENAPI, asyncapi_document(version="1.2.3"))
VOID = {"meta", "link", "br", "img", "input"}


class Reader(HTMLParser):
    """Collects ids, links and addresses, and checks that tags are closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.open: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.links += [value for name, value in attrs if name in ("href", "src") and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read() -> Reader:
    reader = Reader()
    reader.feed(PAGE)
    return reader


def test_tags_are_closed_and_ids_are_unique() -> None:
    """The page is well formed."""
    reader = read()
    assert reader.open == []
    assert len(set(reader.ids)) == len(reader.ids)


def test_links_lead_to_anchors_on_the_page() -> None:
    """Apart from the two documents, the page needs no other file."""
    reader = read()
    inside = {link[1:] for link in reader.links if link.startswith("#")}
    assert inside <= set(reader.ids)
    assert {link for link in reader.links if not link.startswith("#")} == {"openapi.json", "asyncapi.json"}
    assert "script" not in reader.tags


def test_operations_messages_and_fields_are_shown() -> None:
    """The page covers both documents."""
    for path in OPENAPI["paths"]:
        assert f"<code>{path}</code>" in PAGE
    for kind in TYPES.values():
        assert f"<td><code>{kind}</code></td>" in PAGE
    assert "number, 0.25 to 4" in PAGE
    assert "scope <code>speak</code>" in PAGE
    assert "Needs no key." in PAGE
    assert "1.2.3" in PAGE


def test_the_template_is_in_the_package() -> None:
    """It is installed with the code."""
    assert files("yuliu.wire").joinpath("reference_page.html").is_file()
