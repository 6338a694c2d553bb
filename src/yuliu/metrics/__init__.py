"""Metrics of a running process: :class:`yuliu.metrics.metrics.Metrics` and the values that it records.

This module imports nothing: :mod:`yuliu.metrics.report` is light, while :mod:`yuliu.metrics.metrics` loads the
Prometheus client, which only a server needs.
"""
