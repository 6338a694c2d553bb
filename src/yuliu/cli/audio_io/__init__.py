"""Audio output of the command line: files, pipes and devices."""
