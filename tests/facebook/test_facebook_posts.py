"""Lists of posts: pages, streamed answers, the older sites."""

from __future__ import annotations

import html
import json

import pytest

from fetchworker.errors import ContractError

MORE = "/page_content_list_view/more/?page_id=1&start_cursor=%7B%22timeline_cursor%22%3A%22AQ-x_1%22%7D&num_to_fetch=4"


def lines(*documents):
    return "\r\n".join(map(json.dumps, documents))


def streamed(site, *stories, info=None, path=True):
    first, *rest = stories
    feed = {"edges": [{"node": first}]}
    documents = [{"data": {"node": {"__typename": "User", "id": site.owner, "timeline_list_feed_units": feed}}}]
    for number, story in enumerate(rest, 1):
        where = {"path": ["node", "timeline_list_feed_units", "edges", number]} if path else {}
        data = {"node": story} if not path else {"node": story, "cursor": "c"}
        documents.append({"label": "ProfileCometTimelineFeed_user$stream$x", **where, "data": data})
    if info:
        documents.append(
            {
                "label": "ProfileCometTimelineFeed_user$defer$y",
                "data": {"page_info": info},
                **({"path": ["node", "timeline_list_feed_units"]} if path else {}),
            }
        )
    return lines(*documents)


@pytest.mark.parametrize("path", [True, False])
def test_an_answer_in_several_documents(site, path):
    stories = [site.story(f"810000000000071{n}", f"Bowl {n}", time=1_780_000_000 - n) for n in range(3)]
    info = {"has_next_page": True, "end_cursor": "CUR2"}
    found = site.parsed("posts", streamed(site, *stories, info=info, path=path), cursor="CUR1", id=site.owner)
    assert [one.id for one in found.items[:-1]] == ["8100000000000710", "8100000000000711", "8100000000000712"]
    assert (found.cursor, found.items[-1].next_cursor, found.state) == ("CUR2", "CUR2", {"user_id": site.owner})


def test_the_last_page_has_no_cursor(site):
    info = {"has_next_page": False, "end_cursor": "CUR9"}
    found = site.parsed("posts", streamed(site, site.story(), info=info), cursor="CUR1", id=site.owner)
    assert (found.cursor, found.items[-1].exhausted) == (None, True)


def test_other_peoples_lists_are_left_out(site):
    other = site.timeline(site.story("8100000000000999", owner="100000000000999"), owner="100000000000999")
    suggested = {"data": {"viewer": {"suggestions": {"edges": [{"node": site.story("8100000000000998")}]}}}}
    body = site.page(
        site.result("OtherQuery", other),
        site.result("SuggestedQuery", suggested),
        site.result("ProfileCometTimelineFeedQuery", site.timeline(site.story(), site.story())),
    )
    assert [one.id for one in site.items("posts", body, id=site.owner)[:-1]] == [site.post]


def test_pages_of_the_first_comet_years(site):
    """Counts under ``ufi_renderer``, time below ``content``."""
    raw = site.story(words="Old form")
    sections = raw["comet_sections"]
    layout = sections.pop("context_layout")
    sections["content"]["story"]["comet_sections"] = {"context_layout": layout}
    feedback = {
        "id": raw["feedback"]["id"],
        "comment_count": {"total_count": 0},
        "reaction_count": {"count": 4},
        "share_count": {"count": 0},
    }
    sections["feedback"] = {
        "story": {"feedback_context": {"feedback_target_with_context": {"ufi_renderer": {"feedback": feedback}}}}
    }
    body = site.page(site.result("ProfileCometTimelineFeedQuery", site.timeline(raw), inline=True))
    post = site.items("posts", body)[0]
    assert (post.created_at, post.likes, post.comments_count, post.shares) == ("2026-05-28T20:26:40Z", 4, 0, 0)


def test_the_mobile_sites_page(site):
    live = '["MLiveData","set",[],["8100000000000702",{ft_ent_identifier:8100000000000702,comment_count:9,'
    live += "share_count:4,has_viewer_liked:false,like_count:50}]]"
    shared = site.article(
        "8100000000000702",
        "",
        likes="",
        told={
            "story_attachment_style": "video_inline",
            "original_content_id": "8400000000000702",
            "original_content_owner_id": "100000000000702",
        },
        after=(
            '<div class="story_body_container"><h3><strong><a href="/ada.fennel/?x">Ada Fennel</a></strong></h3>'
            '<div data-ft="&#123;&quot;tn&quot;:&quot;*s&quot;&#125;">'
            "<p>Not mine</p></div></div>"
        ),
    )
    body = site.page(site.article(), shared, f'<script>{{id:"see_more_cards_id",href:"{MORE}"}}{live}</script>')
    found = site.parsed("posts", body)
    first, second, page = found.items
    assert (first.id, first.text, first.likes, first.comments_count) == (site.post, "Two bowls left", 1234, 12)
    assert (first.created_at, first.author.id, first.author.username) == (
        "2020-05-20T18:40:00Z",
        site.owner,
        "fernandflint",
    )
    assert first.url == f"https://www.facebook.com/{site.owner}/posts/{site.post}"
    assert (second.text, second.type, second.likes, second.shares) == (None, "video", 50, 4)
    assert (second.reposted.id, second.reposted.text) == ("8400000000000702", "Not mine")
    assert (second.reposted.author.id, second.reposted.author.username) == ("100000000000702", "ada.fennel")
    assert (found.cursor, page.next_cursor) == (MORE, MORE)


