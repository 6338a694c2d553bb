"""The reference pages are complete: they agree with the code, in both languages."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import fields
from importlib import import_module, resources

import click
import pytest
from msgspec.structs import fields as struct_fields
from pages import ROOT, Page, user_pages

import yuliu
from yuliu import errors
from yuliu.cli.app import COMMANDS
from yuliu.server.limits import Limits
from yuliu.server.routes import ROUTES
from yuliu.synthesizer import Synthesizer
from yuliu.text.zh.phones import FINALS, INITIALS, MARKS
from yuliu.text.zh.phones import phones as zh_phones
from yuliu.types import Coverage, Mark, Skipped, Timing
from yuliu.voices.toml import parse_manifest
from yuliu.wire import openai, phrases, problems

pytestmark = pytest.mark.parametrize("lang", ["en", "zh"])
VALUES = (
    *(yuliu.Audio, yuliu.Chunk, yuliu.Finished, yuliu.Failed, yuliu.Cancelled, Coverage, Timing, Mark, Skipped),
    *(
        yuliu.StreamOptions,
        yuliu.StreamLimits,
        yuliu.Terms,
        yuliu.Heard,
        yuliu.Timeline,
        yuliu.SpeakOptions,
        yuliu.MarkupOptions,
        yuliu.SegmenterOptions,
        yuliu.Chunking,
        yuliu.Effects,
        yuliu.Compression,
    ),
)


def reference(lang: str, name: str) -> str:
    return Page(ROOT / "docs" / lang / "reference" / f"{name}.md").text


def quoted(text: str) -> set[str]:
    """Return the inline code of a page, outside of blocks."""
    return set(re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)))


def test_library_names_everything_public(lang: str) -> None:
    """The page lists all public names, fields of public values, and members of a synthesizer and a stream."""
    page = reference(lang, "library")
    members = {name for cls in (Synthesizer, yuliu.Stream) for name in vars(cls) if not name.startswith("_")}
    of_values = {field.name for cls in VALUES for field in fields(cls)}
    named = {word for code in quoted(page) for word in re.findall(r"\w+", code)}
    missing = {*yuliu.__all__, *members, *of_values} - named
    assert not missing, f"docs/{lang}/reference/library.md does not mention {missing}"


@pytest.mark.parametrize("cls", [yuliu.StreamOptions, yuliu.SpeakOptions, yuliu.SegmenterOptions])
def test_library_lists_each_default(lang: str, cls: type) -> None:
    """The default of every numeric option is listed next to its name."""
    page = reference(lang, "library")
    for field in fields(cls):
        if isinstance(field.default, int | float):
            assert re.search(rf"^\| `{field.name}` \| {field.default:g}(\.0)? \|", page, re.MULTILINE), field.name


def test_library_lists_each_error_and_its_code(lang: str) -> None:
    """Every error class has a row with its code."""
    rows = reference(lang, "library").splitlines()
    classes = [
        value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, errors.YuliuError)
    ]
    for cls in classes:
        assert any(row.startswith(f"| `{cls.__name__}`") and f"`{cls.code}`" in row for row in rows), cls


@pytest.mark.parametrize("name", COMMANDS)
def test_command_line_names_every_option(lang: str, name: str) -> None:
    """Every command, subcommand and option is named in its section."""
    section = re.split(r"^## ", reference(lang, "cli"), flags=re.MULTILINE)
    section = [text for text in section if text.startswith(f"`yuliu {name}`")]
    command: click.Command = import_module(f"yuliu.cli.commands.{name}").command
    commands = list(command.commands.values()) if isinstance(command, click.Group) else [command]
    for each in commands:
        long_options = [option for param in each.params for option in param.opts if option.startswith("--")]
        for word in [*long_options, *([each.name] if each is not command else [])]:
            assert word in section[0], word


def test_console_blocks_use_existing_commands(lang: str) -> None:
    """Blocks that are not run use existing commands, options and make targets."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    shown = "".join(block.code for page in user_pages(lang) for block in page.blocks if block.language == "console")
    for targets in re.findall(r"^\$ make ((?:[a-z-]+ ?)+)", shown, re.MULTILINE):
        assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets.split())
    for name, rest in re.findall(r"\byuliu (\w+)([^#|\n]*)", shown):
        known = {
            option for param in import_module(f"yuliu.cli.commands.{name}").command.params for option in param.opts
        }
        assert set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", rest)) <= known, (name, rest)


def test_http_names_paths_fields_codes_and_limits(lang: str) -> None:
    """The page names every path, request field, error code with its status, alias and limit."""
    page = reference(lang, "http")
    paths = {route.path for route in ROUTES}
    names = {field.encode_name for field in struct_fields(openai.SpeechBody)}
    names |= openai.ALIASES | set(openai.MODELS)
    assert paths | names <= quoted(page)
    for code, status in problems.STATUS.items():
        assert re.search(rf"^\| {status} \|[^|]*`{code}`", page, re.MULTILINE), code
    limits = Limits()
    numbers = [limits.max_streams, limits.max_connections, limits.max_head_bytes, limits.request_s, limits.keep_alive_s]
    numbers += [limits.stream_s, limits.max_body_bytes_held, phrases.MAX_PHRASES, phrases.MAX_TOTAL_CHARACTERS]
    numbers += [limits.stall_s, limits.shutdown_s, limits.speech.max_characters, limits.speech.max_body_bytes]
    for number in numbers:
        assert re.search(rf"\| {number:,.0f}( s|( 秒))? \|", page), number


def test_every_mandarin_phone_is_listed(lang: str) -> None:
    """Every initial, final and mark is listed, and the code agrees with the example of every final."""
    page = reference(lang, "phonemes")
    assert {*INITIALS, *FINALS, *MARKS} <= quoted(page)
    examples = re.findall(r"^\| `(\w+)` \| [^|]+ \| \S+ ([a-z]+\d) \| `(\S+) (\S+)` \|$", page, re.MULTILINE)
    assert [final for final, *_ in examples] == list(FINALS)
    for final, pinyin, *written in examples:
        assert zh_phones(pinyin.replace("nv", "nü")) == tuple(written)
        assert written[1][:-1] == final


def test_every_english_symbol_is_listed(lang: str) -> None:
    """Every symbol in the dictionaries of the English front end is listed."""
    symbols = set()
    for name in ("lexicon_us_gold.json.gz", "lexicon_us_silver.json.gz"):
        content = gzip.decompress(resources.files("hibari").joinpath("assets", name).read_bytes())
        for entry in json.loads(content).values():
            symbols |= set("".join(filter(None, entry.values())) if isinstance(entry, dict) else entry)
    assert len(symbols) > 30
    assert symbols <= quoted(reference(lang, "phonemes"))


def test_example_manifests_are_valid(lang: str) -> None:
    """Every manifest on the voices page is accepted unchanged."""
    manifests = [
        block for block in Page(ROOT / "docs" / lang / "reference" / "voices.md").blocks if block.language == "toml"
    ]
    names = [parse_manifest(block.code, where=lang, folder=ROOT).name for block in manifests]
    assert names == ["mine", "ours"]
