"""Items in a database: the latest known state of each thing, and the history of what was observed.

SQLite for one host, PostgreSQL for many; see docs/database.md. :func:`place_of` reads a URL and needs no library; all
that talks to a database (``store``, ``migrate``) imports SQLAlchemy and is imported where it is used.
"""

from fetchworker.db.place import Place, default_url, place_of

__all__ = ["Place", "default_url", "place_of"]
