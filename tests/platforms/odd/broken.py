import scrapy

import no_such_module  # noqa: F401


class Broken(scrapy.Spider):
    name = "broken"
