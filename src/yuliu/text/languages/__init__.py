"""Languages that text can be read in."""

from yuliu.text.languages.definition import AsWritten, Language, MarkupWords, UnknownWords, as_written
from yuliu.text.languages.registry import (
    BUILT_IN,
    ENTRY_POINTS,
    Registry,
    all_languages,
    find_language,
    language_of,
    load_registry,
    parse_language,
    phoneme_alphabets,
    phoneme_problem,
    register,
    unregister,
)

__all__ = (
    "BUILT_IN",
    "ENTRY_POINTS",
    "AsWritten",
    "Language",
    "MarkupWords",
    "Registry",
    "UnknownWords",
    "all_languages",
    "as_written",
    "find_language",
    "language_of",
    "load_registry",
    "parse_language",
    "phoneme_alphabets",
    "phoneme_problem",
    "register",
    "unregister",
)
