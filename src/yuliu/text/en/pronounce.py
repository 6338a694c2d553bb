"""Pronunciation in misaki's alphabet, from the G2P of the package ``hibari-tts`` (Apache-2.0, itself after misaki by
hexgrad, Apache-2.0), which made the voice's training data; its tokenizer, tagger, lexicons and stress rules are used
as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hibari.g2p import G2P
from hibari.g2p.token import Tok

from yuliu.text.en.heteronyms import retag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from yuliu.text.en.spoken_form import Part

_LONGEST_CHUNK = 48
"""Characters between spaces that are given to the tokenizer at once: its work grows with the square of them."""
_LONGEST_RUN = 16
"""Tokens without a space between that are read as one word group, for the same reason."""
_MARKS = {
    ",": ",", ".": ".", "!": "!", "?": "?", ";": ";", ":": ":", "…": "…", "—": "—", "–": "—", "--": "—", "---": "—",
    "“": "“", "”": "”", "(": "(", ")": ")", "[": "(", "]": ")", "{": "(", "}": ")",
}  # fmt: skip
"""Punctuation and how the voice knows it. Set here because the tagger often takes quotes for nouns, whereupon the word
beside them would be spelled."""
_OPENING = frozenset("“(")
_CLOSE_UP = frozenset(",.!?;:…)”")
_REWRITTEN_TOKEN = re.compile(r"[^\s,.!?;:]+|[,.!?;:]")
_LETTERS = re.compile(r"[A-Z]{1,12}")
_LATIN = re.compile(r"[^\W\d_]+")
_SOUND = re.compile(r"[^\W\d_]")
_QUOTE = '"'


@dataclass(frozen=True, slots=True)
class Token:
    """A token of the spoken form and the characters of the folded text that it stands for."""

    text: str
    start: int
    end: int
    space: bool
    rewritten: bool


@dataclass(frozen=True, slots=True)
class Spoken:
    """A word or mark with its pronunciation; ``mark`` tells punctuation from words."""

    text: str
    start: int
    end: int
    phonemes: str
    space: bool
    mark: bool


class Pronouncer:
    """Reads tokens aloud on paper. Loads the lexicons when made; pure afterwards.

    Args:
        oov: Reads a word that no lexicon has; None (or no answer) has it spelled letter by letter.
    """

    def __init__(self, oov: Callable[[str], str | None] | None) -> None:
        self._oov = oov
        self._g2p = G2P(oov=self._unknown)

    def tokens(self, parts: Iterable[Part]) -> list[Token]:
        """The tokens of the spoken form, in order."""
        tokens: list[Token] = []
        for part in parts:
            if part.spoken[:1].isspace() and tokens:
                tokens[-1] = _with_space(tokens[-1])
            found = self._rewritten(part) if part.rewritten else self._as_written(part)
            tokens.extend(found)
        return tokens

    def _rewritten(self, part: Part) -> list[Token]:
        text = part.spoken
        return [
            Token(found.group(), part.start, part.end, text[found.end() : found.end() + 1].isspace(), rewritten=True)
            for found in _REWRITTEN_TOKEN.finditer(text)
        ]

    def _as_written(self, part: Part) -> list[Token]:
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
        pieces: list[str] = self._g2p.tokenizer.split(chunk)
        if "".join(pieces) != chunk:
            return [chunk]
        return pieces

    def pronounce(self, tokens: Sequence[Token]) -> list[Spoken]:
        """Words and marks with their phonemes, in order; what has no sound is left out."""
        tags = retag([token.text for token in tokens], self._g2p.tagger([token.text for token in tokens]))
        toks = self._toks(tokens, tags)
        spoken: list[Spoken] = []
        walk = _Walk(tokens)
        for tok in self._g2p.phonemize_tokens(toks):
            start, end = walk.span_of(tok.text)
            phonemes = tok.phonemes or ""
            if not _SOUND.search(phonemes) and _LATIN.search(tok.text):
                phonemes = self._apart(tok.text)
            mark = all(char in _MARKS.values() or char == _QUOTE for char in phonemes) and bool(phonemes)
            spoken.append(Spoken(tok.text, start, end, phonemes, bool(tok.whitespace), mark))
        return spoken

    def _toks(self, tokens: Sequence[Token], tags: Sequence[str]) -> list[Tok]:
        toks: list[Tok] = []
        run = 0
        opened = False
        for token, tag in zip(tokens, tags, strict=True):
            run = 0 if token.space else run + 1
            phonemes = _MARKS.get(token.text)
            if token.text == _QUOTE:
                phonemes = "”" if opened else "“"
                opened = not opened
            elif phonemes is None and token.text == "-" and token.space and toks and toks[-1].whitespace:
                phonemes = "—"
            elif token.rewritten and _LETTERS.fullmatch(token.text):
                phonemes = self._letters(token.text)
            space = token.space or run >= _LONGEST_RUN
            run = 0 if space else run
            tok = Tok(token.text, tag, " " if space else "", phonemes=phonemes)
            if token.rewritten and token.text == "point":
                tok.stress = -2  # as the training data read decimal points
            toks.append(tok)
        return toks

    def _letters(self, word: str) -> str | None:
        """A word in capitals inside a rewriting: as the lexicon has it (NASA, COVID), or spelled."""
        known = self._g2p.lexicon.golds.d.get(word)
        if isinstance(known, str) and len(word) > 2:
            return known
        spelled: str | None = self._g2p.lexicon.get_NNP(word)[0]
        return spelled

    def _apart(self, text: str) -> str:
        """Letters that the tagger took for punctuation."""
        return " ".join(self._unknown(found.group()) for found in _LATIN.finditer(text))

    def _unknown(self, word: str) -> str:
        read = self._oov(word) if self._oov is not None else None
        return read or self._spell(word)

    def _spell(self, word: str) -> str:
        plain = "".join(char for char in word.upper() if "A" <= char <= "Z")
        return self._g2p.lexicon.get_NNP(plain)[0] or "" if plain else ""


def _with_space(token: Token) -> Token:
    return Token(token.text, token.start, token.end, space=True, rewritten=token.rewritten)


class _Walk:
    """Finds the tokens that a merged word was made of: the G2P joins and splits tokens but never changes a letter."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._index = 0
        self._offset = 0

    def span_of(self, text: str) -> tuple[int, int]:
        first: Token | None = None
        last: Token | None = None
        at = self._index
        offset = self._offset
        start = end = 0
        for char in text:
            if char == " ":
                continue
            while at < len(self._tokens):
                token = self._tokens[at]
                found = token.text.find(char, offset)
                if found >= 0:
                    break
                at, offset = at + 1, 0
            else:
                break
            if first is None:
                first = token
                start = token.start if token.rewritten else token.start + found
            last = token
            end = token.end if token.rewritten else token.start + found + 1
            offset = found + 1
        if first is None or last is None:
            place = self._tokens[min(self._index, len(self._tokens) - 1)]
            return place.start, place.start
        self._index, self._offset = at, offset
        return start, end
