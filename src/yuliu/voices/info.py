"""Facts about a voice before speaking with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.types import Lang
    from yuliu.voices.installed import Installed, InstallState
    from yuliu.voices.manifest import CompositeManifest, Licence, Streaming, VoiceManifest


@dataclass(frozen=True, slots=True)
class VoiceInfo:
    """A voice, its terms, and whether it is on this machine. Of a composite, the facts that hold for all its parts."""

    name: str
    description: str
    engine: str
    """``composite`` for a voice that speaks each language with another voice."""
    languages: tuple[Lang, ...]
    sample_rate: int
    """Hz."""
    streaming: Streaming
    licences: tuple[Licence, ...]
    """One, or one for each part."""
    parts: tuple[tuple[Lang, str], ...]
    """Of a composite: the voice of each language."""
    state: InstallState
    num_bytes_on_disk: int
    """Size of the installed files."""
    num_bytes_to_fetch: int
    """Maximum bytes that a pull would download; 0 if it is ready."""

    @property
    def commercial_use(self) -> bool:
        """True if all its parts allow commercial use."""
        return all(licence.commercial_use for licence in self.licences)


def voice_info(manifest: VoiceManifest, installed: Installed, *, num_bytes_to_fetch: int) -> VoiceInfo:
    """Return the facts about a voice with files of its own."""
    return VoiceInfo(
        name=manifest.name,
        description=manifest.description,
        engine=manifest.engine,
        languages=manifest.languages,
        sample_rate=manifest.sample_rate,
        streaming=manifest.streaming,
        licences=(manifest.licence,),
        parts=(),
        state=installed.state,
        num_bytes_on_disk=installed.num_bytes,
        num_bytes_to_fetch=num_bytes_to_fetch,
    )


def composite_info(manifest: CompositeManifest, parts: Sequence[VoiceInfo]) -> VoiceInfo:
    """Return the facts about a composite, from those of its parts: as good as the worst of them."""
    order: tuple[InstallState, ...] = ("damaged", "absent", "outdated", "ready")
    return VoiceInfo(
        name=manifest.name,
        description=manifest.description,
        engine="composite",
        languages=manifest.languages,
        sample_rate=manifest.sample_rate,
        streaming="exact" if all(part.streaming == "exact" for part in parts) else "crossfade",
        licences=tuple(licence for part in parts for licence in part.licences),
        parts=tuple(manifest.parts.items()),
        state=min((part.state for part in parts), key=order.index),
        num_bytes_on_disk=sum(part.num_bytes_on_disk for part in parts),
        num_bytes_to_fetch=sum(part.num_bytes_to_fetch for part in parts),
    )
