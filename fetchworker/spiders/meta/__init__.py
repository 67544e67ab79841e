"""Meta's Ad Library: its public pages, and its official API."""
