"""``yuliu bench load``: many clients at once over real connections, and the latency and underruns that they see."""
