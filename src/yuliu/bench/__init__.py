"""``yuliu bench``: latency, formats and load on this machine, as JSON and as a table. It reports and does not judge."""
