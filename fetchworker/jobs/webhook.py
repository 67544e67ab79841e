"""The word that a job has ended, signed, to whoever waits for it. Losing it costs time only.

``POST <control>/jobs/<id>/complete`` with a JSON body and ``X-Fetchworker-Signature: t=<POSIX seconds>,v1=<hex>``: the
HMAC-SHA256 of ``<t>.<body>`` under the secret that node and control share.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: the variable of a supervisor's environment that holds the secret; its job does not get it
SECRET = "FW_JOB_WEBHOOK_SECRET"  # noqa: S105  # its name
HEADER = "X-Fetchworker-Signature"
#: seconds that a signature is good for
GOOD_FOR = 300
#: digits of a time; Python reads no thousands of them
_DIGITS = 15
_TRIES, _PAUSE, _TIMEOUT = 3, 1.0, 5.0


def signed(secret: str, body: bytes, at: int) -> str:
    """The value of :data:`HEADER` for a body (pure)."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={digest}"


def verified(secret: str, body: bytes, header: str, now: float) -> bool:
    """Whether somebody who knows the secret signed the body, and lately (pure)."""
    at = header.partition(",")[0].removeprefix("t=")
    if not (at.isascii() and at.isdigit() and len(at) <= _DIGITS) or abs(now - int(at)) > GOOD_FOR:
        return False
    return hmac.compare_digest(signed(secret, body, int(at)).encode(), header.encode())


def tell(control: str | None, secret: str | None, job_id: str, end: Mapping[str, Any]) -> bool:
    """Send the word; whether it was taken. Three tries, no redirects, and nothing raised."""
    if not control or not secret:
        return False
    from fetchworker.jobs.posting import post  # noqa: PLC0415  # megabytes that most supervisors do without

    url = f"{control.rstrip('/')}/jobs/{job_id}/complete"
    body = json.dumps({"job_id": job_id, "exit_cause": end["exit_cause"], "ended_at": end["ended_at"]}).encode()
    for left in reversed(range(_TRIES)):
        with suppress(OSError, ValueError):
            headers = {"Content-Type": "application/json", HEADER: signed(secret, body, int(time.time()))}
            return post(url, headers, body, timeout=_TIMEOUT)
        if left:
            time.sleep(_PAUSE)
    return False
