from __future__ import annotations

import json
from html import escape
from typing import ClassVar

import pytest

from fetchworker.errors import ContractError
from fetchworker.spiders.linkedin import contract

ACTIVITY = "7518227005440000000"
NAME = f"mira-kiln_clay-activity-{ACTIVITY}-dEmo"


def test_a_post_and_its_comments(site):
    text = 'First firing!\n\nWith <a href="https://pt.linkedin.com/company/kiln?trk=x">Kiln</a> #kiln &amp; #Öfen'
    urns = 'data-featured-activity-urn="urn:li:activity:7518227005440000000" data-attributed-urn="urn:li:ugcPost:7518227005440000001"'  # noqa: E501  # two attributes
    card = site.post_card(text=text, urns=urns, more=site.comment(likes="3") + site.comment("Tomás", "How hot?"))
    data = site.posting(
        comment=[{"text": "How hot?", "author": {"name": "Tomás"}, "datePublished": "2026-10-21T09:00:00.500Z",
                  "interactionStatistic": site.counter("LikeAction", 1)}]
    )  # fmt: skip
    post, first, second = site.parsed("post", site.post(card, data=data), post=NAME).items
    assert (post.id, post.alt_ids, post.type) == (ACTIVITY, ["7518227005440000001"], "text")
    assert (post.created_at, post.likes, post.comments_count) == ("2026-10-20T08:30:00Z", 128, 2)
    assert (post.author.name, post.author.username) == ("Mira K.", "mira-kiln")
    assert post.url == f"https://www.linkedin.com/posts/{NAME}"
    assert post.mentions == ["kiln"]
    assert (first.text, first.likes, first.author.username, first.post_id) == ("Wonderful.", 3, "ana-l", ACTIVITY)
    assert first.created_at == "2026-10-20T08:30:00Z"
    assert (second.likes, second.created_at) == (1, "2026-10-21T09:00:00Z")


def test_other_posts_on_the_page_are_not_it(site):
    other = site.post_card("7000000000000000001", text="Buy this", more=site.comment("X", "Spam"))
    post, comment = site.parsed("post", site.post(other, site.post_card(more=site.comment())), post=ACTIVITY).items
    assert (post.id, post.text, comment.text) == (ACTIVITY, "First firing! #kiln", "Wonderful.")
    with pytest.raises(ContractError, match="no post"):
        site.parsed("post", site.post(other, number="7000000000000000001"), post=ACTIVITY)


def test_ids_of_the_same_post(site):
    card = site.post_card(urns='data-attributed-urn="urn:li:share:7518227005440000002"')
    assert site.parsed("post", site.post(card), post="urn:li:share:7518227005440000002").items[0].id == ACTIVITY


def test_data_alone_and_markup_alone(site):
    post = site.only("post", site.post(data=site.posting()))
    assert (post.id, post.text, post.likes, post.comments_count, post.type) == (
        ACTIVITY, "First firing! #kiln", 128, 2, None,
    )  # fmt: skip
    post = site.only("post", site.post(site.post_card(likes="1,234", comments="")))
    assert (post.likes, post.comments_count, post.created_at) == (1234, None, "2026-10-20T08:30:00Z")


def test_comments_in_data_alone(site):
    entry = {"text": "Nice", "author": {"name": "Ana L."}, "datePublished": "2026-10-21T09:00:00Z"}
    _, comment = site.parsed("post", site.post(data=site.posting(comment=entry))).items
    assert (comment.id, comment.text, comment.likes, comment.author.username) == (None, "Nice", None, None)


def test_hidden_reactions_are_unknown(site):
    card = site.post_card().replace('data-num-reactions="128"', "").replace('data-num-comments="2"', "")
    post = site.only("post", site.post(card, data=site.posting(interactionStatistic=None, commentCount=None)))
    assert (post.likes, post.comments_count) == (None, None)


def image(n: int) -> str:
    shown = f'<img data-delayed-url="https://media.licdn.com/{n}.png" alt="A {n}">'
    return f'<li data-test-id="feed-images-content__list-item">{shown}</li>'


