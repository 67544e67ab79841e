"""Amounts of money and days in texts, for sites and documents alike (pure)."""
