import no_such_module  # noqa: F401
import scrapy


class Broken(scrapy.Spider):
    name = "broken"
