"""English: numbers, dates, money and the rest in words, and words in misaki's phonemes."""

from yuliu.text.en.frontend import English

__all__ = ("English",)
