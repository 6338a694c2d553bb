"""Connections of uvicorn, bounded in number, size and time."""
