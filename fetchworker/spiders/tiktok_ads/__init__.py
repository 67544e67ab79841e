"""TikTok's ad library and Creative Center."""
