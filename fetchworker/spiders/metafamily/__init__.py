"""What the sites of the Meta family have in common: Relay answers, and the tokens of their pages (pure)."""