VIDEO = """<div data-test-id="feed-native-video-content">
  <video data-poster-url="https://media.licdn.com/p.png" data-sources="{}"></video></div>"""
LINK = """<a data-test-id="article-content" href="{}"><img data-delayed-url="https://media.licdn.com/c.png">
  <h2 data-test-id="article-content__title"> A page </h2></a>"""


def test_pictures(site):
    post = site.only("post", site.post(site.post_card(more=image(1))))
    assert (post.type, [(m.type, m.url, m.alt) for m in post.media]) == (
        "image", [("image", "https://media.licdn.com/1.png", "A 1")],
    )  # fmt: skip
    assert site.only("post", site.post(site.post_card(more=image(1) + image(2)))).type == "carousel"


def test_films(site):
    sources = [{"src": f"https://dms.licdn.com/{n}.mp4", "data-bitrate": n} for n in (2, 9, 4)]
    post = site.only("post", site.post(site.post_card(more=VIDEO.format(escape(json.dumps(sources))))))
    assert (post.type, post.media[0].url) == ("video", "https://dms.licdn.com/9.mp4")
    post = site.only("post", site.post(site.post_card(more=VIDEO.format("[broken"))))
    assert (post.type, post.media[0].url) == ("video", "https://media.licdn.com/p.png")


def test_documents(site):
    config = {"doc": {"title": "Five glazes", "coverPages": [{"config": {"src": "https://media.licdn.com/1.png"}}]}}
    frame = f'<iframe data-native-document-config="{escape(json.dumps(config))}"></iframe>'
    post = site.only("post", site.post(site.post_card(more=frame)))
    assert (post.type, post.media[0].type, post.media[0].alt) == ("carousel", "document", "Five glazes")


@pytest.mark.parametrize(
    ("href", "kind", "link"),
    [
        ("https://www.linkedin.com/redir/redirect?url=https%3A%2F%2Fkilns%2Eexample%2Fa&amp;u=x", "link",
         "https://kilns.example/a"),
        ("https://www.linkedin.com/pulse/what-clay?trk=x", "article", "https://www.linkedin.com/pulse/what-clay?trk=x"),
        ("https://www.linkedin.com/jobs/view/4400000001?x", "job", "https://www.linkedin.com/jobs/view/4400000001?x"),
    ],
)  # fmt: skip
def test_links(site, href, kind, link):
    post = site.only("post", site.post(site.post_card(more=LINK.format(href))))
    assert (post.type, [(one.title, one.url) for one in post.links], post.media) == (kind, [("A page", link)], [])


def test_a_post_inside_a_post_is_not_it(site):
    inner = f'<div class="feed-reshare-content" data-test-id="feed-reshare-content">{site.post_card("7000000000000000001", text="Old news", more=image(1))}</div>'  # noqa: E501  # one element
    post = site.only("post", site.post(site.post_card(text="Look:", more=inner)))
    assert (post.text, post.media, post.type, post.reposted) == ("Look:", [], "text", None)
    assert (post.quoted.id, post.quoted.text, post.quoted.author.name) == ("7000000000000000001", "Old news", "Mira K.")
    post = site.only("post", site.post(site.post_card(text="", more=inner)))
    assert (post.text, post.quoted, post.reposted.text) == (None, None, "Old news")


def test_a_post_of_2021(site):
    card = """<article class="share-update-card"><a class="share-update-card__actor-text-link"
      href="https://pt.linkedin.com/in/mira-kiln?x">Mira K.</a><p class="share-update-card__actor-headline">Potter</p>
      <time class="share-update-card__post-date">3mo</time><p class="share-update-card__update-text">Firing #kiln</p>
      <span class="social-counts-reactions__social-counts-numRections">1,361</span>
      <a class="social-action-counts__social-counts-item">48 Comments</a><section class="comment">
      <a class="comment__actor-name" href="/in/ana-l">Ana</a><span class="comment__message">Nice</span></section>
      </article>"""
    body = site.document(
        card,
        canonical=f"https://www.linkedin.com/posts/{NAME}",
    )
    post, comment = site.parsed("post", body, post=NAME).items
    assert (post.id, post.text, post.likes, post.comments_count) == (ACTIVITY, "Firing #kiln", 1361, 48)
    assert (post.author.username, post.created_at) == ("mira-kiln", "2026-10-20T08:30:00Z")
    assert (comment.text, comment.author.name) == ("Nice", "Ana")


