"""Pronunciation in misaki's alphabet, from the G2P of the package ``hibari-tts`` (Apache-2.0, itself after misaki by
hexgrad, Apache-2.0), which made the voice's training data; its tokenizer, tagger, lexicons and stress rules are used as
they are."""

from __future__ import annotations

import dataclasses
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hibari.g2p import G2P
from hibari.g2p.token import Tok

from yuliu.text.en.heteronyms import Correction, corrections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from yuliu.text.en.spoken_form import FormPart

_LONGEST_CHUNK = 48
"""Maximum length of a run without spaces given to the tokenizer at once: its cost grows with the square of the length.
"""
_LONGEST_RUN = 12
"""Maximum number of tokens without a space between them in one word group, for the same reason."""
_LONGEST_WORD = 24
"""Maximum number of letters of an unknown word read at once: readers of unknown words truncate longer ones."""
_ACCENTED = {
    "résumé": "ɹˈɛzəmˌA", "resumé": "ɹˈɛzəmˌA", "exposé": "ˌɛkspOzˈA", "rosé": "ɹOzˈA", "pâté": "pɑtˈA",
}  # fmt: skip
"""Words with a different meaning without their accents."""
_NO_CORRECTION = Correction()
_MARKS = {
    ",": ",", ".": ".", "!": "!", "?": "?", ";": ";", ":": ":", "…": "…", "—": "—", "–": "—", "--": "—", "---": "—",
    "“": "“", "”": "”", "(": "(", ")": ")", "[": "(", "]": ")", "{": "(", "}": ")",
}  # fmt: skip
"""Punctuation and its symbols in the voice's alphabet. Given here because the tagger often takes quotes for nouns, and
the word beside them would be spelled."""
_REWRITTEN_TOKEN = re.compile(r"[^\s,.!?;:]+|[,.!?;:]")
_LETTERS = re.compile(r"[A-Z]{1,12}")
_LATIN = re.compile(r"[^\W\d_]+")
_BRACKETS = re.compile(r"([\"“”()\[\]{}])")
_SOUND = re.compile(r"[^\W\d_]")
_QUOTE = '"'


@dataclass(frozen=True, slots=True)
class Token:
    """Token of the spoken form and the characters of the folded text that it stands for."""

    text: str
    start: int
    end: int
    space: bool
    rewritten: bool
    spelling: str = ""
    """Spelling in the lexicon, where it differs; of the same length."""
    phonemes: str = ""
    """Pronunciation, where it is given."""

    @property
    def key(self) -> str:
        """Text for the look-up in the lexicon and the tagger."""
        return self.spelling or self.text


@dataclass(frozen=True, slots=True)
class PronouncedWord:
    """Word or mark with its pronunciation; ``mark`` is True for punctuation."""

    text: str
    start: int
    end: int
    phonemes: str
    space: bool
    mark: bool


