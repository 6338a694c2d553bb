"""The HTTP server. The only package that knows a web framework."""

from yuliu.server.app import create_app
from yuliu.server.limits import Limits
from yuliu.server.listen import serve

__all__ = ["Limits", "create_app", "serve"]
