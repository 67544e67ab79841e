"""What media are found and recognised, and how they are kept."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fetchworker.config import load_environment
from fetchworker.errors import ConfigError, StorageError
from fetchworker.items import KINDS, Ad, LinkPage, Media, PageLink, Post, Product, Profile, Review
from fetchworker.media import Origin, Origins, kind_of, media_of, open_store
from fetchworker.media.stores import FolderStore, FsspecStore
from fetchworker.middlewares.policy import plan_media
from fetchworker.sites import Backoff

FIELDS = ("images", "media", "avatar_url", "image_url", "logo_url", "author", "links")
A, B, C = "https://a.example/1", "http://b.example/2?x=%2f", "HTTPS://c.example/3"


@pytest.mark.parametrize(
    ("item", "found"),
    [
        (Profile.draft(avatar_url=A, external_url=B), {A: "image"}),
        (Product.draft(images=[A, B, A, None, "/relative", "data:image/gif;base64,R0"]), {A: "image", B: "image"}),
        (Review.draft(images=[C]), {C: "image"}),
        (Post.draft(media=[Media.draft(type="video", url=A), Media.draft(type="image", url=B), Media.draft(url=C)]),
         {A: "video", B: "image", C: "image"}),
        (Ad.draft(media=[Media.draft(type="document", url=A), Media.draft(type="audio", url=B)], link_url=C), {}),
        (LinkPage.draft(avatar_url=A, links=[PageLink.draft(url=C, image_url=B)]), {A: "image", B: "image"}),
        (Post.draft(extra={"avatar_url": A, "media": [{"url": B}]}), {}),
        (Post.draft(media=None), {}), (Product.draft(images="https://a.example/"), {"https://a.example/": "image"}),
    ],
)  # fmt: skip
def test_media_of_items(item, found):
    assert media_of(item) == found


@given(
    st.sampled_from(sorted(KINDS)), st.sampled_from(FIELDS), st.sampled_from([None, 7, "x", [], [None, 7, ["x"]], {}])
)
def test_any_item_is_looked_through(kind, field, value):
    assert media_of(KINDS[kind].draft(**{field: value})) == {}


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\xff\xd8\xff\xe0", "image/jpeg jpg"), (b"\x89PNG\r\n\x1a\n", "image/png png"), (b"GIF89a", "image/gif gif"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp webp"), (b"RIFF\x24\0\0\0AVI LIST", "video/x-msvideo avi"),
        (b"RIFF\x24\0\0\0WAVEfmt ", None), (b"XXXX\x24\0\0\0WEBPVP8 ", None),
        (b"\0\0\0\x1cftypavif", "image/avif avif"), (b"\0\0\0\x18ftypmp42", "video/mp4 mp4"),
        (b"\0\0\0\x18ftypheic", "image/heic heic"), (b"\0\0\0\x14ftypqt  ", "video/quicktime mov"),
        (b"\0\0\0\x18ftypM4A ", None), (b"\x1aE\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm", "video/webm webm"),
        (b"\x1aE\xdf\xa3\x93B\x82\x88matroska", "video/x-matroska mkv"),
        (b"G" + b"\0" * 187 + b"G" + b"\0" * 187, "video/mp2t ts"), (b"G" * 100, None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml svg"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- a --><!-- b -->\n<svg\n>", "image/svg+xml svg"),
        (b"<html><svg></svg></html>", None), (b"<!DOCTYPE html><title>x</title>", None), (b"{}", None), (b"", None),
        (b"#EXTM3U\n", None), (b"%PDF-1.7", None), (b"PK\x03\x04", None),
    ],
)  # fmt: skip
def test_kinds_by_their_first_bytes(content, kind):
    found = kind_of(content)
    assert (found and " ".join(found)) == kind


@given(st.binary(max_size=400))
def test_any_bytes_have_a_kind_or_none(content):
    kind_of(content)


def test_many_comments_cost_no_time():
    assert kind_of(b"<!---->" * 100_000) is None
    assert kind_of(b"<!--" * 100_000) is None
    assert kind_of(b" " * 1_000_000) is None


# ── stores ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_folder_keeps_a_file_once_and_mends_a_torn_one(tmp_path):
    store = open_store(str(tmp_path / "new/media"))
    assert isinstance(store, FolderStore)
    assert (store.put("ab/abc.png", b"content"), store.put("ab/abc.png", b"content")) == (True, False)
    kept = tmp_path / "new/media/ab/abc.png"
    assert kept.stat().st_mode & 0o777 == 0o644
    kept.write_bytes(b"con")
    assert store.put("ab/abc.png", b"content")
    assert [path.read_bytes() for path in kept.parent.iterdir()] == [b"content"]


def test_many_writers_of_one_content(tmp_path):
    store = open_store(f"file://{tmp_path}/media")
    content = os.urandom(200_000)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: store.put("ab/abc.png", content), range(40)))
    assert [path.read_bytes() for path in (tmp_path / "media/ab").iterdir()] == [content]


def test_a_full_disk_leaves_nothing(tmp_path):
    code = """
