"""Corrections of readings that the tagger gets wrong, by the surrounding words.

The lexicon holds one reading per part of speech ("record" the noun, "record" the verb), so the correction is usually a
tag; words whose two readings share a part of speech ("lead" the metal) get their phonemes here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from yuliu.text.en.tables import listing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SUBJECTS = frozenset(
    listing("i you we they who to will would can could shall should must may might don't didn't let's")
)
_OBJECTS = frozenset(listing("the a an this that these those my your his her its our their it him them me us"))
_BE = frozenset(
    listing("am is are was were be been being feel feels felt seem seems i'm you're he's she's we're they're")
)
_DETERMINERS = frozenset(listing("a an my your his her their our the this that each one updated"))
_NOUN_TAGS = frozenset(("NN", "NNP"))
_VERBS = frozenset(
    listing(
        "object project contract console conduct conflict contest convert convict decrease desert detail digest"
        " escort export extract finance import impact increase insult invite permit present produce progress protest"
        " rebel record refund refuse reject research subject survey suspect transfer transport upset estimate"
        " separate graduate moderate duplicate advocate articulate attribute combat compound compress abuse excuse"
        " house"
    )
)
"""Words with a different reading as verbs that the tagger tends to take for nouns."""
_LEAD_OF = frozenset(
    listing(
        "pipe pipes paint paints poisoning metal bullet bullets acid pencil shot glass free weights levels exposure"
    )
)
_FISH = frozenset(listing("fish fishing lake river sea caught catch striped largemouth smallmouth fillet grilled boat"))
_TINY = frozenset(
    listing("detail details amount amounts quantity quantities difference differences particles traces changes scale")
)
_BOWS = frozenset(listing("take takes took taking taken"))
_HABIT = frozenset(listing("every often usually always daily sometimes regularly never"))
_PAST_BEFORE = frozenset(listing("have has had was were been be is are i've you've we've they've he's she's"))
_WINDOW = 6
"""Number of words considered on each side."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Word among its neighbours, in lower case."""

    words: Sequence[str]
    tags: Sequence[str]
    index: int

    @property
    def before(self) -> str:
        return self.words[self.index - 1] if self.index else ""

    @property
    def after(self) -> str:
        return self.words[self.index + 1] if self.index + 1 < len(self.words) else ""

    def near(self, cues: frozenset[str]) -> bool:
        window = self.words[max(0, self.index - _WINDOW) : self.index + _WINDOW + 1]
        return any(word in cues for word in window)


@dataclass(frozen=True, slots=True)
class Correction:
    """Corrected part of speech of a word, its phonemes, or both."""

    tag: str | None = None
    phonemes: str | None = None


def _lead(place: _Place) -> Correction | None:
    element = place.after == "is" and place.near(frozenset(("metal", "toxic", "heavy", "element", "poisonous")))
    if place.after in _LEAD_OF or (
        place.before in ("of", "contains", "containing") and place.after in ("", ".", ",", "in")
    ):
        return Correction(phonemes="lˈɛd")
    return Correction(phonemes="lˈɛd") if element else None


def _bass(place: _Place) -> Correction | None:
    return None if place.near(_FISH) else Correction(tag="JJ")


def _minute(place: _Place) -> Correction | None:
    return Correction(tag="JJ") if place.after in _TINY else None


def _content(place: _Place) -> Correction | None:
    predicate = place.before in _BE or place.before in ("quite", "perfectly", "very", "not")
    return Correction(tag="JJ") if predicate and place.after in ("", ".", ",", "!", "with", "to", "and") else None


def _bow(place: _Place) -> Correction | None:
    taken = place.before == "a" and place.near(_BOWS)
    return Correction(tag="VB") if taken or place.after in ("down", "before", "to") else None


def _read(place: _Place) -> Correction | None:
    habit = place.tags[place.index] in ("VBD", "VBP") and place.before not in _PAST_BEFORE
    return Correction(tag="VB") if habit and place.near(_HABIT) else None


def _resume(place: _Place) -> Correction | None:
    noun = place.before in _DETERMINERS and place.after not in _OBJECTS
    return Correction(phonemes="ɹˈɛzəmˌA") if noun else None


def _polish(place: _Place) -> Correction | None:
    asked = place.index == 0 and place.after in _OBJECTS
    return Correction(phonemes="pˈɑlɪʃ") if asked else None


def _verb(place: _Place) -> Correction | None:
    if place.tags[place.index] not in _NOUN_TAGS:
        return None
    told = place.index == 0 and place.after in _OBJECTS
    return Correction(tag="VB") if told or place.before in _SUBJECTS else None


_RULES: dict[str, Callable[[_Place], Correction | None]] = {
    "lead": _lead,
    "bass": _bass,
    "minute": _minute,
    "content": _content,
    "bow": _bow,
    "read": _read,
    "resume": _resume,
    "polish": _polish,
    **dict.fromkeys(_VERBS, _verb),
}


def corrections(words: Sequence[str], tags: Sequence[str]) -> dict[int, Correction]:
    """Return the corrections by the index of the word; ``tags`` are Penn Treebank tags, one for each of ``words``."""
    lower = [word.lower() for word in words]
    found: dict[int, Correction] = {}
    for index, word in enumerate(lower):
        rule = _RULES.get(word)
        correction = rule(_Place(lower, tags, index)) if rule else None
        if correction:
            found[index] = correction
    return found
