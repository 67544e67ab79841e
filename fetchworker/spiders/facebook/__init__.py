"""Public pages of Facebook."""
