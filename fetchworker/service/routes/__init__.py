"""The routes, one module per concern."""
