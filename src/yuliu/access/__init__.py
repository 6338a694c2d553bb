"""Access to a server: API keys, their store and their quotas."""
