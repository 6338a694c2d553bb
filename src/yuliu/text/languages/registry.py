"""Registry of languages, and the BCP 47 tags of clients resolved to them.

Mandarin and English are built in. Further languages come from installed packages (entry point group
``yuliu.languages``) or from :func:`register`. A tag is matched by the lookup of RFC 4647: as it stands first, then ever
shorter, so that ``en-US`` finds ``en`` where no language claims ``en-US`` itself.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from yuliu.errors import InvalidRequest
from yuliu.text.languages.english import ENGLISH
from yuliu.text.languages.mandarin import MANDARIN
from yuliu.text.scripts import SCRIPTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from yuliu.text.languages.definition import Language
    from yuliu.types import Lang

ENTRY_POINTS = "yuliu.languages"
"""Entry point group of languages; an entry point is a :class:`Language`."""
BUILT_IN: tuple[Lang, ...] = (MANDARIN.lang, ENGLISH.lang)
"""Languages that come with Yuliu."""
_BUILT_IN = (MANDARIN, ENGLISH)
_TAG = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,8}")
_MACROLANGUAGES = frozenset(("ar", "kok", "lv", "ms", "sgn", "sw", "uz", "zh"))
"""Languages that may precede the tag of a variety (RFC 5646, section 2.2.2): ``zh-yue`` is ``yue``."""


class Registry:
    """Languages by tag. A value: adding a language makes a new registry.

    Raises:
        ValueError: Two languages claim the same tag, or one names a script that is not among
            :data:`yuliu.text.scripts.SCRIPTS`.
    """

    def __init__(self, languages: Iterable[Language]) -> None:
        self._by_lang: dict[Lang, Language] = {}
        self._by_tag: dict[str, Lang] = {}
        for language in languages:
            self._add(language)

    def _add(self, language: Language) -> None:
        if language.lang in self._by_lang:
            raise ValueError(f"language {language.lang!r} is already registered")
        if unknown := sorted(set(language.scripts) - SCRIPTS.keys()):
            raise ValueError(f"language {language.lang!r} names unknown scripts: {', '.join(unknown)}")
        self._by_lang[language.lang] = language
        for tag in (language.lang, *language.tags):
            owner = self._by_tag.setdefault(tag.lower(), language.lang)
            if owner != language.lang:
                raise ValueError(f"languages {owner!r} and {language.lang!r} both claim the tag {tag!r}")

    def __iter__(self) -> Iterator[Language]:
        """Iterate over the languages in the order of registration."""
        return iter(self._by_lang.values())

    def get(self, lang: Lang) -> Language | None:
        """Return a language by its own tag."""
        return self._by_lang.get(lang)

    def exact(self, tag: str) -> Lang | None:
        """Return the language that claims ``tag`` as it stands."""
        return self._by_tag.get(_canonical(tag))

    def lookup(self, tag: str) -> Lang | None:
        """Return the language that ``tag`` means (RFC 4647, section 3.4), or None."""
        subtags = _canonical(tag).split("-")
        if len(subtags) > 1 and subtags[0] in _MACROLANGUAGES and len(subtags[1]) == 3 and subtags[1].isalpha():
            del subtags[0]
        while subtags:
            found = self._by_tag.get("-".join(subtags))
            if found is not None:
                return found
            subtags.pop()
            if subtags and len(subtags[-1]) == 1:  # a singleton only introduces the subtag behind it
                subtags.pop()
        return None


def _canonical(tag: str) -> str:
    return tag.lower().replace("_", "-")


_registered: list[Language] = []


@cache
def _known() -> Registry:
    """Return the languages that are here without looking at installed packages."""
    return Registry([*_BUILT_IN, *_registered])


@cache
def load_registry() -> Registry:
    """Return all languages. The first call looks at the installed packages, which takes some milliseconds."""
    found = [point.load() for point in sorted(entry_points(group=ENTRY_POINTS))]
    return Registry([*_BUILT_IN, *found, *_registered])


def register(language: Language) -> None:
    """Add a language, for the life of the process.

    Raises:
        ValueError: A language already claims one of its tags, or it names a script that is not known.
    """
    Registry([*load_registry(), language])
    _registered.append(language)
    _forget()


def unregister(lang: Lang) -> None:
    """Remove a language that :func:`register` added."""
    _registered[:] = [language for language in _registered if language.lang != lang]
    _forget()


def _forget() -> None:
    _known.cache_clear()
    load_registry.cache_clear()


def all_languages() -> tuple[Lang, ...]:
    """Return the tags of all languages, Mandarin and English first."""
    return tuple(language.lang for language in load_registry())


def language_of(lang: Lang) -> Language:
    """Return a language by its own tag.

    Raises:
        LookupError: No such language is registered.
    """
    found = _known().get(lang) or load_registry().get(lang)
    if found is None:
        raise LookupError(f"no language {lang!r} is registered; there are {', '.join(all_languages())}")
    return found


def phoneme_alphabets() -> tuple[str, ...]:
    """Return the names of the phoneme alphabets of all languages."""
    return tuple(dict.fromkeys(name for language in load_registry() for name in language.alphabets))


def phoneme_problem(reading: str, alphabet: str) -> str:
    """Return what is wrong with phonemes and what to do, or an empty string.

    Where several languages use an alphabet, one of them must be able to say the phonemes.
    """
    checks = [language.alphabets[alphabet] for language in load_registry() if alphabet in language.alphabets]
    problems = [check(reading) for check in checks]
    return "" if "" in problems else problems[0]


def find_language(tag: str) -> Lang | None:
    """Return the language that a BCP 47 tag means, or None."""
    if not _TAG.fullmatch(tag):
        return None
    return _known().exact(tag) or load_registry().lookup(tag)


def parse_language(tag: object, *, param: str = "language") -> Lang:
    """Return the language that a client's BCP 47 tag means: ``EN_us`` is ``en``, ``cmn-Hans-CN`` is ``zh``.

    Args:
        tag: Value as it came.
        param: Name of the field that it came in.

    Raises:
        InvalidRequest: It is no tag, or no registered language has it. The message names the field, the value and the
            languages that there are.
    """
    found = find_language(tag) if isinstance(tag, str) else None
    if found is not None:
        return found
    available = ", ".join(all_languages())
    if not isinstance(tag, str) or not _TAG.fullmatch(tag):
        raise InvalidRequest(f"{param!r} must be a language tag such as en-US; there are {available}", param=param)
    raise InvalidRequest(f"{param!r}: there is no language {tag!r}; there are {available}", param=param)
