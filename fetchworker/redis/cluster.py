"""A client of a cluster that waits for a free connection to a node, and whose errors are those of other clients.

redis-py's own (8.1) raises MaxConnectionsError where its other pools wait, an exception that is no RedisError when no
node can be reached, sends what comes before it knows the nodes to any of them, and closes connections under the
commands of others.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from redis.asyncio.cluster import ClusterNode, NodesManager, RedisCluster
from redis.exceptions import ConnectionError, MaxConnectionsError, RedisClusterException  # noqa: A004 - redis's names

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Self

    from redis.asyncio.cluster import PipelineCommand
    from redis.typing import EncodableT

#: seconds that a command may wait for a free connection; until a command that failed is sent again
WAIT, _PAUSE = 15.0, 0.1

#: event loop → server → its free connections. Not in the nodes: the client makes new ones whenever it looks for them
_rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Semaphore]] = WeakKeyDictionary()


class _PatientNode(ClusterNode):
    __slots__ = ()

    @asynccontextmanager
    async def _room(self) -> AsyncIterator[None]:
        room = _room_of(self)
        try:
            async with asyncio.timeout(WAIT):
                await room.acquire()
        except TimeoutError:
            raise MaxConnectionsError(f"no connection to {self.name} became free within {WAIT:g} s") from None
        try:
            yield
        finally:
            room.release()

    async def execute_command(self, *args: Any, asking: bool = False, **kwargs: Any) -> Any:
        async with self._room():
            return await super().execute_command(*args, asking=asking, **kwargs)

    async def execute_pipeline(self, commands: list[PipelineCommand]) -> bool:
        async with self._room():
            return await super().execute_pipeline(commands)

    async def disconnect_free_connections(self) -> None:
        """Make them anew when they are next used: somebody may take one before it is closed."""
        for connection in self._free:
            connection.mark_for_reconnect()


def _room_of(node: ClusterNode) -> asyncio.Semaphore:
    rooms = _rooms.setdefault(asyncio.get_running_loop(), {})
    return rooms.setdefault(node.name, asyncio.Semaphore(node.max_connections))


class _PatientNodes(NodesManager):
    """Makes patient nodes of those that it is given: the library makes them in the midst of long methods."""

    __slots__ = ()

    def set_nodes(self, old: dict[str, ClusterNode], new: dict[str, ClusterNode], remove_old: bool = False) -> None:
        for name in old.keys() - new.keys() if remove_old else ():
            self._retire(old.pop(name))
        for name, node in new.items():
            node.__class__ = _PatientNode
            if old is self.nodes_cache and name not in old and name in self.startup_nodes:
                new[name] = self.startup_nodes[name]  # has the connection by which the others were found
                new[name].server_type = node.server_type
        super().set_nodes(old, new, remove_old)

    def _retire(self, node: ClusterNode) -> None:
        node.update_active_connections_for_reconnect()
        closing = asyncio.create_task(ClusterNode.disconnect_free_connections(node))
        self._background_tasks.add(closing)
        closing.add_done_callback(self._background_tasks.discard)


class PatientCluster(RedisCluster):
    """Waits for a free connection, two commands at a time to each node (or as ``max_connections`` says)."""

    def __init__(self, **options: Any) -> None:
        # a slot that moved is noted; to look for all nodes again would close the connections
        super().__init__(**options, reinitialize_steps=0)
        self.nodes_manager.__class__ = _PatientNodes
        for node in self.nodes_manager.startup_nodes.values():
            node.__class__ = _PatientNode

    async def initialize(
        self,
        additional_startup_nodes_info: list[tuple[str, int]] | None = None,
        last_failed_node_name: str | None = None,
    ) -> Self:
        """Find the nodes; after a failure not at once, as a node may be about to come back.

        Raises:
            ConnectionError: none was found; an error of the library like any other, which the base's is not.
        """
        if last_failed_node_name:
            await asyncio.sleep(_PAUSE)
        try:
            await super().initialize(additional_startup_nodes_info, last_failed_node_name)
        except RedisClusterException as error:
            raise ConnectionError(str(error)) from error
        return self

    async def execute_command(self, *args: EncodableT, **kwargs: Any) -> Any:
        """The reply to a command, sent to the node that holds its keys."""
        if self._initialize:
            await self.initialize()
        return await super().execute_command(*args, **kwargs)
