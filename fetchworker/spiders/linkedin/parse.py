"""From a page to items, one pure function per operation.

Each reads a page by what it holds, whatever its language and generation, and raises
:class:`~fetchworker.errors.ContractError` when it lacks what the operation promises.
"""

from fetchworker.spiders.linkedin.parse_article import article
from fetchworker.spiders.linkedin.parse_company import company
from fetchworker.spiders.linkedin.parse_job import job
from fetchworker.spiders.linkedin.parse_person import person
from fetchworker.spiders.linkedin.parse_post import post
from fetchworker.spiders.linkedin.parse_search import jobs

__all__ = ["article", "company", "job", "jobs", "person", "post"]
