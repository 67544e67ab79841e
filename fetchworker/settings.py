"""A request's journey, and every setting on its way.

The values here are Scrapy's; credentials and endpoints come from the environment (``FETCHWORKER_*``, see
docs/configuration.md) and what differs from site to site from ``sites.yaml``, which sets concurrency, delay, timeout,
size cap and robots.txt for its spider.
"""

from __future__ import annotations

BOT_NAME = "fetchworker"
SPIDER_MODULES = ["fetchworker.spiders"]
# reads the spiders' names and imports the one that is used: Scrapy's own imports every site for every command
SPIDER_LOADER_CLASS = "fetchworker.spiders.loader.LazySpiderLoader"
COMMANDS_MODULE = "fetchworker.commands"

# ── 1. The loop ──────────────────────────────────────────────────────────────────────────────────────────────────────
# No Twisted reactor: Scrapy runs on a plain asyncio loop, which the HTTP service shares; uvloop for its cost per event.
TWISTED_REACTOR_ENABLED = False
ASYNCIO_EVENT_LOOP = "uvloop.Loop"

# ── 2. The spider makes a request, the scheduler keeps it ────────────────────────────────────────────────────────────
# A crawl with arguments has a private queue; without any the spider serves the one that all workers of its site share.
# Both are in Redis, where requests are leased: Runtime puts that scheduler here (fetchworker.frontier.scheduler).
SCHEDULER = "fetchworker.frontier.private.Scheduler"  # for FETCHWORKER_FRONTIER=memory
SCHEDULER_IDLE_BEFORE_CLOSE = 0  # seconds without seeds and work before a shared spider ends; 0: never
CONCURRENT_REQUESTS = 32  # at once in this process
URLLENGTH_LIMIT = 0  # signed addresses are long; Scrapy's default drops them with a log line
DEPTH_LIMIT = 0

# ── 3. Downloader middlewares, from the spider to the handler ────────────────────────────────────────────────────────
# All of Scrapy's own that are not named here are off: they cost time on each request and change nothing on this path
# (cookies, user agent, default headers, timeout, proxies and retries are ours; statistics are kept per outcome).
DOWNLOADER_MIDDLEWARES_BASE: dict[str, int] = {}
DOWNLOADER_MIDDLEWARES = {
    # where requests may go: first of all, as what follows may send requests of its own, which come by here as well
    "fetchworker.middlewares.egress.EgressMiddleware": 50,
    # robots.txt, per site (`robots: obey|ignore` in sites.yaml)
    "fetchworker.middlewares.robots.RobotsMiddleware": 100,
    # redirects: each hop is a request of its own and comes by everything below again
    "fetchworker.middlewares.redirect.RedirectMiddleware": 500,
    # tells blocks from data; rotates, waits, retries; only `ok` goes up
    "fetchworker.middlewares.outcome.OutcomeMiddleware": 550,
    # writes answers into WARC files; off unless FETCHWORKER_ARTIFACTS_WARC says otherwise
    "fetchworker.middlewares.archive.ArchiveMiddleware": 560,
    # decodes gzip, deflate, br and zstd, stops bombs at DOWNLOAD_MAXSIZE
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": 600,
    # the site's budget of bytes, where it has one (`budget` in sites.yaml)
    "fetchworker.middlewares.budget.BudgetMiddleware": 690,
    # waits while no proxy leads to a site that requires one
    "fetchworker.middlewares.noegress.NoEgressMiddleware": 695,
    # the identity: cookies, exit, profile, tokens
    "fetchworker.middlewares.session.SessionMiddleware": 700,
    # whether a browser makes the try (`render: never|on_evidence|always` in sites.yaml)
    "fetchworker.middlewares.render.RenderMiddleware": 740,
    # dresses the request as the identity's browser
    "fetchworker.middlewares.impersonation.ImpersonationMiddleware": 750,
}
REDIRECT_MAX_TIMES = 10
ROBOTSTXT_USER_AGENT = "fetchworker"  # the name that robots.txt rules are looked up under

