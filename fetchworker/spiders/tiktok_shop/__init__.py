"""Products of TikTok Shop."""
