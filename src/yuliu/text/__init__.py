"""Text: markup, sentences, languages and front ends, from characters to the units that an engine voices. Pure; no I/O
after loading."""
