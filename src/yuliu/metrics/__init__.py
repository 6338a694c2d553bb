"""What is measured while Yuliu runs: :class:`yuliu.metrics.metrics.Metrics` and the values it is told.

Nothing is imported here: :mod:`yuliu.metrics.report` is light, :mod:`yuliu.metrics.metrics` loads the Prometheus
client, which only a server needs.
"""
