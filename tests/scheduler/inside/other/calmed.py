"""The spider that hung, mended."""

from other.spiders import PlainSpider


class CalmedSpider(PlainSpider):
    name = "hangs"
