"""Engines: model families that speak, behind the contract in ``api``. The only package that runs models."""