class Pronouncer:
    """Pronunciation of tokens. Construction loads the lexicons; pure afterwards.

    Args:
        oov: Phonemes of a word outside the lexicons; without it, or without an answer, the word is spelled.
    """

    def __init__(self, oov: Callable[[str], str | None] | None) -> None:
        self._oov = oov
        self._g2p = G2P(oov=self._unknown)

    def tokens(self, parts: Iterable[FormPart]) -> list[Token]:
        """Return the tokens of the spoken form, in order."""
        tokens: list[Token] = []
        for part in parts:
            if part.spoken[:1].isspace() and tokens:
                tokens[-1] = dataclasses.replace(tokens[-1], space=True)
            found = self._rewritten(part) if part.rewritten else self._as_written(part)
            tokens.extend(found)
        return tokens

    def _rewritten(self, part: FormPart) -> list[Token]:
        text = part.spoken
        if part.phonemes:
            word = text.strip() or text or "-"  # one token, white space inside it hidden from the tokenizer
            hidden = re.sub(r"\s", "-", word)
            space = text[-1:].isspace()
            return [Token(word, part.start, part.end, space, rewritten=True, spelling=hidden, phonemes=part.phonemes)]
        return [
            Token(found.group(), part.start, part.end, text[found.end() : found.end() + 1].isspace(), rewritten=True)
            for found in _REWRITTEN_TOKEN.finditer(text)
        ]

    def _as_written(self, part: FormPart) -> list[Token]:
        tokens: list[Token] = []
        for chunk in re.finditer(rf"\S{{1,{_LONGEST_CHUNK}}}", part.spoken):
            start = part.start + chunk.start()
            pieces = self._split(chunk.group())
            for index, piece in enumerate(pieces):
                last = index == len(pieces) - 1
                after = part.spoken[chunk.end() : chunk.end() + 1]
                space = last and (after.isspace() or len(chunk.group()) == _LONGEST_CHUNK)
                tokens.append(Token(piece, start, start + len(piece), space, rewritten=False))
                start += len(piece)
        return tokens

    def _split(self, chunk: str) -> list[str]:
        """Return the tokens of a run without spaces, which they tile. Quotes and brackets always stand alone."""
        tokens: list[str] = []
        for piece in filter(None, _BRACKETS.split(chunk)):
            found: list[str] = self._g2p.tokenizer.split(piece)
            tokens += found if "".join(found) == piece else [piece]
        return tokens

    def pronounce(self, tokens: Sequence[Token]) -> list[PronouncedWord]:
        """Return the words and marks with their phonemes, in order, without silent ones."""
        tokens = self._known_spellings(tokens)
        toks = self._toks(tokens, self._g2p.tagger([token.key for token in tokens]))
        spoken: list[PronouncedWord] = []
        walk = _Walk(tokens)
        for tok in self._g2p.phonemize_tokens(toks):
            text, start, end = walk.next(tok.text)
            phonemes = tok.phonemes or ""
            if not _SOUND.search(phonemes) and _LATIN.search(tok.text):
                phonemes = self._apart(tok.text)
            mark = all(char in _MARKS.values() or char == _QUOTE for char in phonemes) and bool(phonemes)
            spoken.append(PronouncedWord(text, start, end, phonemes, bool(tok.whitespace), mark))
        return spoken

    def _known_spellings(self, tokens: Sequence[Token]) -> list[Token]:
        """Return the tokens in the lexicon's spelling: without accents, and in lower case in a text written in
        capitals."""
        written = [token.text for token in tokens if not token.rewritten and _LATIN.fullmatch(token.text)]
        capitals = sum(len(word) > 1 and word.isupper() for word in written)
        shouted = capitals > 2 and 2 * capitals > len(written)
        return [self._known_spelling(token, shouted=shouted) for token in tokens]

    def _known_spelling(self, token: Token, *, shouted: bool) -> Token:
        text = token.text
        if token.rewritten or (text.isascii() and not (shouted and text.isupper())):
            return token
        plain = text.lower() if shouted and text.isupper() else text
        plain = "".join(char for char in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(char))
        lexicon = self._g2p.lexicon
        known = len(plain) == len(text) and (plain in lexicon.golds or plain in lexicon.silvers)
        return dataclasses.replace(token, spelling=plain) if known else token

    def _toks(self, tokens: Sequence[Token], tags: Sequence[str]) -> list[Tok]:
        corrected = corrections([token.key for token in tokens], tags)
        toks: list[Tok] = []
        run = quotes = 0
        for index, (token, tag) in enumerate(zip(tokens, tags, strict=True)):
            spaced = index > 0 and tokens[index - 1].space
            correction = corrected.get(index, _NO_CORRECTION)
            phonemes = token.phonemes or correction.phonemes or self._given(token, spaced=spaced, quotes=quotes)
            quotes += token.text == _QUOTE
            run = 0 if token.space or run >= _LONGEST_RUN else run + 1
            tag = "POS" if token.key == "'" else tag
            tok = Tok(token.key, correction.tag or tag, "" if run else " ", phonemes=phonemes)
            if token.rewritten and token.text == "point":
                tok.stress = -2  # as the training data read decimal points
            toks.append(tok)
        if toks and not tokens[-1].space:
            toks[-1].whitespace = ""
        return toks

    def _given(self, token: Token, *, spaced: bool, quotes: int) -> str | None:
        """Return the phonemes of tokens that the G2P does not handle: punctuation, and letters to be spelled."""
        if token.text == _QUOTE:
            return "”" if quotes % 2 else "“"
        if token.text == "-" and token.space and spaced:
            return "—"
        if token.text.lower() in _ACCENTED:
            return _ACCENTED[token.text.lower()]
        if token.rewritten and _LETTERS.fullmatch(token.text):
            return self._letters(token.text)
        return _MARKS.get(token.text)

    def _letters(self, word: str) -> str | None:
        """Return a word in capitals inside a rewriting: as in the lexicon (NASA, COVID), or spelled."""
        known = self._g2p.lexicon.golds.d.get(word)
        if isinstance(known, str) and len(word) > 2:
            return known
        spelled: str | None = self._g2p.lexicon.get_NNP(word)[0]
        return spelled

    def _apart(self, text: str) -> str:
        """Return the phonemes of letters that the tagger took for punctuation."""
        return " ".join(self._unknown(found.group()) for found in _LATIN.finditer(text))

    def _unknown(self, word: str) -> str:
        parts = [word[start : start + _LONGEST_WORD] for start in range(0, len(word), _LONGEST_WORD)]
        return " ".join((self._oov(part) if self._oov else None) or self._spell(part) for part in parts)

    def _spell(self, word: str) -> str:
        plain = "".join(char for char in word.upper() if "A" <= char <= "Z")
        return self._g2p.lexicon.get_NNP(plain)[0] or "" if plain else ""


class _Walk:
    """Alignment of merged words with their tokens: the G2P joins and splits tokens but never changes a letter."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._index = 0
        self._offset = 0

    def next(self, merged: str) -> tuple[str, int, int]:
        """Return the next merged word as written, and its place."""
        found = [place for place in map(self._find, merged.replace(" ", "")) if place is not None]
        if not found:
            place = self._tokens[min(self._index, len(self._tokens) - 1)]
            return merged, place.start, place.start
        (first, first_at), (last, last_at) = found[0], found[-1]
        start = first.start if first.rewritten else first.start + first_at
        end = last.end if last.rewritten else last.start + last_at + 1
        return "".join(token.text[at] for token, at in found), start, end

    def _find(self, char: str) -> tuple[Token, int] | None:
        """Return the next place of ``char``; if there is none, stay at the current place."""
        index, offset = self._index, self._offset
        while index < len(self._tokens):
            token = self._tokens[index]
            at = token.key.find(char, offset)
            if at >= 0:
                self._index, self._offset = index, at + 1
                return token, at
            index, offset = index + 1, 0
        return None
