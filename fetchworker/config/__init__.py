"""What the environment tells fetchworker: endpoints, credentials and files, as ``FETCHWORKER_*`` variables.

Everything else has its place elsewhere: what a site needs in ``sites.yaml``, what Scrapy does in ``settings.py``.
:func:`load_environment` is the one door. It refuses to start on a variable that it does not know, on a wrong value
and on values that contradict each other, with one line per fault that names the variable and never holds a secret.

Importing this package costs some 80 ms of CPU (pydantic-settings), 20 of them when pydantic is loaded already: import
it where it is used, not at the head of a module that ``scrapy list`` loads.
"""

from fetchworker.config.destinations import Destination, destinations, port_ranges
from fetchworker.config.environment import PREFIX, Environment, LogFormat, LogLevel
from fetchworker.config.files import project_dir
from fetchworker.config.loading import command_line, load_environment

__all__ = [
    "PREFIX",
    "Destination",
    "Environment",
    "LogFormat",
    "LogLevel",
    "command_line",
    "destinations",
    "load_environment",
    "port_ranges",
    "project_dir",
]
