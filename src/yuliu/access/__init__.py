"""Access to a server: API keys, the scopes and quotas of each, and the principals that they stand for."""

from yuliu.access.key_ring import Access, Exempt, KeyMissing, KeyRing, ScopeMissing, check_access
from yuliu.access.key_store import KeyStore
from yuliu.access.principal import Principal

__all__ = (
    "Access",
    "Exempt",
    "KeyMissing",
    "KeyRing",
    "KeyStore",
    "Principal",
    "ScopeMissing",
    "check_access",
)
