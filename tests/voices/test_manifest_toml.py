"""Manifests in TOML: accepted documents and the errors of all others."""

from __future__ import annotations

import string
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy_voice import MEMBERS, manifest_text, wheel_source

from yuliu.errors import InvalidRequest
from yuliu.voices.manifest import CompositeManifest, FolderSource, HubSource, UrlSource, VoiceManifest, WheelSource
from yuliu.voices.toml import parse_manifest

if TYPE_CHECKING:
    from yuliu.voices.manifest import Source

TOY = manifest_text(wheel_source(b"wheel"), MEMBERS)
LINES = TOY.splitlines()
DUO = 'schema = 1\nname = "duo"\ndescription = "Two"\nsample_rate = 24000\n[parts]\nzh = "toy"\nen = "heart"\n'


def toy(text: str = TOY, folder: Path | None = None) -> VoiceManifest:
    manifest = parse_manifest(text, where="toy.toml", folder=folder)
    assert isinstance(manifest, VoiceManifest)
    return manifest


def source(text: str) -> Source:
    return toy(manifest_text(text, MEMBERS), Path("/home/voices.d")).sources["box"]


@pytest.mark.parametrize("name", ["baker", "heart", "yuliu"])
def test_built_in_manifests_are_valid(name: str) -> None:
    """The manifests in the package are named like their files."""
    text = files("yuliu.voices").joinpath("manifests", f"{name}.toml").read_text(encoding="utf-8")
    assert parse_manifest(text, where=f"{name}.toml").name == name


def test_a_voice_is_read() -> None:
    """Its values are those of the manifest, with defaults for absent ones; files keep their order."""
    manifest = toy()
    assert (manifest.name, manifest.engine, manifest.languages) == ("toy", "tone", ("zh",))
    assert (manifest.sample_rate, manifest.streaming, manifest.gain_db, manifest.speaker) == (16000, "exact", 0.0, "")
    assert (manifest.licence.name, manifest.licence.commercial_use) == ("CC0-1.0", True)
    assert manifest.file_names == ("weights.bin", "names.json", "twice.bin")
    assert isinstance(manifest.sources["box"], WheelSource)
    assert manifest.sources["box"].distribution == "toybox"


def test_a_composite_is_read() -> None:
    """Its languages keep the order of the manifest."""
    manifest = parse_manifest(DUO, where="duo.toml")
    assert isinstance(manifest, CompositeManifest)
    assert manifest.languages == ("zh", "en")
    assert manifest.part_names == ("toy", "heart")


def test_other_sources_are_read() -> None:
    """Sources are addresses, hub commits and folders; a relative folder starts at the manifest's own."""
    assert source('[sources.box]\nkind = "url"\nbase_url = "https://example.org/voices/"') == UrlSource(
        "https://example.org/voices/"
    )
    commit = "0123456789" * 4
    assert source(f'[sources.box]\nkind = "hub"\nrepository = "me/voice"\ncommit = "{commit}"') == HubSource(
        "me/voice", commit
    )
    assert source('[sources.box]\nkind = "folder"\npath = "mine"') == FolderSource("/home/voices.d/mine")


