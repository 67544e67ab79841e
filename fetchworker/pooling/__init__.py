"""What ``scrapy sessions`` does: shows, drops, warms and refreshes the stored sessions of sites."""
