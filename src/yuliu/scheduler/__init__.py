"""Who is served next, and how much: ``policy`` decides (pure), ``worker`` owns the workers, threads that own the
engines.

``simulation`` runs the same policy on a virtual clock.
"""
