"""Playback: a jitter buffer, a player and the system's sound device."""
