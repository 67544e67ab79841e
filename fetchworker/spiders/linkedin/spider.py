"""The LinkedIn spider: what guests may see of jobs, organizations, members and what they publish."""

from collections.abc import Iterator

from fetchworker.contracts import Call, Fetch
from fetchworker.spiders.base import SiteSpider, operation
from fetchworker.spiders.linkedin import contract, parse
from fetchworker.spiders.linkedin.params import (
    ArticleParams,
    CompanyParams,
    JobParams,
    PersonParams,
    PostParams,
    SearchParams,
)

_SITE = r"https?://(?:[a-z-]{1,20}\.)?linkedin\.com"
_END = r"/?(?:[?#].*)?$"
_NAME = r"[^\s/?#]{1,900}"
_NOBODY = rf"(?!(?:{'|'.join(contract.NOBODY)})(?:[/?#]|$))"
_URN = r"urn(?::|%3A)li(?::|%3A)(?:activity|share|ugcPost)(?::|%3A)\d{10,20}"

# jobs and companies are judged each by themselves: a visitor who is refused at one is not known at the other
_JOBS, _COMPANIES = "jobs", "company"


class LinkedinSpider(SiteSpider):
    """Public pages, as a visitor without an account sees them."""

    name = "linkedin"

    @operation(
        parse=parse.jobs,
        default_for=("query", "location", "geo_id", "company_ids"),
        counts="job",
        patterns=(rf"{_SITE}/jobs/search{_END}", rf"{_SITE}/jobs/{_NAME}-jobs(?:-[^\s/?#]{{1,200}})?{_END}"),
        jar=_JOBS,
    )
    def jobs(self, call: Call[SearchParams]) -> Iterator[Fetch]:
        """Jobs by words, place, age, kind, company."""
        query = call.params.site_query() or call.state.get("query")
        start = int(call.cursor or 0)
        if query:
            yield contract.search_fragment(query, start)
        if not start:  # the page alone has no second one
            yield contract.search_page(call.params.address())

    @operation(
        parse=parse.job,
        default_for=("job",),
        patterns=(
            rf"{_SITE}/jobs/view/(?:[^\s/?#]{{1,900}}-)?(?P<job>\d{{6,12}}){_END}",
            rf"{_SITE}/jobs-guest/jobs/api/jobPosting/(?P<job>\d{{6,12}}){_END}",
        ),
        jar=_JOBS,
    )
    def job(self, call: Call[JobParams]) -> Iterator[Fetch]:
        """One job with its description."""
        yield contract.job_fragment(call.params.job)
        yield contract.job_page(call.params.job)

    @operation(
        parse=parse.company,
        default_for=("company",),
        patterns=(rf"{_SITE}/(?P<type>{'|'.join(contract.ORGANIZATIONS)})/{_NOBODY}(?P<company>{_NAME})(?:[/?#].*)?$",),
        jar=_COMPANIES,
    )
    def company(self, call: Call[CompanyParams]) -> Iterator[Fetch]:
        """A company, a school or a brand, and its latest posts."""
        yield contract.organization(call.params.type, call.params.company)

    @operation(parse=parse.person, default_for=("person",), patterns=(rf"{_SITE}/in/(?P<person>{_NAME})(?:[/?#].*)?$",))
    def person(self, call: Call[PersonParams]) -> Iterator[Fetch]:
        """A member's public profile, and their latest posts."""
        yield contract.person(call.params.person)

    @operation(
        parse=parse.post,
        default_for=("post",),
        patterns=(
            rf"{_SITE}/posts/(?P<post>{_NAME}){_END}",
            rf"{_SITE}/(?:embed/)?feed/update/(?P<post>{_URN}){_END}",
        ),
    )
    def post(self, call: Call[PostParams]) -> Iterator[Fetch]:
        """A post and its first comments."""
        yield from contract.post(call.params.post)

    @operation(
        parse=parse.article,
        default_for=("article",),
        patterns=(rf"{_SITE}/pulse/(?P<article>{_NAME}){_END}",),
    )
    def article(self, call: Call[ArticleParams]) -> Iterator[Fetch]:
        """An article with its text and first comments."""
        yield contract.article(call.params.article)
