"""The table of all routes of the server."""

from __future__ import annotations

from yuliu.server.endpoints import catalogue, health, lexicons, metrics, native, openai, phrases, reference

_SERVED = (
    *openai.ROUTES,
    *catalogue.ROUTES,
    *native.ROUTES,
    *phrases.ROUTES,
    *lexicons.ROUTES,
    *metrics.ROUTES,
    *health.ROUTES,
)
ROUTES = (*_SERVED, *reference.reference_routes(_SERVED))
"""All routes. The server serves nothing else."""
