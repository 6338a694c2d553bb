"""hibari: the engine of the voice ``heart``."""