# ── 4. The downloader keeps the limits, the handler sends ────────────────────────────────────────────────────────────
DOWNLOADER = "fetchworker.download.downloader.Downloader"
DOWNLOAD_HANDLERS = {
    # curl's, and for requests with meta["playwright"] the browser (docs/browser.md)
    "http": "fetchworker.download.browser.BrowserDownloadHandler",
    "https": "fetchworker.download.browser.BrowserDownloadHandler",
    # a seed must not be able to read local files or to reach other protocols
    "file": None,
    "ftp": None,
    "s3": None,
    "data": None,
}
DOWNLOAD_VERIFY_CERTIFICATES = True
DOWNLOAD_TIMEOUT = 30.0  # seconds for a whole transfer; sites.yaml sets it per site
DOWNLOAD_MAXSIZE = 32 * 1024 * 1024  # bytes, as sent and decoded; Scrapy's default is 1 GiB
DOWNLOAD_WARNSIZE = 8 * 1024 * 1024  # bytes

# ── 5. The page comes back: spider middlewares, then the spider's parser ─────────────────────────────────────────────
SPIDER_MIDDLEWARES_BASE: dict[str, int] = {}
SPIDER_MIDDLEWARES = {
    # by whose identity the media of items are fetched; off unless FETCHWORKER_MEDIA or _DOCUMENTS says otherwise
    "fetchworker.middlewares.origin.OriginMiddleware": 5,
    # a response is done when its items are stored and their lines on disk
    "fetchworker.exports.completion.CompletionMiddleware": 10,
}

# ── 6. Items: checked, then written ──────────────────────────────────────────────────────────────────────────────────
# Scrapy starts this many tasks for every response, with items or without: more only costs time here.
# (A crawl that stores in a database has more, so that the items of a page share a transaction: Runtime sets it.)
CONCURRENT_ITEMS = 1
ITEM_PIPELINES = {
    "fetchworker.pipelines.validate.ValidatePipeline": 100,
    # off unless FETCHWORKER_MEDIA says otherwise
    "fetchworker.pipelines.media.MediaPipeline": 500,
    # off unless FETCHWORKER_DOCUMENTS says otherwise, and on for the spider `document`
    "fetchworker.pipelines.document.DocumentPipeline": 550,
    # off unless FETCHWORKER_STORE or FETCHWORKER_DATABASE_URL says otherwise
    "fetchworker.pipelines.store.StorePipeline": 900,
}
FEED_STORAGES = {"": "fetchworker.exports.feeds.LineFeedStorage", "file": "fetchworker.exports.feeds.LineFeedStorage"}
FEED_EXPORTERS = {
    "jsonlines": "fetchworker.exports.feeds.LineExporter",
    "jsonl": "fetchworker.exports.feeds.LineExporter",
    "jl": "fetchworker.exports.feeds.LineExporter",
}
FEED_EXPORT_ENCODING = "utf-8"

# ── 7. Around it all ─────────────────────────────────────────────────────────────────────────────────────────────────
# These two open ports that run code.
REMOTE_CONTROL_ENABLED = False
TELNETCONSOLE_ENABLED = False
EXTENSIONS = {
    "scrapy.extensions.corestats.CoreStats": 0,
    "scrapy.extensions.feedexport.FeedExporter": 0,
    "scrapy.extensions.closespider.CloseSpider": 0,
    "scrapy.extensions.logstats.LogStats": 0,
    # robots.txt's Crawl-delay, where robots.txt is obeyed
    "fetchworker.download.crawldelay.CrawlDelay": 0,
    "fetchworker.summary.Summary": 900,
}
EXTENSIONS_BASE: dict[str, int] = {}
LOG_LEVEL = "INFO"
ADDONS = {
    "fetchworker.telemetry.scrapylog.LoggingAddon": 0,
    # spiders that were written for scrapy-playwright name its handler
    "fetchworker.download.foreign.ForeignHandlers": 10,
}
