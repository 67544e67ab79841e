"""``scrapy newsite``: the files of a new site, rendered from templates and written all or not at all."""

from fetchworker.scaffold.names import Site, new_site
from fetchworker.scaffold.plan import Plan, plan
from fetchworker.scaffold.writing import write

__all__ = ["Plan", "Site", "new_site", "plan", "write"]