def test_an_ajax_answer_of_the_mobile_site(site):
    escaped = MORE.replace("/", "\\/").replace("%", "\\u0025")
    script = f'{{"require":[["InitMMoreItemAutomatic","main",[],[{{"href":"{escaped}"}}]]]}}'
    actions = [
        {
            "cmd": "replace",
            "target": "see_more_cards_id",
            "html": site.article(words="<p>From <a href='#'>there</a></p><p>and on</p>"),
        },
        {"cmd": "script", "type": "onload", "code": f"handle({script})"},
    ]
    found = site.parsed(
        "posts",
        "for (;;);" + json.dumps({"payload": {"actions": actions}}),
        cursor=MORE.replace("x_1", "x_0"),
        user="fern",
    )
    assert (found.items[0].text, found.cursor) == ("From there\nand on", MORE)
    last = json.dumps({"payload": {"actions": actions[:1]}})
    assert site.parsed("posts", "for (;;);" + last, cursor="/x", user="fern").cursor is None


def test_see_more_is_no_part_of_the_text(site):
    words = (
        '<p>Long<span class="text_exposed_hide">… <span data-sigil="more"><a href="#">More</a></span></span>'
        '<span class="text_exposed_show"> indeed &amp; on</span></p><div class="text_exposed_show">'
        "<p>to the<br/>end</p></div>"
    )
    assert site.items("posts", site.page(site.article(words=words)))[0].text == "Long indeed & on\nto the\nend"


def test_pictures_of_the_mobile_site(site):
    player = html.escape(json.dumps({"videoID": "9", "src": "https://video.example/v.mp4", "width": 350}))
    style = "background-image: url(&#039;https\\3a //scontent.example/a.jpg?x\\3d 1\\26 y\\3d 2&#039;);"
    after = (
        f'<a href="/fernandflint/photos/pcb.1/2/?type=3" class="p">'
        f'<i class="img" style="{style}" aria-label="A bowl"></i></a>'
        '<a href="/photo.php?fbid=3"><img src="https://scontent.example/b.jpg?a=1&amp;b=2" alt="Another"/></a>'
        f'<div data-store="{player}"></div>'
    )
    media = site.items("posts", site.page(site.article(after=after)))[0].media
    assert [(one.type, one.url, one.alt) for one in media] == [
        ("image", "https://scontent.example/a.jpg?x=1&y=2", "A bowl"),
        ("image", "https://scontent.example/b.jpg?a=1&b=2", "Another"),
        ("video", "https://video.example/v.mp4", None),
    ]


def test_a_desktop_page_before_comet(site):
    number = site.post
    counts = (
        '{feedback:{id:"'
        + __import__("base64").b64encode(f"feedback:{number}".encode()).decode()
        + '",is_eligible_for_real_time_updates:false,comment_count:{total_count:72},'
        + "reaction_count:{count:1103},share_count:{count:68}}}"
    )
    body = f"""<div class="_5pcr userContentWrapper" data-ft="x"><h5 data-ft="y">
    <span><a href="https://www.facebook.com/fernandflint/?x=1">Fern and Flint</a></span></h5>
    <div id="feed_subtitle_{site.owner};{number};;9"><abbr data-utime="1590000000" title="x">3 h</abbr></div>
    <div data-testid="post_message" class="_5pbx userContent"><p>Two <b>bowls</b></p></div></div>
    <script>{counts}</script>"""
    (post, page) = site.items("posts", site.page(body))
    assert (post.id, post.text, post.created_at, post.author.username) == (
        number,
        "Two bowls",
        "2020-05-20T18:40:00Z",
        "fernandflint",
    )
    assert (post.likes, post.comments_count, post.shares) == (1103, 72, 68)
    assert page.exhausted is True
    told = html.escape(json.dumps({"top_level_post_id": "77777", "content_owner_id_new": "88888"}))
    (post, _) = site.items(
        "posts",
        site.page(
            f'<div data-ft="{told}"><div class="userContentWrapper"><abbr data-utime="1590000000"></abbr></div></div>'
        ),
    )
    assert (post.id, post.author.id, post.text) == ("77777", "88888", None)


@pytest.mark.parametrize("body", ["<html></html>", '{"data":{}}', "for (;;);{}", "<article data-ft='x'></article>"])
def test_without_a_list_the_contract_is_broken(site, body):
    with pytest.raises(ContractError):
        site.parsed("posts", body)
