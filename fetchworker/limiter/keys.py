"""The Redis keys of the limiter: all in one slot of a cluster, and each ends by itself when nobody uses it.

Times are microseconds of Redis's clock; ids are ``<worker>:<number>``.

====================== ================================================================================================
``{fw:limit}:held``    zset, id of a permit that is out → when its lease ends
``{fw:limit}:line``    zset, id of who waits → its ticket
``{fw:limit}:seen``    zset, id of who waits → until when it is waited for, should it not ask again
``{fw:limit}:state``   hash: ``full`` (when as many permits as the burst may be given again), ``ticket`` (the last one)
====================== ================================================================================================
"""

from __future__ import annotations

#: in the order of ``turn.lua``'s KEYS
KEYS = tuple(f"{{fw:limit}}:{kind}" for kind in ("held", "line", "seen", "state"))
