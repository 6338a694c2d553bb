"""The voice store: known voices, installed voices, and pulls.

What fetches is imported when it is needed: programs that only load voices start faster without it.
"""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from yuliu.errors import PullFailed, UnknownVoice, VoiceNotReady
from yuliu.voices.catalogue import load_catalogue
from yuliu.voices.content import disk_errors
from yuliu.voices.home import default_home, exclusive
from yuliu.voices.info import VoiceInfo, composite_info, voice_info
from yuliu.voices.installed import RECEIPT, damage, inspect
from yuliu.voices.manifest import CompositeManifest, Manifest, VoiceManifest
from yuliu.voices.progress import OnProgress, PullProgress, ignore

if TYPE_CHECKING:
    import builtins
    from collections.abc import Mapping
    from pathlib import Path

    from yuliu.voices.manifest import Derivation


class VoiceStore:
    """The voices of one home folder. Holds no state beside the manifests: several stores, threads and programs may
    use one home at once.

    Args:
        home: The folder; None takes $YULIU_HOME, or the platform's folder for application data.
        derivations: Functions that make files from fetched ones, by the names that manifests use; needed to pull.

    Raises:
        InvalidRequest: A manifest, built-in or in ``home/voices.d``, is wrong; the message says which key.
    """

    def __init__(self, home: Path | None = None, *, derivations: Mapping[str, Derivation] | None = None) -> None:
        self.home: Path = home if home is not None else default_home(os.environ)
        """The folder in which voices live; it need not exist."""
        self._derivations = dict(derivations or {})
        self._catalogue = load_catalogue(self.home)

    def list(self) -> builtins.list[VoiceInfo]:
        """Return all voices in alphabetical order. Looks at sizes of files only."""
        return [self.info(name) for name in self._catalogue]

    def info(self, name: str) -> VoiceInfo:
        """Return one voice. Looks at sizes of files only.

        Raises:
            UnknownVoice: There is no voice of that name.
        """
        manifest = self.manifest(name)
        if isinstance(manifest, CompositeManifest):
            return composite_info(manifest, [self.info(part) for part in manifest.part_names])
        installed = inspect(manifest, self._folder(manifest))
        if installed.state == "ready":
            return voice_info(manifest, installed, num_bytes_to_fetch=0)
        from yuliu.voices.install import num_bytes_to_fetch

        needed = num_bytes_to_fetch(manifest, self._downloads, installed.folder)
        return voice_info(manifest, installed, num_bytes_to_fetch=needed)

    def manifest(self, name: str) -> Manifest:
        """Return the manifest of a voice: engine, gain, speaker, parts.

        Raises:
            UnknownVoice: There is no voice of that name.
        """
        try:
            return self._catalogue[name]
        except KeyError:
            known = ", ".join(self._catalogue)
            raise UnknownVoice(f"there is no voice of that name; known voices are {known}", param="voice") from None

    def files(self, name: str) -> dict[str, Path]:
        """Return the files of a voice by name, ready to be opened; none for a composite, whose parts have them.

        Checks that every file is there in its full size, not its content: :meth:`verify` does.

        Raises:
            UnknownVoice: There is no voice of that name.
            VoiceNotReady: Files are missing or damaged; the message names the command to run.
        """
        manifest = self.manifest(name)
        if isinstance(manifest, CompositeManifest):
            for part in manifest.part_names:
                self.files(part)
            return {}
        installed = inspect(manifest, self._folder(manifest))
        if installed.state != "ready":
            raise _not_ready(name, installed.problem)
        return installed.paths

    def verify(self, name: str) -> None:
        """Read and hash every file of a voice.

        Raises:
            UnknownVoice: There is no voice of that name.
            VoiceNotReady: Files are missing or damaged; the message names them and the command to run.
        """
        for manifest in self._own(name):
            problem = self._problem(manifest)
            if problem:
                raise _not_ready(manifest.name, problem)

    def pull(self, name: str, on_progress: OnProgress = ignore) -> None:
        """Get a voice onto this machine, or repair it; a composite's parts one after the other.

        An intact voice is left alone. What can be had without a download is: files of an installed package, files
        that an earlier installation or an interrupted pull has left. If it fails, what was installed before stays.
        Blocks, for minutes on a slow network; not to be called while a request is served.

        Raises:
            UnknownVoice: There is no voice of that name.
            PullFailed: A file could not be had; the message says why and what to do. Nothing half-installed is left.
        """
        for manifest in self._own(name):
            self._pull(manifest, on_progress)

    def remove(self, name: str) -> None:
        """Delete a voice's files, and what is left of its downloads; a composite's parts all. Absent ones are no error.

        Programs that have the voice loaded keep speaking with it.

        Raises:
            UnknownVoice: There is no voice of that name.
            PullFailed: The files cannot be deleted.
        """
        from yuliu.voices.install import kept_downloads

        for manifest in self._own(name):
            folder = self._folder(manifest)
            with disk_errors(manifest.name, self.home, action="removed"), exclusive(self._lock, on_wait=lambda: None):
                # Without its receipt a voice is not installed, however much of it an open file keeps there.
                (folder / RECEIPT).unlink(missing_ok=True)
                shutil.rmtree(folder, ignore_errors=True)
                for path in kept_downloads(manifest, self._downloads):
                    path.unlink(missing_ok=True)

    def _pull(self, manifest: VoiceManifest, on_progress: OnProgress) -> None:
        if not self._problem(manifest):
            return
        for step in manifest.derived:
            if step.function not in self._derivations:
                raise PullFailed(
                    f"voice {manifest.name} needs the derivation {step.function}, which this program does not have; "
                    f"pull it with: yuliu voices pull {manifest.name}"
                )
        waiting = PullProgress(manifest.name, "", "wait", 0, None)
        with (
            disk_errors(manifest.name, self.home, action="installed"),
            exclusive(self._lock, on_wait=lambda: on_progress(waiting)),
        ):
            if self._problem(manifest):  # else another program has pulled it meanwhile
                self._install(manifest, on_progress)

    def _install(self, manifest: VoiceManifest, on_progress: OnProgress) -> None:
        from yuliu.voices.install import Installation

        installation = Installation(
            manifest,
            folder=self._folder(manifest),
            downloads=self._downloads,
            derivations=self._derivations,
            on_progress=on_progress,
        )
        installation.run(old=inspect(manifest, self._folder(manifest)).folder)

    def _problem(self, manifest: VoiceManifest) -> str:
        """Return the problems of the installed voice, contents included; empty if there are none."""
        installed = inspect(manifest, self._folder(manifest))
        if installed.problem:
            return installed.problem
        damaged = damage(installed)
        return f"damaged ({'; '.join(damaged)})" if damaged else ""

    @property
    def _lock(self) -> Path:
        return self.home / "pull.lock"

    @property
    def _downloads(self) -> Path:
        return self.home / "downloads"

    def _folder(self, manifest: VoiceManifest) -> Path:
        return self.home / "voices" / manifest.name

    def _own(self, name: str) -> builtins.list[VoiceManifest]:
        """Return the voices with files of their own that make up the voice of that name."""
        manifest = self.manifest(name)
        names = manifest.part_names if isinstance(manifest, CompositeManifest) else (name,)
        found = (self._catalogue[part] for part in names)
        return [part for part in found if isinstance(part, VoiceManifest)]


def _not_ready(name: str, problem: str) -> VoiceNotReady:
    return VoiceNotReady(f"voice {name} is {problem}; run: yuliu voices pull {name}")
