"""A Redis for the frontier's tests."""
