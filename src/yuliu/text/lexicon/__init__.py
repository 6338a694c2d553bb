"""Lexicons: what users want said for their words, as tables and as W3C PLS, and its look-up in a text."""

from yuliu.text.lexicon.entry import Entry
from yuliu.text.lexicon.words import Hit, Lexicon, Words

__all__ = ("Entry", "Hit", "Lexicon", "Words")