import sys
from fetchworker.errors import StorageError
from fetchworker.media import open_store
try:
    open_store(sys.argv[1]).put("ab/abc.png", b"x" * 5000)
except StorageError as exc:
    print(exc)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY)),
    )  # fmt: skip
    assert "File too large" in done.stdout, done.stderr
    assert list((tmp_path / "ab").iterdir()) == []


def test_a_place_by_fsspec_keeps_a_file_once(request):
    store = open_store(f"memory://{request.node.name}/deep")
    assert isinstance(store, FsspecStore)
    assert (store.put("ab/abc.png", b"content"), store.put("ab/abc.png", b"content")) == (True, False)
    system = store._system
    assert system.cat(f"/{request.node.name}/deep/ab/abc.png") == b"content"
    system.pipe(f"/{request.node.name}/deep/ab/abc.png", b"con")
    assert store.put("ab/abc.png", b"content")


def test_what_fsspec_cannot_write_is_a_storage_error(tmp_path):
    (tmp_path / "file").write_text("no folder")
    store = open_store(f"dir::file://{tmp_path}/file")
    assert isinstance(store, FsspecStore)
    with pytest.raises(StorageError):
        store.put("ab/abc.png", b"content")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    ("place", "told"),
    [("nosuch://x", "nosuch:// cannot be used"), ("/dev/null/media", "cannot be written"),
     ("file:///dev/full", "cannot be written"), ("sftp://me:secretword@host/x", "sftp:// cannot be used")],
)  # fmt: skip
def test_places_that_cannot_be(place, told):
    with pytest.raises(ConfigError, match=told) as caught:
        open_store(place)
    assert "secretword" not in str(caught.value)


def test_a_folder_needs_no_fsspec(tmp_path):
    code = """
import sys
sys.modules["fsspec"] = None
from fetchworker.errors import ConfigError
from fetchworker.media import open_store
print(open_store(sys.argv[1]).put("ab/abc.png", b"x"), open_store("file://" + sys.argv[1]).put("ab/abc.png", b"x"))
try:
    open_store("s3://bucket/x")
except ConfigError as exc:
    print(exc)
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first == "True False"
    told = "pip install -c constraints.txt -e '.[media]'"
    assert second == f"FETCHWORKER_MEDIA_STORE: s3:// needs fsspec: {told}, or name a folder"


def test_the_variables(tmp_path):
    def stored(value):
        return load_environment({"FETCHWORKER_MEDIA_STORE": value}, project=tmp_path).media_store.get_secret_value()

    assert stored("pictures") == f"{tmp_path}/pictures"
    assert stored("/data/pictures") == "/data/pictures"
    assert stored("s3://bucket/x") == "s3://bucket/x"
    environment = load_environment({"FETCHWORKER_MEDIA_STORE": "sftp://me:secretword@host/x"})
    assert environment.secrets() == {"secretword"}
    assert "secretword" not in repr(environment)


# ── origins, plans ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_session_is_kept_until_nobody_needs_it():
    origins = Origins()
    assert not origins.keeps("s")
    origins.hold("s")
    origins.hold("s")
    assert origins.keeps("s")
    assert not origins.release("s")
    assert origins.release("s"), "now it goes"
    assert not origins.keeps("s")
    origins.hold("s")
    assert not origins.release("s"), "nobody wanted it gone"


def test_origins_of_items():
    origins, first, second = Origins(), Origin("a"), Origin("b")
    origins.add("1", first)
    origins.add("1", second)
    origins.remove("1", first)
    assert origins.of("1") is second
    origins.remove("1", second)
    assert origins.of("1") == Origin()


@pytest.mark.parametrize(
    ("status", "tries", "step"),
    [(200, 1, "deliver"), (404, 1, "deliver"), (403, 1, "deliver"), (503, 1, "retry"), (429, 2, "retry"),
     (503, 3, "deliver"), (408, 1, "retry")],
)  # fmt: skip
def test_answers_of_media_blame_nobody(status, tries, step):
    plan = plan_media(status, tries=tries, retries=2, backoff=Backoff(), jitter=0.5)
    assert (plan.step, plan.rotate) == (step, False)
    assert (plan.delay > 0) == (step == "retry")
