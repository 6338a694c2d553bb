"""Voices: manifests that say what a voice is and on what terms, and a store that keeps their files on this machine."""

from yuliu.voices.info import VoiceInfo
from yuliu.voices.manifest import CompositeManifest, Derivation, Licence, Manifest, VoiceManifest
from yuliu.voices.progress import PullProgress
from yuliu.voices.store import VoiceStore

DEFAULT_VOICE = "yuliu"
"""The voice that is used where none is named."""

__all__ = [
    "DEFAULT_VOICE",
    "CompositeManifest",
    "Derivation",
    "Licence",
    "Manifest",
    "PullProgress",
    "VoiceInfo",
    "VoiceManifest",
    "VoiceStore",
]
