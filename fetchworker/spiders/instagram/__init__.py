"""Public pages of Instagram."""
