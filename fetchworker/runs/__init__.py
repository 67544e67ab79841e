"""Runs: jobs asked for together, watched whatever happens, their rows brought home once.

:class:`fetchworker.runs.service.Runs` is what routes and commands use. It needs the extras ``runs`` and ``store``.
"""
