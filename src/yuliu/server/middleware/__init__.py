"""ASGI middleware: authentication, CORS, trusted hosts."""
