"""The bench suite of the repository: ``yuliu bench`` and what needs judges, peers or their data. Not in the wheel."""
