"""The whole demo behind one app: instagram with its behaviours, its pictures, the test routes, the benchmark pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
    behaviour: Behaviour


def demo_site(config: BehaviourConfig = CALM, *, seed: int = 0, log: Log | None = None) -> Site:
    """Put the demo together.

    ``www.instagram.com`` and ``i.instagram.com`` are the play, ``scontent.cdninstagram.com`` its pictures,
    ``bench.example`` the benchmark pages; every other host, ``localhost`` too, has the test routes.
    """
    instagram = Instagram(seed=seed)
    behaviour = Behaviour(instagram, config, log)
    hosts: dict[str, App] = dict.fromkeys(HOSTS, behaviour)
    return Site(by_host({**hosts, CDN: cdn_app, "bench.example": bench_app}, lab_app), instagram, behaviour)
