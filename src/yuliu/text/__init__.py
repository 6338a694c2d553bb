"""Text front ends: from a segment's characters to the units that an engine voices. Pure, no I/O after loading."""