def test_a_page_of_meta_tags_alone_is_a_shell(site):
    canonical = f"https://www.linkedin.com/posts/{NAME}"
    head = '<meta property="og:description" content="Firing #kiln">'
    post = site.only("post", site.document(key="d_public_post", canonical=canonical, head=head), post=NAME)
    assert (post.partial, post.id, post.text, post.likes) == ("page_shell", ACTIVITY, "Firing #kiln", None)
    with pytest.raises(ContractError):
        site.parsed(
            "post", site.document(key="d_public_post", canonical=canonical, head=head), post="7000000000000000001"
        )


def test_data_of_others_are_not_its(site):
    video = {"@type": "VideoObject", "name": "An advertisement", "uploadDate": "2020-01-01T00:00:00Z"}
    post = site.only("post", site.post(site.post_card(), data={"@graph": [video, site.posting(likes=1)]}))
    assert post.created_at == "2026-10-20T08:30:00Z"
    post = site.only("post", site.post(site.post_card(), data=video))
    assert (post.created_at, post.extra.get("headline")) == ("2026-10-20T08:30:00Z", None)


@pytest.mark.parametrize("body", ["", "x", "<p>This post is gone</p>"])
def test_other_pages_are_no_post(site, body):
    with pytest.raises(ContractError):
        site.parsed("post", body, post=ACTIVITY)


@pytest.mark.parametrize(
    ("told", "number"),
    [(NAME, ACTIVITY), (f"urn:li:ugcPost:{ACTIVITY}", ACTIVITY), (f"urn%3Ali%3Aactivity%3A{ACTIVITY}", ACTIVITY),
     (f"mira_x-share-{ACTIVITY}-aB", ACTIVITY), ("mira_activity-12", None), (None, None)],
)  # fmt: skip
def test_numbers_of_posts(told, number):
    assert contract.activity_of(told) == number


