"""Advertisements in Google's Ads Transparency Center."""
