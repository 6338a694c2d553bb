"""Links between pages, and the pairing of English and Chinese pages."""

from __future__ import annotations

import pytest
from pages import GENERATED, ROOT, Page, all_pages, counterpart, user_pages


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: page.name)
def test_links_are_valid(page: Page) -> None:
    """Each relative link refers to a file of the project, and to a heading in that file."""
    for link in page.links:
        if link.startswith("https://"):
            continue
        target, _, anchor = link.partition("#")
        path = (page.path.parent / target).resolve() if target else page.path
        assert path in GENERATED or path.is_file(), f"{page.name}: no file {link}"
        assert path.is_relative_to(ROOT), f"{page.name}: {link} leaves the project"
        assert not anchor or anchor in Page(path).anchors, f"{page.name}: no heading {link}"


def test_both_languages_have_the_same_pages() -> None:
    """Each English page has a Chinese counterpart, and vice versa."""
    assert [counterpart(page).path for page in user_pages("en")] == [page.path for page in user_pages("zh")]


@pytest.mark.parametrize("page", user_pages("en"), ids=lambda page: page.name)
def test_chinese_page_links_to_the_same_pages(page: Page) -> None:
    """A Chinese page links to the counterparts of the pages that the English one links to."""
    chinese = {link.replace("/zh/", "/en/").replace("README.zh.md", "README.md") for link in counterpart(page).links}
    english = {link.replace("/zh/", "/en/").replace("README.zh.md", "README.md") for link in page.links}
    assert {link.partition("#")[0] for link in chinese} == {link.partition("#")[0] for link in english}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_page_is_in_the_index(lang: str) -> None:
    """The index of a language links to each of its pages."""
    folder = ROOT / "docs" / lang
    linked = {(folder / link).resolve() for link in Page(folder / "index.md").links}
    assert {page.path for page in user_pages(lang)[1:]} - {folder / "index.md"} <= linked


def test_both_glossaries_have_the_same_terms() -> None:
    """Each English term has exactly one Chinese term, in the same order."""
    english = table_column(Page(ROOT / "docs" / "en" / "glossary.md"), 0)
    chinese = Page(ROOT / "docs" / "zh" / "glossary.md")
    assert table_column(chinese, 1) == english
    assert len(set(table_column(chinese, 0))) == len(set(english)) == len(english)


def table_column(page: Page, column: int) -> list[str]:
    """Return a column of the only table of a page, without its heading."""
    rows = [line.strip("| ").split(" | ") for line in page.text.splitlines() if line.startswith("| ")]
    return [row[column] for row in rows[1:]]
