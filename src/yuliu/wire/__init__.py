"""Protocols as bytes <-> frozen values: no I/O, no clock. One module per protocol."""
