"""Yuliu (语流): streaming text-to-speech in Mandarin, English and both mixed."""
