"""The page of ``python -m bench speech``."""

from __future__ import annotations

from bench.speech import articles_table


def test_an_article_without_a_verdict_has_dashes() -> None:
    """No figure is made up if the judge did not listen."""
    row = {"article": "en", "chars": 10, "audio_s": 1.0, "rtf": 0.05, "rss_mb_half": 100.0, "rss_mb_end": 101.0}
    (line,) = [line for line in articles_table([row], {}).splitlines() if line.startswith("| en | 10 |")]
    assert line.endswith("| - | - | - | - |")