@pytest.mark.parametrize(
    ("old", "new", "param"),
    [
        ("schema = 1", "schema = 2", "schema"),
        ('name = "toy"', 'name = "../toy"', "name"),
        ('name = "toy"', 'name = "Toy"', "name"),
        ('name = "toy"', "name = 3", "name"),
        ('description = "A voice for tests"', 'description = "two\\nlines"', "description"),
        ('languages = ["zh"]', 'languages = ["fr"]', "languages"),
        ('languages = ["zh"]', "languages = []", "languages"),
        ('languages = ["zh"]', 'languages = ["zh", "zh"]', "languages"),
        ("sample_rate = 16000", "sample_rate = true", "sample_rate"),
        ("sample_rate = 16000", "sample_rate = 16", "sample_rate"),
        ("sample_rate = 16000", "sample_rate = 16000.0", "sample_rate"),
        ('streaming = "exact"', 'streaming = "roughly"', "streaming"),
        ('streaming = "exact"', 'streaming = "exact"\ngain_db = nan', "gain_db"),
        ('streaming = "exact"', 'streaming = "exact"\ngain = 3', "gain"),
        ("commercial_use = true", 'commercial_use = "yes"', "licence.commercial_use"),
        ('notice = "Made for tests."', "", "licence.notice"),
        ('kind = "wheel"', 'kind = "egg"', "sources.box.kind"),
        ('kind = "wheel"', 'kind = "url"\nbase_url = "http://example.org/"', "sources.box.base_url"),
        ('kind = "wheel"', 'kind = "url"\nbase_url = "https://user:pw@example.org/"', "sources.box.base_url"),
        ('kind = "wheel"', 'kind = "url"\nbase_url = "https://example.org/x"', "sources.box.base_url"),
        ('kind = "wheel"', 'kind = "hub"\nrepository = "me/voice"\ncommit = "main"', "sources.box.commit"),
        ('kind = "wheel"', 'kind = "folder"\npath = "/etc"', "sources.box.kind"),
        ('version = "1.0"', 'version = "--evil"', "sources.box.version"),
        ('distribution = "toybox"', 'distribution = "-r evil"', "sources.box.distribution"),
        ('source = "box"', 'source = "bag"', "files[0].source"),
        ('"toybox/weights.bin"', '"../weights.bin"', "files[0].member"),
        ('"toybox/weights.bin"', '"/weights.bin"', "files[0].member"),
        ('"toybox/weights.bin"', "'toybox\\weights.bin'", "files[0].member"),
        ('name = "weights.bin"', 'name = "a/weights.bin"', "files[0].name"),
        ('name = "weights.bin"', 'name = ".."', "files[0].name"),
        ('name = "weights.bin"', 'name = "NAMES.json"', "files"),
        (f"size = {len(MEMBERS['toybox/weights.bin'])}", "size = 0", "files[0].size"),
        ('inputs = ["weights.bin"]', 'inputs = ["twice.bin"]', "derived[0].inputs"),
        ('outputs = ["twice.bin"]', 'outputs = ["names.json"]', "files"),
        ("[[derived]]", "[derived]", "derived"),
    ],
)
def test_a_wrong_key_is_named(old: str, new: str, param: str) -> None:
    """The error names the wrong, missing or unknown key and the file."""
    assert old in TOY
    with pytest.raises(InvalidRequest) as caught:
        toy(TOY.replace(old, new, 1))
    assert caught.value.param == param
    assert caught.value.message.startswith(f"toy.toml: {param} ")


def test_a_composite_with_files_is_refused() -> None:
    """A composite has no files: keys of a voice are unknown in it."""
    with pytest.raises(InvalidRequest, match=r"duo\.toml: engine is not known"):
        parse_manifest('engine = "tone"\n' + DUO, where="duo.toml")


def test_an_unsupported_language_of_a_composite_is_refused() -> None:
    """The error names its key."""
    with pytest.raises(InvalidRequest, match=r"duo\.toml: parts\.fr "):
        parse_manifest(DUO.replace("en =", "fr ="), where="duo.toml")


@pytest.mark.parametrize("text", ["", "name", "\x00", "= 3", "schema = 1"])
def test_a_file_that_is_not_a_manifest_is_refused(text: str) -> None:
    """The error for a file that is empty or not TOML names the file."""
    with pytest.raises(InvalidRequest, match=r"^toy\.toml: "):
        toy(text)


def test_the_fingerprint_depends_on_the_files() -> None:
    """It changes with any file or derivation, and with nothing else."""
    same = [('description = "A', 'description = "B'), ("sample_rate = 16000", "sample_rate = 8000")]
    other = [("version = 1\n", "version = 2\n"), ("twice.bin", "double.bin"), ("size = 20", "size = 21")]
    assert {toy(TOY.replace(old, new)).fingerprint for old, new in same} == {toy().fingerprint}
    changed = {toy(TOY.replace(old, new)).fingerprint for old, new in other}
    assert len(changed) == 3
    assert toy().fingerprint not in changed


VALUES = st.sampled_from(
    ['""', '"x"', "0", "-1", "1.5", "nan", "true", "[]", '["a", 1]', "{}", "{ a = [] }", '"é\\u0000"']
)


@given(st.integers(0, len(LINES) - 1), st.none() | VALUES, st.text(string.printable, max_size=3))
def test_any_mistake_is_an_invalid_request(line: int, value: str | None, extra: str) -> None:
    """A dropped line, a changed value or a few added characters never raise another error."""
    key, equals, _ = LINES[line].partition("=")
    changed = [*LINES]
    changed[line] = f"{key}{equals}{value}" if value and equals else ""
    changed[line] += extra
    try:
        manifest = parse_manifest("\n".join(changed), where="toy.toml")
    except InvalidRequest as error:
        assert error.message.startswith("toy.toml: ")
    else:
        assert manifest.name
