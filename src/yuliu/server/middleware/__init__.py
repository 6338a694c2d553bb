"""ASGI middleware: trusted hosts and CORS. Access is checked by the router."""
