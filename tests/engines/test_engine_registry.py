"""Engines built by the name in a manifest, several of one voice, and their shared parts."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from msgspec.structs import replace

from yuliu.engines.api import PlanOptions, StepRequest
from yuliu.engines.fastspeech2.engine import FastSpeech2Engine
from yuliu.engines.hibari.engine import HibariEngine
from yuliu.engines.registry import EngineSpec, Loader, engine_spec, family_names, find_family, register
from yuliu.engines.tone import ToneEngine
from yuliu.errors import VoiceNotReady
from yuliu.types import Boundary, Segment, Span, SpeakOptions
from yuliu.voices import VoiceManifest, VoiceStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from yuliu.engines.api import Engine
    from yuliu.text.frontend import FrontEnd, Reading
    from yuliu.types import Lang, Samples

pytestmark = pytest.mark.voices

NUM_TEXTS = 200
TEXTS: dict[str, tuple[Lang, list[str]]] = {
    "baker": ("zh", [f"第{at}天，他花了{at * 37}元，还在长沙银行存了{at}%。" for at in range(NUM_TEXTS)]),
    "heart": (
        "en",
        [f"On day {at} Zyx{'aeiou'[at % 5]}lo{at // 5 * 'r'} read {at * 37} records." for at in range(NUM_TEXTS)],
    ),
}
OPTIONS = PlanOptions(SpeakOptions(), 0.025, 0.1)


def manifest_of(name: str) -> VoiceManifest:
    manifest = VoiceStore().manifest(name)
    assert isinstance(manifest, VoiceManifest)
    return manifest


def loaded(loader: Loader, spec: EngineSpec) -> Engine:
    return cast("Engine", loader.load(spec))


def front_end_of(engine: Engine) -> FrontEnd:
    assert isinstance(engine, FastSpeech2Engine | HibariEngine)
    return engine._front_end


def segment(text: str, lang: Lang) -> Segment:
    return Segment(text, Span(0, len(text)), tuple(range(len(text))), Boundary.SENTENCE, lang)


def spoken(engine: Engine, text: str, lang: Lang) -> Samples:
    utterance, chunks = engine.plan(segment(text, lang), OPTIONS), []
    while not utterance.done:
        (result,) = engine.step([StepRequest(utterance, 40)])
        chunks.append(result.samples)
        utterance = result.utterance
    return np.concatenate(chunks)


@pytest.mark.parametrize("name", TEXTS)
def test_a_shared_front_end_is_thread_safe(name: str) -> None:
    """Two engines with one front end, each in its own thread, give each text its usual reading."""
    files, (_, texts) = VoiceStore().files(name), TEXTS[name]
    shared, spec = Loader(), engine_spec(manifest_of(name), files)
    together = Barrier(2)

    def read(order: list[str]) -> dict[str, Reading]:
        front_end = front_end_of(loaded(shared, spec))
        together.wait()
        return {text: front_end.read(text) for text in order}

    with ThreadPoolExecutor(2) as pool:
        forwards, backwards = pool.map(read, [texts, texts[::-1]])
    alone = front_end_of(loaded(Loader(), spec))
    assert forwards == backwards == {text: alone.read(text) for text in texts}
    assert len({each.spoken for each in forwards.values()}) == NUM_TEXTS


@pytest.mark.parametrize("name", TEXTS)
def test_engines_of_one_voice_share_only_their_front_end(name: str) -> None:
    """Each has its own models: closing one leaves the other working, and both give the same samples."""
    lang, texts = TEXTS[name]
    loader, spec = Loader(), engine_spec(manifest_of(name), VoiceStore().files(name))
    one, other = loaded(loader, spec), loaded(loader, spec)
    assert front_end_of(one) is front_end_of(other)
    expected = spoken(one, texts[3], lang)
    one.close()
    assert np.array_equal(spoken(other, texts[3], lang), expected)


def test_an_unknown_engine_is_reported_before_loading() -> None:
    """A manifest of a later version may name an engine that is not installed."""
    with pytest.raises(VoiceNotReady, match="wants engine 'choir'; this version has fastspeech2, hibari"):
        engine_spec(replace(manifest_of("baker"), engine="choir"), {})


def test_a_family_of_an_installed_package_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is found by its entry point; a manifest can name it, and the error for another engine lists it."""
    (tmp_path / "choir_engine.py").write_text(
        "from yuliu.engines.tone import ToneEngine\n\n\ndef prepare(spec):\n    return ToneEngine\n"
    )
    info = tmp_path / "choir-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: choir\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[yuliu.engines]\nchoir = choir_engine:prepare\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert family_names() == ("fastspeech2", "hibari", "choir")
    spec = engine_spec(replace(manifest_of("baker"), engine="choir"), {})
    assert (spec.name, spec.family) == ("baker", "choir")
    assert isinstance(Loader().load(spec), ToneEngine)
    with pytest.raises(VoiceNotReady, match="there is no engine 'duo'; this version has fastspeech2, hibari, choir"):
        find_family("duo")


def test_a_registered_family_is_prepared_once_for_all_its_engines() -> None:
    """Engines of one spec share the data that the family loads; a spec pickles and stays equal."""
    prepared: list[EngineSpec] = []

    def prepare(spec: EngineSpec) -> Callable[[], ToneEngine]:
        prepared.append(spec)
        return ToneEngine

    register("solo", prepare)
    spec, loader = EngineSpec("one", "solo", (("a.onnx", Path("a.onnx")),), (("gain", 0.5),)), Loader()
    assert loader.load(spec) is not loader.load(pickle.loads(pickle.dumps(spec)))
    assert prepared == [spec]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": "process"}, "kind must be one of thread, async, not 'process'"),
        ({"slots": 0}, "at least 1"),
        ({"num_workers": 0}, "at least 1"),
    ],
)
def test_a_spec_that_no_worker_could_carry_is_refused(changes: dict[str, Any], message: str) -> None:
    """It would otherwise refuse every stream as if the machine were overloaded."""
    with pytest.raises(ValueError, match=message):
        EngineSpec("tone", "tone", **changes)
