"""Settings of a project that has nothing of ours but its queue."""

import json
import os
import warnings

from scrapy.exceptions import ScrapyDeprecationWarning

warnings.simplefilter("error", DeprecationWarning)
warnings.simplefilter("error", ScrapyDeprecationWarning)

SPIDER_MODULES = ["other.spiders"]
SCHEDULER = "fetchworker.frontier.scheduler.Scheduler"
DUPEFILTER_CLASS = "fetchworker.frontier.dupefilter.RFPDupeFilter"
SPIDER_MIDDLEWARES = {"fetchworker.exports.completion.CompletionMiddleware": 10}
ITEM_PIPELINES = {"other.pipelines.Pipeline": 100}
CONCURRENT_REQUESTS_PER_DOMAIN = 8
RETRY_TIMES = 2
TELNETCONSOLE_ENABLED = False
globals().update(json.loads(os.environ["OTHER_SETTINGS"]))
