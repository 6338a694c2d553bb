"""``yuliu bench``: what this machine reaches, as a JSON report and a readable table. It reports; it does not judge."""
