"""Values that describe a language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from yuliu.text.frontend import Piece, Reading
from yuliu.types import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from yuliu.text.frontend import FrontEnd
    from yuliu.types import Hint, Lang, Respelling

UnknownWords = Callable[[str], str | None]
"""Phonemes of a word that no dictionary has, or None; a voice may bring such a function."""


class AsWritten:
    """Front end of a language whose engine takes text: the spoken form is the text, and there are no units."""

    def read(self, text: str, hints: Sequence[Hint] = (), respelling: Respelling | None = None) -> Reading:
        """Return the text as one piece."""
        del hints, respelling
        return Reading((Piece(Span(0, len(text)), text),) if text else (), ())


def as_written(unknown_words: UnknownWords | None) -> FrontEnd:
    """Make a front end for a language that has none of its own."""
    del unknown_words
    return AsWritten()


def _nothing(_: str) -> None:
    return None


@dataclass(frozen=True, slots=True)
class MarkupWords:
    """Words that the reader of markup adds to a text. Where one is missing, its place is skipped."""

    code_block: str = ""
    """Sentence spoken for a block of code."""
    inline_code: str = ""
    """Word spoken for code inside a line."""
    formula: str = ""
    """Word spoken for a formula that is not read out."""
    comma: str = ","
    """Mark of a short pause, put between the cells of a table and around the name of an emoji."""
    has_spaces: bool = True
    """True if words are written with spaces between them."""
    emoji_name: Callable[[str], str | None] = _nothing
    """Name of a picture; None leaves it out."""
    spoken_formula: Callable[[str], str | None] = _nothing
    """Words of a LaTeX formula; None for formulas better not read out."""


@dataclass(frozen=True, slots=True, eq=False)
class Language:
    """All that Yuliu needs to know of a language."""

    lang: Lang
    """Its tag, as it is echoed to clients: the primary subtag of BCP 47 (``en``)."""
    name: str
    """English name."""
    scripts: tuple[str, ...]
    """Scripts that it is written in, ISO 15924 codes of :data:`yuliu.text.scripts.SCRIPTS`."""
    sample: str
    """Sentence that warms up an engine and shows that a voice works."""
    tags: tuple[str, ...] = ()
    """Further tags that mean it: ``cmn`` for Mandarin, ``zh-HK`` for Cantonese."""
    front_end: Callable[[UnknownWords | None], FrontEnd] = as_written
    """Factory of its front end; may take a second."""
    recognise: Callable[[str], bool] | None = None
    """Test whether a clause is in this language. Asked where another language of the voice comes first for the script;
    without it, the first language of the voice owns the script."""
    alphabets: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    """Phoneme alphabets of its hints and lexicon entries, each with a check that returns what is wrong with a reading
    and what to do, or an empty string."""
    stand_in: str = ""
    """Word in its script that stands for a place with given phonemes while the text is split into languages. Empty
    takes the first word of ``sample``."""
    markup: MarkupWords = MarkupWords()
