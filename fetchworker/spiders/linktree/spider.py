"""The Linktree spider."""

from collections.abc import Iterator

from fetchworker.contracts import Call, Fetch
from fetchworker.spiders.base import SiteSpider, operation
from fetchworker.spiders.linktree import contract, parse
from fetchworker.spiders.linktree.params import ProfileParams

_NOT_THE_COMPANY = rf"(?!(?:{'|'.join(contract.RESERVED)})(?:[/?#]|$))"


class LinktreeSpider(SiteSpider):
    """Link pages, as a visitor sees them."""

    name = "linktree"

    @operation(
        parse=parse.profile,
        default_for=("user",),
        patterns=(rf"https?://(?:www\.)?linktr\.ee/{_NOT_THE_COMPANY}@?(?P<user>{contract.USERNAME})/?(?:[?#].*)?$",),
    )
    def profile(self, call: Call[ProfileParams]) -> Iterator[Fetch]:
        """A link page: who it belongs to, its links and accounts elsewhere."""
        yield contract.page(call.params.user)
