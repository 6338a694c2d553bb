"""The HTTP server. The only package that knows a web framework."""

from yuliu.server.app import create_app
from yuliu.server.config import AppConfig, ServerConfig
from yuliu.server.limits import Limits
from yuliu.server.run import serve
from yuliu.server.transport.tls import Certificate

__all__ = ["AppConfig", "Certificate", "Limits", "ServerConfig", "create_app", "serve"]
