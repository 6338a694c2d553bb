"""What becomes of a text before any sound is made: clean text, segments, languages, words, pronunciation."""

from yuliu.explaining.explainer import Arrival, Explainer, explain, pause_ms_of
from yuliu.explaining.values import Explanation

__all__ = ("Arrival", "Explainer", "Explanation", "explain", "pause_ms_of")
