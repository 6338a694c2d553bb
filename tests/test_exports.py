"""Tests of the public names: all of them, and no others, are listed, importable and documented."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

import yuliu
from yuliu import errors, types

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "docs" / language / "reference" / "library.md" for language in ("en", "zh")]
BUILT_IN = {"None", "True", "False"}


def defined_in(module: str) -> set[str]:
    """Return the public names that a module defines at its top level."""
    source = importlib.util.find_spec(module)
    assert source is not None
    assert source.origin is not None
    names: set[str] = set()
    for node in ast.parse(Path(source.origin).read_text()).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("module", ["yuliu.types", "yuliu.errors"])
def test_all_lists_every_public_name_of_its_module(module: str) -> None:
    """Each name is listed once."""
    listed = importlib.import_module(module).__all__
    assert len(listed) == len(set(listed))
    assert set(listed) == defined_in(module)


def test_every_public_name_can_be_imported() -> None:
    """Each name of the package is loaded at its first use; other names raise an error."""
    assert len(yuliu.__all__) == len(set(yuliu.__all__))
    assert {name for name in yuliu.__all__ if getattr(yuliu, name) is not None} == set(yuliu.__all__)
    assert set(yuliu.__all__) <= set(dir(yuliu))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = yuliu.no_such_name


@pytest.mark.parametrize("page", PAGES, ids=["en", "zh"])
def test_the_page_of_the_library_documents_every_public_name(page: Path) -> None:
    """The table of errors counts as well."""
    documented = set(re.findall(r"`(?:yuliu\.)?(\w+)", page.read_text()))
    assert set(yuliu.__all__) | set(errors.__all__) <= documented


@pytest.mark.parametrize("page", PAGES, ids=["en", "zh"])
def test_the_page_of_the_library_documents_public_names_only(page: Path) -> None:
    """Every class on the page can be imported from ``yuliu``, ``yuliu.errors`` or ``yuliu.types``."""
    classes = set(re.findall(r"`(?:yuliu\.)?([A-Z][A-Za-z]*[a-z][A-Za-z]*)[(`]", page.read_text()))
    assert classes - BUILT_IN <= {*yuliu.__all__, *errors.__all__, *types.__all__}
