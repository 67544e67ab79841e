"""scrapyd's site with the files of jobs, by ranges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapyd import website
from twisted.web import resource, static

from fetchworker.scrapyd_ext.node import Node, node_of

if TYPE_CHECKING:
    from scrapyd.config import Config
    from twisted.web.iweb import IRequest

    from fetchworker.scrapyd_ext.parts import Job

#: what a URL calls a file → the file
_FILES = {"items": "items.jsonl", "log": "log"}


class Root(website.Root):  # type: ignore[misc]
    """The site. ``/files/<job>/items`` and ``/files/<job>/log``, and the same by scrapyd's own addresses."""

    def __init__(self, config: Config, app: Any) -> None:
        # its own folders are not used: jobs have theirs
        config.cp.set("scrapyd", "logs_dir", "")
        config.cp.set("scrapyd", "items_dir", "")
        self.node = node_of(config)  # the services ask for it
        super().__init__(config, app)
        self.node_name = self.node.name
        self.local_items = True
        self.putChild(b"files", _Files(self.node))
        self.putChild(b"logs", _ByName(self.node, "log", ".log"))
        self.putChild(b"items", _ByName(self.node, "items", ".jl"))
        self.putChild(b"jobs", website.Jobs(self))  # again, now that it is known to have items

    def get_log_url(self, job: Job) -> str:
        """Where a job's log is."""
        return f"/logs/{job.project}/{job.spider}/{job.job}.log"

    def get_item_url(self, job: Job) -> str:
        """Where a job's items are."""
        return f"/items/{job.project}/{job.spider}/{job.job}.jl"


class _Ranged(static.File):
    """A file. Twisted 26.10 answers 500 to who asks for more of its end than there is."""

    def _rangeToOffsetAndSize(self, start: int | None, end: int) -> tuple[int, int]:
        if start is None:
            end = min(end, self.getFileSize())  # type: ignore[no-untyped-call]
        found: tuple[int, int] = super()._rangeToOffsetAndSize(start, end)  # type: ignore[no-untyped-call]
        return found


class _Files(resource.Resource):
    """``/<job>/items`` and ``/<job>/log``."""

    def __init__(self, node: Node, job_id: str | None = None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._node, self._job_id = node, job_id

    def getChild(self, path: bytes, request: IRequest) -> resource.Resource:  # noqa: ARG002  # Twisted's signature
        name = path.decode(errors="replace")
        if self._job_id is None:
            return _Files(self._node, name)
        return _file(self._node, self._job_id, name)


class _ByName(resource.Resource):
    """``/<project>/<spider>/<job>.<ending>``."""

    def __init__(self, node: Node, kind: str, ending: str, above: tuple[str, ...] = ()) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._node, self._kind, self._ending, self._above = node, kind, ending, above

    def getChild(self, path: bytes, request: IRequest) -> resource.Resource:  # noqa: ARG002  # Twisted's signature
        name = path.decode(errors="replace")
        if len(self._above) < len(("project", "spider")):
            return _ByName(self._node, self._kind, self._ending, (*self._above, name))
        job_id = name.removesuffix(self._ending)
        record = self._node.store.record(job_id) or {}
        if (record.get("project"), record.get("spider")) != self._above:
            return resource._UnsafeNoResource()  # noqa: SLF001  # Twisted has no other that is not deprecated
        return _file(self._node, job_id, self._kind)


def _file(node: Node, job_id: str, kind: str) -> resource.Resource:
    """The file, which answers ranges; its name is one of ours, and so is the job's."""
    if kind not in _FILES or node.store.record(job_id) is None:
        return resource._UnsafeNoResource()  # noqa: SLF001  # as above
    found = _Ranged(str(node.store.root / job_id / _FILES[kind]), defaultType="text/plain; charset=utf-8")
    found.isLeaf = True
    return found
