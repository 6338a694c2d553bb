"""``yuliu bench load``: many concurrent clients over real connections, and their latency and underruns."""
