"""Threads, as a guest sees it."""
