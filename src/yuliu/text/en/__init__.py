"""English: numbers, dates, money and the rest in words, and words in misaki's phonemes."""

from yuliu.text.en.english import English as English
