"""What a crawl holds in common, and the parts that it is made of."""

from fetchworker.runtime.crawl import Runtime
from fetchworker.runtime.parts import (
    artifact_store,
    check_artifacts_written,
    check_state_dir,
    connect,
    database,
    disconnect,
    document_settings,
    load_configuration,
    media_store,
    proxy_manager,
    redis_endpoint,
    wait_for_queue,
)
from fetchworker.runtime.pools import Identities, terms_of

__all__ = [
    "Identities",
    "Runtime",
    "artifact_store",
    "check_artifacts_written",
    "check_state_dir",
    "connect",
    "database",
    "disconnect",
    "document_settings",
    "load_configuration",
    "media_store",
    "proxy_manager",
    "redis_endpoint",
    "terms_of",
    "wait_for_queue",
]
