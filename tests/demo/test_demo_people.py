from __future__ import annotations

import pytest

from fetchworker.demo.people import CLUB, EMPTY, POTTER, PRIVATE, make_world, shortcode


def test_the_same_seed_invents_the_same_people() -> None:
    assert make_world(3) == make_world(3)
    assert make_world(3) != make_world(4)


@pytest.mark.parametrize("seed", range(5))
def test_numbers_and_codes_are_unique_and_tell_the_time(seed: int) -> None:
    world = make_world(seed)
    posts = [post for person in world.people.values() for post in person.posts]
    assert len(world.posts) == len(world.by_pk) == len(posts)
    assert len(world.users_by_pk) == len(world.people)
    for post in posts:
        assert ((int(post.pk) >> 23) + 1314220021721) // 1000 == post.taken_at
        assert shortcode(int(post.pk)) == post.shortcode


def test_a_known_shortcode() -> None:
    # public example of 2026-09
    assert shortcode(3984285244001148342) == "DdLBlHchN22"


def test_the_cast() -> None:
    people = make_world().people
    club = people[CLUB]
    assert "invented" in club.biography
    assert len(club.posts) >= 120
    assert len(club.reels) > 24
    assert [post.taken_at for post in club.posts] == sorted((post.taken_at for post in club.posts), reverse=True)
    assert len(club.posts[0].comments) == 45
    assert any(post.likes is None for post in club.posts)
    assert any(post.caption is None for post in club.posts)
    assert {post.kind for post in club.posts} == {"image", "video", "carousel", "reel"}
    assert people[PRIVATE].private
    assert people[PRIVATE].posts
    assert people[EMPTY].posts == ()
    assert [post.gated for post in people[POTTER].posts].count(True) == 1


def test_search_finds_names_and_user_names() -> None:
    world = make_world()
    assert [person.username for person in world.search("nasa")] == [CLUB, "nasa.fan.club"]
    assert [person.username for person in world.search("  Lamp ")] == ["lamp.post.cats"]
    assert world.search("no such words") == []
