"""Listings of eBay."""
