"""What is done to published model files, once, when a voice is pulled."""
