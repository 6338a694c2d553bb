"""English, with the front end of the voices that speak misaki's phonemes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from yuliu.text.emoji_names import english_name
from yuliu.text.formulas import ENGLISH_COLUMN, spoken_formula
from yuliu.text.languages.definition import Language, MarkupWords

if TYPE_CHECKING:
    from yuliu.text.frontend import FrontEnd
    from yuliu.text.languages.definition import UnknownWords


def _front_end(unknown_words: UnknownWords | None) -> FrontEnd:
    from yuliu.text.en import English

    return English(unknown_words)


def _phoneme_problem(reading: str, *, alphabet: str) -> str:
    from yuliu.text.en.frontend import voice_alphabet
    from yuliu.text.en.hints import holds_sound, to_misaki

    phonemes = to_misaki(reading, alphabet)
    unknown = sorted(set(phonemes) - voice_alphabet())
    if unknown:
        return f"holds symbols that the voice does not have ({' '.join(unknown)}); see docs/en/reference/phonemes.md"
    return "" if holds_sound(phonemes) else "holds no phoneme; see docs/en/reference/phonemes.md"


ENGLISH = Language(
    "en",
    "English",
    scripts=("Latn",),
    sample="Hello there, how are you today?",
    tags=("eng",),
    front_end=_front_end,
    alphabets={name: partial(_phoneme_problem, alphabet=name) for name in ("ipa", "x-misaki")},
    stand_in="word",
    markup=MarkupWords(
        code_block="Code omitted.",
        inline_code="code",
        formula="formula",
        emoji_name=english_name,
        spoken_formula=partial(spoken_formula, column=ENGLISH_COLUMN),
    ),
)
