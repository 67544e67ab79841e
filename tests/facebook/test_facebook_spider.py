"""Arguments, addresses, and which ways lead to what."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest

from fetchworker.contracts import Call
from fetchworker.errors import ArgumentError
from fetchworker.spiders.facebook import contract, ids
from fetchworker.spiders.facebook.spider import FacebookSpider

HOME = "https://www.facebook.com"
PFBID = "pfbid02AbCdEfGhIjKlMnOp"


def fetches(operation, *, cursor=None, state=None, **values):
    chosen = FacebookSpider.operations[operation]
    call = Call(operation, chosen.params(**values), cursor=cursor, page=2 if cursor else 1, state=state or {})
    return chosen.fetches(None, call)


def addresses(operation, **values):
    return [(fetch.strategy, fetch.url) for fetch in fetches(operation, **values)]


def resolved(**arguments):
    call = FacebookSpider.make_resolver().arguments(arguments).call
    return call.operation, call.params.model_dump(exclude_none=True, exclude_defaults=True)


def test_operations():
    assert list(FacebookSpider.operations) == [
        "profile",
        "posts",
        "post",
        "photo",
        "video",
        "group",
        "events",
        "event",
    ]


@pytest.mark.parametrize(
    ("path", "operation", "params"),
    [
        ("fernandflint", "profile", {"user": "fernandflint"}),
        ("Fern.Flint/?locale=en_US", "profile", {"user": "Fern.Flint"}),
        ("Fern-and-Flint-100000000000701/", "profile", {"user": "Fern-and-Flint-100000000000701"}),
        ("photosoffern", "profile", {"user": "photosoffern"}),
        ("profile.php?id=1000701", "profile", {"id": "1000701"}),
        ("profile.php?sk=about&id=1000701#x", "profile", {"id": "1000701"}),
        ("people/Ada-Fennel/1000702/", "profile", {"id": "1000702"}),
        ("pages/Fern/1000703", "profile", {"id": "1000703"}),
        ("p/Fern-and-Flint-1000704/", "profile", {"id": "1000704"}),
        ("fernandflint/posts/", "posts", {"user": "fernandflint"}),
        ("fernandflint/posts/8100701?__tn__=R", "post", {"user": "fernandflint", "id": "8100701"}),
        (f"fernandflint/posts/two-bowls/{PFBID}", "post", {"user": "fernandflint", "id": PFBID}),
        ("groups/kilnfriends/posts/8100701/", "post", {"group": "kilnfriends", "id": "8100701"}),
        ("groups/85001/permalink/8100701", "post", {"group": "85001", "id": "8100701"}),
        (f"permalink.php?story_fbid={PFBID}&id=1000701", "post", {"user": "1000701", "id": PFBID}),
        ("story.php?x=1&story_fbid=8100701&y=2&id=1000701", "post", {"user": "1000701", "id": "8100701"}),
        ("photo/?fbid=8600701&set=a.1", "photo", {"id": "8600701"}),
        ("photo.php?fbid=8600701", "photo", {"id": "8600701"}),
        ("fernandflint/photos/a.1/8600701/?type=3", "photo", {"id": "8600701"}),
        ("watch/?v=8400701", "video", {"id": "8400701"}),
        ("watch?ref=x&v=8400701", "video", {"id": "8400701"}),
        ("fernandflint/videos/a-kiln/8400701/", "video", {"user": "fernandflint", "id": "8400701"}),
        ("reel/8400701/", "video", {"id": "8400701", "reel": True}),
        ("groups/kilnfriends/?ref=share", "group", {"group": "kilnfriends"}),
        ("fernandflint/events", "events", {"user": "fernandflint"}),
        ("fernandflint/past_hosted_events", "events", {"user": "fernandflint", "past": True}),
        ("groups/kilnfriends/events/", "events", {"group": "kilnfriends"}),
        ("events/8300701/?acontext=x", "event", {"id": "8300701"}),
        ("events/s/open-kiln/8300701/", "event", {"id": "8300701"}),
    ],
)
def test_addresses_name_their_operation(path, operation, params):
    for host in ("www.facebook.com", "m.facebook.com", "facebook.com", "de-de.facebook.com"):
        assert resolved(url=f"https://{host}/{path}") == (operation, params)


@pytest.mark.parametrize(
    "path",
    [
        "",
        "login/?next=x",
        "marketplace/item/1",
        "ads/library/?id=1",
        "hashtag/clay",
        "search/?q=x",
        "groups/",
        "watch/",
        "events/",
    ],
)
def test_sections_of_the_site_are_no_names(path):
    with pytest.raises(ArgumentError):
        resolved(url=f"{HOME}/{path}")


def test_arguments_choose_the_operation():
    assert resolved(user="@fernandflint") == ("profile", {"user": "fernandflint"})
    assert resolved(group="kilnfriends", limit="5") == ("group", {"group": "kilnfriends", "limit": 5})
    assert resolved(operation="post", id=8100701) == ("post", {"id": "8100701"})
    assert resolved(operation="events", url=f"{HOME}/fernandflint") == ("events", {"user": "fernandflint"})


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"operation": "profile"}, "say whose"),
        ({"user": "login"}, "section of the site"),
        ({"user": "a b"}, "letters, digits"),
        ({"operation": "post", "id": "abc"}, "pfbid"),
        ({"operation": "event", "id": "12a"}, "must be a number"),
        ({"operation": "events"}, "say whose"),
        ({"operation": "post"}, "id"),
        ({"usr": "x"}, "did you mean"),
    ],
)
def test_wrong_arguments_are_explained(values, words):
    with pytest.raises(ArgumentError, match=words):
        resolved(**values)


def test_params_survive_being_stored():
    for operation, values in (
        ("profile", {"user": "Zo%C3%AB.x"}),
        ("post", {"id": PFBID, "user": "5"}),
        ("video", {"id": "5", "reel": "reel"}),
    ):
        model = FacebookSpider.operations[operation].params
        made = model(**values)
        assert model.model_validate(json.loads(made.model_dump_json())) == made


def test_ways_to_an_account():
    assert addresses("profile", user="fernandflint") == [
        ("page", f"{HOME}/fernandflint"),
        ("mobile", "https://m.facebook.com/fernandflint"),
    ]
    assert [way for way, _ in addresses("profile", id="1000701")] == ["page", "graphql", "mobile"]
    assert addresses("profile", id="1000701")[0][1] == f"{HOME}/profile.php?id=1000701"
    assert [way for way, _ in addresses("profile", user="1000701")] == ["page", "graphql", "mobile"]


def test_a_cursor_goes_back_to_the_site_that_gave_it():
    (fetch,) = fetches("posts", user="fernandflint", cursor="CUR1", state={"user_id": "1000701"})
    variables = json.loads(dict(fetch.form)["variables"])
    assert (fetch.strategy, variables["cursor"], variables["id"]) == ("graphql_next", "CUR1", "1000701")
    path = "/page_content_list_view/more/?page_id=1&start_cursor=%7B%7D"
    assert addresses("posts", user="fern", cursor=path) == [("mobile_next", f"https://m.facebook.com{path}")]
    assert addresses("posts", user="fern", cursor="CUR1") == []
    (fetch,) = fetches("group", group="kilnfriends", cursor="G1", state={"group_id": "8500"})
    assert json.loads(dict(fetch.form)["variables"])["id"] == "8500"
    assert (
        addresses("group", group="8500", cursor="/groups/8500?bac=x")[0][1]
        == "https://m.facebook.com/groups/8500?bac=x"
    )


def test_ways_to_the_rest():
    assert addresses("post", id="81", user="fern")[0][1] == f"{HOME}/fern/posts/81"
    assert addresses("post", id="81", group="kiln")[0][1] == f"{HOME}/groups/kiln/posts/81/"
    assert addresses("post", id="81")[0][1] == f"{HOME}/81"
    assert [way for way, _ in addresses("post", id="81", user="7")] == ["page", "graphql", "mobile"]
    assert [way for way, _ in addresses("photo", id="86")] == ["page", "graphql", "mobile"]
    assert [way for way, _ in addresses("video", id="84")] == ["page", "reel", "graphql", "mobile"]
    assert addresses("video", id="84", reel=True)[0] == ("reel", f"{HOME}/reel/84/")
    assert addresses("events", user="fern", past=True)[0][1] == f"{HOME}/fern/past_hosted_events"
    assert addresses("events", id="7")[0][1] == f"{HOME}/profile.php?id=7&sk=upcoming_hosted_events"
    assert addresses("events", group="kiln") == [("page", f"{HOME}/groups/kiln/events")]
    assert addresses("event", id="83") == [("page", f"{HOME}/events/83/")]


def test_every_request_stays_with_the_site():
    for operation, values in (
        ("profile", {"id": "7"}),
        ("posts", {"id": "7"}),
        ("post", {"id": "81", "user": "7"}),
        ("photo", {"id": "86"}),
        ("video", {"id": "84"}),
        ("group", {"group": "85"}),
        ("events", {"id": "7"}),
        ("event", {"id": "83"}),
    ):
        for fetch in fetches(operation, **values):
            assert urlsplit(fetch.url).hostname in ("www.facebook.com", "m.facebook.com")


def test_a_stored_query_as_a_guest_sends_it():
    fetch = contract.photo_query("8600701")
    form = dict(fetch.form)
    assert (form["__user"], form["__comet_req"], form["fb_api_req_friendly_name"]) == (
        "0",
        "15",
        "CometPhotoRootContentQuery",
    )
    assert "fb_dtsg" not in form
    assert "fb_dtsg" not in fetch.token_form
    assert fetch.token_form["doc_id"].name == "doc:CometPhotoRootContentQuery"
    assert fetch.token_form["doc_id"].default == contract.PHOTO.doc_id
    variables = json.loads(form["variables"])
    assert variables["nodeID"] == "8600701"
    assert variables["__relay_internal__pv__CometUFIShareActionMigrationrelayprovider"] is True


def test_the_story_of_a_stored_query():
    variables = json.loads(dict(contract.post_query("81", "7").form)["variables"])
    assert ids.decoded(variables["storyID"]) == "S:_I7:81:81"


@pytest.mark.parametrize(
    ("node", "post"),
    [("S:_I7:81:81", "81"), ("S:_I7:VK:81", "81"), ("feedback:81", "81"), ("comment:81_5", None), ("x", None)],
)
def test_numbers_in_node_ids(node, post):
    assert ids.post_of(ids.node_id(node)) == post


@pytest.mark.parametrize("node", [None, "", "not base64!", "é", "A" * 500, ids.node_id("S:_Ix:1")])
def test_node_ids_that_are_none(node):
    assert ids.post_of(node) is None


@pytest.mark.parametrize(
    ("address", "name", "number"),
    [
        (f"{HOME}/fernandflint", "fernandflint", None),
        (f"{HOME}/profile.php?id=7", None, "7"),
        ("/fern/?__tn__=C", "fern", None),
        (f"{HOME}/people/Ada/7/", None, "7"),
        (f"{HOME}/7", None, "7"),
        ("https://x.example/fern", None, None),
        ("http://[x/fern", None, None),
        (None, None, None),
        ("fb://profile/7", None, "7"),
    ],
)
def test_names_in_addresses(address, name, number):
    if address and address.startswith("fb:"):
        assert ids.profile_number(address) == number
        return
    assert (ids.username(address), ids.profile_number(address)) == (name, number)
