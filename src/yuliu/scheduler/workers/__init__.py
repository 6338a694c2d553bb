"""Workers: threads that own engines and do one job at a time."""
