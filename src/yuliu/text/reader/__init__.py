"""The incremental reader: text as people and language models write it in, clean text out."""

from yuliu.text.reader.events import Event, Pause, Restyle, Text, UnitEnd
from yuliu.text.reader.options import ReaderOptions
from yuliu.text.reader.reader import Reader

__all__ = ("Event", "Pause", "Reader", "ReaderOptions", "Restyle", "Text", "UnitEnd")