class TestArticles:
    DATA: ClassVar = {
        "@type": "Article", "headline": "What clay remembers", "datePublished": "2026-09-12T10:00:00.000+00:00",
        "author": {"name": "Mira K.", "url": "https://pt.linkedin.com/in/mira-kiln"}, "dateModified": "",
        "image": {"url": "https://media.licdn.com/cover.png"},
    }  # fmt: skip

    def test_of_2023_and_later(self, site):
        blocks = "".join(
            f'<div class="article-main__content" data-test-id="publishing-text-block">{text}</div>'
            for text in ("<h3><span>Clay</span></h3>", "<p><span>It </span><span>remembers.</span></p>", "<p><br></p>")
        )
        related = '<div class="related"><h3>Another article</h3></div>'
        data = {**self.DATA, "interactionStatistic": [site.counter("LikeAction", 59), site.counter("CommentAction", 3)]}
        body = site.article(
            '<h1 class="pulse-title">What clay remembers</h1>', blocks, related, site.comment(), data=data
        )
        post, comment = site.parsed("article", body).items
        assert (post.type, post.title, post.text) == ("article", "What clay remembers", "Clay\n\nIt remembers.")
        assert (post.created_at, post.likes, post.comments_count) == ("2026-09-12T10:00:00Z", 59, 3)
        assert (post.author.username, post.media[0].url) == ("mira-kiln", "https://media.licdn.com/cover.png")
        assert post.id == post.shortcode == comment.post_id == "what-clay-remembers-mira-k"
        assert post.extra == {}

    def test_data_of_recommended_articles_are_not_its(self, site):
        other = {**self.DATA, "url": "https://www.linkedin.com/pulse/other", "datePublished": "2001-01-01T00:00:00Z"}
        own = {**self.DATA, "url": "https://pt.linkedin.com/pulse/what-clay-remembers-mira-k"}
        body = site.article('<h1>Clay</h1><div class="prose">x</div>', data={"@graph": [other, own]})
        assert site.only("article", body).created_at == "2026-09-12T10:00:00Z"

    def test_of_2022(self, site):
        body = site.article(
            '<article><h1 class="core-section-container__main-title article-content__title"> Clay </h1>'
            '<div class="base-card main-author-card"><a href="https://pt.linkedin.com/in/mira-kiln?x">'
            '<span>Mira K.</span></a><h3 class="base-main-card__title">Mira K.</h3>'
            '<div class="base-main-card__metadata">Published Dec 19, 2016</div></div>'
            '<div class="article-content__body"><p>It <em>remembers</em>.</p><ol><li>One</li></ol></div></article>'
            '<span class="social-counts-reactions__social-counts-numRections">361</span>'
            '<a class="social-counts-reactions__social-counts-item social-action-counts__social-counts-item">361</a>'
            '<a class="social-action-counts__social-counts-item">48 Comments</a>',
            head='<meta value="https://media.licdn.com/cover.png" name="og:image">',
        )
        post = site.only("article", body)
        assert (post.title, post.text, post.likes, post.comments_count) == ("Clay", "It remembers.\n\n- One", 361, 48)
        assert (post.created_at, post.extra) == (None, {"published_on": "2016-12-19"})
        assert (post.author.name, post.author.username) == ("Mira K.", "mira-kiln")
        assert post.media[0].url == "https://media.licdn.com/cover.png"

    @pytest.mark.parametrize(
        ("told", "day"),
        [("Published on August 19, 2019", "2019-08-19"), ("Veröffentlicht am 19. August 2019", "2019-08-19"),
         ("Publié le 19 août 2019", "2019-08-19"), ("Publicado el 19 de agosto de 2019", "2019-08-19"),
         ("Publicado em 19 de ago. de 2019", "2019-08-19"), ("Pubblicato il 19 agosto 2019", "2019-08-19"),
         ("Gepubliceerd op 19 aug. 2019", "2019-08-19"), ("Publicerad den 19 augusti 2019", "2019-08-19"),
         ("Opublikowano 19 sierpnia 2019", "2019-08-19"), ("2019年8月19日", "2019-08-19"), ("Last week", None)],
    )  # fmt: skip
    def test_of_2021_in_any_language(self, site, told, day):
        body = site.article(
            f'<h1 class="article-title">Clay</h1><time class="article-head__timestamp">{told}</time>'
            '<div class="author-info"><h3><a href="https://pt.linkedin.com/in/mira-kiln?x">Mira K.</a></h3></div>'
            '<span class="social-ctas__number">319</span><span class="social-ctas__number">160</span>'
            '<section class="article-body"><p>It remembers.</p></section>'
        )
        post = site.only("article", body)
        assert (post.likes, post.comments_count, post.author.name) == (319, 160, "Mira K.")
        assert post.extra.get("published_on") == day

    def test_of_2017(self, site):
        body = site.article(
            '<h1>Clay</h1><time itemprop="datePublished" datetime="2017-01-04T08:00:00.000Z">January</time>'
            '<div class="prose" itemprop="articleBody"><p>It remembers.</p></div>'
        )
        post = site.only("article", body)
        assert (post.title, post.text, post.created_at) == ("Clay", "It remembers.", "2017-01-04T08:00:00Z")

    @pytest.mark.parametrize("body", ["", "x", "<h1>Clay</h1>"])
    def test_other_pages_are_no_article(self, site, body):
        with pytest.raises(ContractError):
            site.parsed("article", body, url="https://www.linkedin.com/pulse/clay/")

    def test_a_post_is_no_article(self, site):
        with pytest.raises(ContractError):
            site.parsed("article", site.post(site.post_card(), data=site.posting()))
