"""The HTTP service: ``POST /fetch``, the routes of the sites, and what keeps them up, in one process with Scrapy."""
