"""Mandarin: normalisation, pronunciation, tone sandhi and prosody marks for voices with the Baker phone set."""

from yuliu.text.zh.frontend import Mandarin

__all__ = ["Mandarin"]
