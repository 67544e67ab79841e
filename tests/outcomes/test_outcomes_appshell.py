"""Shells of applications, and pages that only look like them."""

from __future__ import annotations

import pytest

from fetchworker.contracts import Page
from fetchworker.outcomes.appshell import is_app_shell

SCRIPT = '<script src="/main.js"></script>'
ASKS = "<noscript>Please enable <b>JavaScript</b> to go on.</noscript>"


def page(text, status=200):
    return Page("https://lab.example/", status, {"content-type": ["text/html"]}, text.encode())


@pytest.mark.parametrize(
    "text",
    [
        f'<!doctype html><title>Shop</title><div id="root"></div>{SCRIPT}',
        f"<html><body>{ASKS}<my-shop></my-shop>{SCRIPT}</body></html>",
        f"<div id=app><p>Loading…</p></div><style>{'p{}' * 500}</style><script>{'let a = 1;' * 500}</script>",
        f'<main id="__next"><!-- {"note " * 200} --></main>{SCRIPT}',
    ],
)
def test_shells(text):
    assert is_app_shell(page(text))


@pytest.mark.parametrize(
    "text",
    [
        f'<div id="root"><p>{"A mug of blue clay. " * 20}</p></div>{SCRIPT}',
        '<div id="root"></div>',
        f"<p>Short and complete.</p>{SCRIPT}",
        f'<div id="root"></div>{SCRIPT}<script type="application/ld+json">{{"name": "Mug"}}</script>',
        '<div id="__next"></div><script id="__NEXT_DATA__" type="application/json">{}</script>',
        '{"html": "<div id=root></div><script></script>"}',
        "",
        "<" * 5000,
    ],
)
def test_pages(text):
    assert not is_app_shell(page(text))


def test_refusals_are_no_shells():
    assert not is_app_shell(page(f'<div id="root"></div>{SCRIPT}', status=403))


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", ["<script", "<noscript>", "<div id=", "<!-- ", "<div>", "<script></script>"])
def test_a_page_made_to_be_slow(piece):
    assert not is_app_shell(page("<p>" + piece * (500_000 // len(piece))))
