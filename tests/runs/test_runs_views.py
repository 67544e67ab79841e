"""What is shown of a run's jobs."""

from __future__ import annotations

from fetchworker.runs.views import without_secrets


def test_inputs_are_shown_without_their_secrets():
    given = {
        "url": "https://shop.example/wares?api_key=k-4711&page=2",
        "headers": {"Authorization": "Bearer t-4711", "cookie": "sid=c-4711", "accept": "text/html"},
        "seeds": [{"url": "https://ada:p-4711@shop.example/", "limit": 3}],
        "token": None,
    }
    shown = without_secrets(given)
    assert "4711" not in str(shown)
    assert shown["url"].startswith("https://shop.example/wares?api_key=")
    assert (shown["headers"]["accept"], shown["seeds"][0]["limit"], shown["token"]) == ("text/html", 3, None)
    assert given["headers"]["cookie"] == "sid=c-4711", "what runs is what was given"


def test_an_input_without_secrets_is_shown_as_it_is():
    given = {"user": "nasa", "operation": "posts", "limit": 12, "flags": [True, None, 1.5]}
    assert without_secrets(given) == given
