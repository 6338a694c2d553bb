"""The scheduler: ``policy`` decides what runs next (pure), ``scheduler`` carries it out, ``workers`` run the
engines.

``simulation`` runs the same policy on a virtual clock.
"""
