"""What calls and crawls leave behind to be looked at: screenshots, PDFs, traces, HARs, pages, WARCs, failed fetches.

The bytes are kept by their SHA-256 in a folder or any place that fsspec can write; what is known of each is a row of
the database where items are stored in one, else a small file beside them. See docs/artifacts.md.
"""

from fetchworker.artifacts.model import KINDS, Artifact, ArtifactContext, Filters, Kind, is_id
from fetchworker.artifacts.store import ArtifactStore, Expired

__all__ = ["KINDS", "Artifact", "ArtifactContext", "ArtifactStore", "Expired", "Filters", "Kind", "is_id"]
