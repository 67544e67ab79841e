"""What is a secret by its name: one list, from which logs, artifacts, the API of nodes and errors take their part.

The parts are of regular expressions, to be looked for without regard to case.
"""

from __future__ import annotations

from typing import Final

#: of fields, headers, arguments and settings, wherever they stand
CREDENTIALS: Final = ("passw(?:or)?d", "secret", "token", "api[_-]?key", "auth(?!or)", "credential", "cookie")
#: of what pages and their scripts hold beside these
PAGE: Final = ("csrf", "xsrf", "nonce", "lsd", "sess(?:ion)?_?id", "sid", "ticket")
#: a whole name, or the last part of one: user_pwd
SHORT: Final = r"(?<![^\W_])(?:pwd?|pass)(?![^\W_])"
#: whole names whose values a log never shows, with "-" for "_"
WHOLE: Final = frozenset(
    {
        *("authorization", "proxy-authorization", "cookie", "set-cookie", "cookies"),
        *("password", "passwd", "secret", "api-key", "access-token"),
    }
)


def any_of(*parts: str) -> str:
    """An expression for any of them."""
    return f"(?:{'|'.join(parts)})"
