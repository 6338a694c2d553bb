"""FastSpeech2 with multi-band MelGAN: the engine of the voice ``baker``."""
