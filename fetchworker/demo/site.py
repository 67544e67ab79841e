"""The whole demo behind one app: instagram with its behaviours, its pictures, the test routes, the benchmark pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fetchworker.demo import (
    ad_library,
    ads_transparency,
    ebay,
    facebook,
    linkedin,
    linktree,
    scripts,
    threads,
    tiktok_ads,
    tiktok_shop,
    walmart,
)
from fetchworker.demo.behaviour import CALM, Behaviour, BehaviourConfig
from fetchworker.demo.bench import bench_app
from fetchworker.demo.instagram import HOSTS, Instagram, cdn_app
from fetchworker.demo.lab import lab_app
from fetchworker.demo.model import App, by_host
from fetchworker.demo.shapes import CDN

if TYPE_CHECKING:
    from fetchworker.demo.log import Log


@dataclass(frozen=True, slots=True)
class Site:
    """The app and the parts of it that tests look into."""

    app: App
    instagram: Instagram
    ebay: ebay.Ebay
    linktree: linktree.Linktree
    facebook: facebook.Facebook
    threads: threads.Threads
    ad_library: ad_library.AdLibrary
    tiktok_shop: tiktok_shop.TiktokShop
    tiktok_ads: tiktok_ads.TiktokAds
    behaviour: Behaviour
    walmart: walmart.Walmart


def demo_site(config: BehaviourConfig = CALM, *, seed: int = 0, log: Log | None = None) -> Site:
    """Put the demo together.

    ``www.instagram.com`` and ``i.instagram.com`` are the main play, ``scontent.cdninstagram.com`` its pictures; hosts
    of eBay, Walmart, the Ads Transparency Center, TikTok, LinkedIn, Facebook, Linktree, Threads and the Ad Library (a
    part of Facebook's host) play those sites (the first six turn exits away where the behaviour blocks them, the last
    two behave as instagram does); ``bench.example`` has the benchmark pages, and every other host, ``localhost`` too,
    the test routes.
    """
    instagram = Instagram(seed=seed)
    behaviour = Behaviour(instagram, config, log)
    market = ebay.Ebay(seed=seed, challenge_exits=config.block_exits != 0, log=log)
    link_pages = linktree.Linktree(instagram.world)
    superstore = walmart.Walmart(market.market, challenge_exits=config.block_exits != 0, log=log)
    words, library = threads.Threads(instagram.world, seed=seed), ad_library.AdLibrary(seed=seed)
    wary = config.block_exits != 0
    shop = tiktok_shop.TiktokShop(challenge_exits=wary, log=log)
    ads = tiktok_ads.TiktokAds(block_exits=wary, stale_after=2 if wary else None, log=log)
    hosts: dict[str, App] = {**dict.fromkeys(HOSTS, behaviour), **dict.fromkeys(ebay.HOSTS, market)}
    comet = facebook.Facebook(seed=seed, block_exits=wary, wall_after=config.wall_after, log=log)
    hosts |= dict.fromkeys(walmart.HOSTS, superstore)
    hosts |= dict.fromkeys(threads.HOSTS, Behaviour(words, config, log))
    gated = Behaviour(library, config, log, cookie="datr")
    hosts |= {**dict.fromkeys(facebook.HOSTS, facebook.beside(gated, comet)), ad_library.API_HOST: library}
    hosts[ads_transparency.HOST] = ads_transparency.AdsTransparency(challenge_exits=config.block_exits != 0, log=log)
    hosts |= dict.fromkeys(linkedin.HOSTS, linkedin.Linkedin(refuse_exits=config.block_exits != 0, log=log))
    hosts |= dict.fromkeys(
        scripts.HOSTS,
        scripts.Scripts(((library.queries, "facebook"), (words.queries, "threads"), (instagram.queries, "instagram"))),
    )
    hosts |= {linktree.HOST: link_pages, CDN: cdn_app, "bench.example": bench_app}
    hosts |= {**dict.fromkeys(tiktok_shop.HOSTS, shop), **dict.fromkeys(tiktok_ads.HOSTS, ads)}
    return Site(
        by_host(hosts, lab_app), instagram, market, link_pages, comet, words, library, shop, ads, behaviour, superstore
    )
