"""Listings of Walmart."""
