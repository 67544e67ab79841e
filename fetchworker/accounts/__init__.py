"""What ``scrapy usage`` tells: what was used, and what providers bill for it."""
