"""Explanation of a text before any audio is made: clean text, segments, languages, words, pronunciation."""

from yuliu.explanation.explainer import Explainer, TimedDelta, explain, pause_ms_of
from yuliu.explanation.values import Explanation

__all__ = ("Explainer", "Explanation", "TimedDelta", "explain", "pause_ms_of")
