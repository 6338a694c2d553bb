"""Lexicons: how users want their words read, as tables and as W3C PLS, and their look-up in a text."""

from yuliu.text.lexicon.entry import Entry
from yuliu.text.lexicon.words import Hit, Lexicon, Words

__all__ = ("Entry", "Hit", "Lexicon", "Words")
