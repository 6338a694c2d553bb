"""The policy under loads of any size, on a virtual clock, with engines from a table. Pure."""
