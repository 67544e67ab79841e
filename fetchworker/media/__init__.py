"""Pictures and films of items: where they are named, what they are, and where they are kept."""

from fetchworker.media.find import media_of
from fetchworker.media.kinds import Kind, kind_of
from fetchworker.media.origins import MEDIA, Origin, Origins
from fetchworker.media.stores import Store, open_store

__all__ = ["MEDIA", "Kind", "Origin", "Origins", "Store", "kind_of", "media_of", "open_store"]
