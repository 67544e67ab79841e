"""The script files of the Meta family's pages, which tell the ids of all stored queries (pure).

A page names the scripts that it loads, and those that it may load later, by their addresses on the family's static
hosts (``…/rsrc.php/…/<name>.js``), in tags or in JSON with escaped slashes. A stored query is a module of its own in
one of them: ``__d("<QueryName>_facebookRelayOperation",…exports="<id>"…)``, with the site's own brand in place of
``facebook`` where there is one. Told by readers of the Ad Library, instagram and Threads, 2025 and 2026.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from fetchworker.contracts import Scripts
from fetchworker.spiders.metafamily import tokens

if TYPE_CHECKING:
    from fetchworker.contracts import Page

#: ``static.xx.fbcdn.net`` is facebook.com's, ``static.cdninstagram.com`` the other two's, which use both
_SCRIPT = re.compile(
    rb"https:(?:\\?/){2}static\.(?:[a-z]{1,8}\.fbcdn\.net|cdninstagram\.com)\\?/rsrc\.php(?:\\?/|[\w.,~%+-]){1,300}?\.js"
    rb"(?:\?(?:[\w=%.;&-]|\\u0026){0,100})?"
)
#: more scripts than any page names; keeps hostile pages cheap
_MOST_SCRIPTS = 400


def scripts(page: Page) -> list[str]:
    """Addresses of the scripts that a page names, each once, in its order."""
    found: dict[str, None] = {}
    for match in _SCRIPT.finditer(page.body):
        address = match[0].decode().replace("\\u0026", "&").replace("\\", "")
        found[html.unescape(address)] = None
        if len(found) >= _MOST_SCRIPTS:
            break
    return list(found)


SCRIPTS = Scripts(
    find=scripts,
    read=tokens.modules,
    prefix=tokens.DOC,
    signs=frozenset({"meta_incorrect_query", "meta_execution_error", "meta_no_such_query"}),
)
