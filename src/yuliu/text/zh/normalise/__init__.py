"""Normalisation of written Mandarin: numbers, dates, units and symbols become words."""

from yuliu.text.zh.normalise.scan import Rewrite, scan

__all__ = ["Rewrite", "scan"]
