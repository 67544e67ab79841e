"""A client of a cluster that waits for a free connection to a node, and whose errors are those of other clients.

redis-py's own raises MaxConnectionsError where its other pools wait, and an exception that is no RedisError when no
node can be reached.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from redis.asyncio.cluster import ClusterNode, NodesManager, RedisCluster
from redis.exceptions import ConnectionError, RedisClusterException  # noqa: A004 - redis's names

if TYPE_CHECKING:
    from typing import Self

    from redis.asyncio.cluster import PipelineCommand

#: event loop → server → its free connections. Not in the nodes: the client makes new ones whenever it looks for them
_rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]] = WeakKeyDictionary()


class _PatientNode(ClusterNode):
    __slots__ = ()

    def _room(self) -> asyncio.Semaphore:
        make = partial(defaultdict[str, asyncio.Semaphore], lambda: asyncio.Semaphore(self.max_connections))
        loop = asyncio.get_running_loop()
        if loop not in _rooms:
            _rooms[loop] = make()
        return _rooms[loop][self.name]

    async def execute_command(self, *args: Any, asking: bool = False, **kwargs: Any) -> Any:
        async with self._room():
            return await super().execute_command(*args, asking=asking, **kwargs)

    async def execute_pipeline(self, commands: list[PipelineCommand]) -> bool:
        async with self._room():
            return await super().execute_pipeline(commands)


class _PatientNodes(NodesManager):
    """Makes patient nodes of those that it is given: the library makes them in the midst of long methods."""

    __slots__ = ()

    def set_nodes(self, old: dict[str, ClusterNode], new: dict[str, ClusterNode], remove_old: bool = False) -> None:
        for node in new.values():
            node.__class__ = _PatientNode
        super().set_nodes(old, new, remove_old)


class PatientCluster(RedisCluster):
    """Waits for a free connection, two commands at a time to each node (or as ``max_connections`` says)."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.nodes_manager.__class__ = _PatientNodes
        for node in self.nodes_manager.startup_nodes.values():
            node.__class__ = _PatientNode

    async def initialize(self, *args: Any, **kwargs: Any) -> Self:
        """Find the nodes.

        Raises:
            ConnectionError: none was found; an error of the library like any other, which the base's is not.
        """
        try:
            await super().initialize(*args, **kwargs)
        except RedisClusterException as error:
            raise ConnectionError(str(error)) from error
        return self
