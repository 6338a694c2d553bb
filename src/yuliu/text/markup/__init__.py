"""Incremental reader of markup: text as people and language models write it in, clean text out."""

from yuliu.text.markup.events import CleanText, MarkupEvent, Pause, Restyle, UnitEnd
from yuliu.text.markup.options import MarkupOptions
from yuliu.text.markup.reader import MarkupReader

__all__ = ("CleanText", "MarkupEvent", "MarkupOptions", "MarkupReader", "Pause", "Restyle", "UnitEnd")
