"""``yuliu bench load``: many listeners at once, over real connections, and what they feel."""
