"""Which platform the configuration asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fetchworker.jobs.store import Launch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fetchworker.config import Environment
    from fetchworker.platforms.base import Platform


def launch_of(environment: Environment) -> Launch:
    """How this machine starts jobs."""
    secret = environment.control_secret
    return Launch(
        grace=environment.job_grace,
        webhook=environment.control_url,
        secret=secret.get_secret_value() if secret else None,
    )


def open_platform(environment: Environment, *, spiders: Sequence[str] | None = None) -> Platform:
    """The nodes that are named, or else this machine. Made in a running loop; close it.

    Args:
        environment: the configuration.
        spiders: the names of the project's spiders, for this machine.

    Raises:
        ConfigError: a node's entry cannot be read.
        PlatformError: jobs cannot be kept.
    """
    if environment.nodes is not None:
        from fetchworker.platforms.scrapyd import ScrapydPlatform, node_addresses  # noqa: PLC0415  # one is needed

        return ScrapydPlatform(node_addresses(environment.nodes.get_secret_value()))
    from fetchworker.platforms.local import LocalPlatform  # noqa: PLC0415  # as above

    return LocalPlatform(
        environment.state_dir / "jobs", slots=environment.jobs_slots, spiders=spiders, launch=launch_of(environment)
    )
