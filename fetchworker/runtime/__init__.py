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
from fetchworker.runtime.undoing import undone_on_failure

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
    "undone_on_failure",
    "wait_for_queue",
]
