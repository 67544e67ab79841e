"""Crawls that fetch the pictures of their items, over TLS, by the identity of the page."""

from __future__ import annotations

import hashlib
import json
import resource
import signal
import subprocess
import threading

import pytest

from fetchworker.demo.lab import text
from fetchworker.demo.model import HangUp, Reply

pytestmark = pytest.mark.slow
CDN = "https://cdn.example"
MP4 = b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isomiso2" + b"\0" * 64


def named(content: bytes, extension: str) -> str:
    digest = hashlib.sha256(content).hexdigest()
    return f"{digest[:2]}/{digest}.{extension}"


def test_pictures_are_kept_by_the_hash_of_their_bytes_and_told_in_the_item(media, hosts, png_of):
    first, second = png_of(1), png_of(2)
    hosts.page(
        "one",
        hosts.picture(f"{CDN}/a.jpg", first, kind="image/jpeg"),
        hosts.picture(f"{CDN}/b", second, kind="text/plain"),
        avatar=hosts.picture("https://other.example/me.webm", MP4, kind="video/webm"),
    )
    assert media.files() == [
        {"url": "https://other.example/me.webm", "path": named(MP4, "mp4"), "bytes": len(MP4),
         "sha256": hashlib.sha256(MP4).hexdigest(), "content_type": "video/mp4"},
        {"url": f"{CDN}/a.jpg", "path": named(first, "png"), "bytes": len(first),
         "sha256": hashlib.sha256(first).hexdigest(), "content_type": "image/png"},
        {"url": f"{CDN}/b", "path": named(second, "png"), "bytes": len(second),
         "sha256": hashlib.sha256(second).hexdigest(), "content_type": "image/png"},
    ]  # fmt: skip
    assert media.kept() == {named(MP4, "mp4"): MP4, named(first, "png"): first, named(second, "png"): second}
    assert "'fetchworker/media/stored': 3" in media.log
    assert f"'fetchworker/media/bytes': {len(MP4) + len(first) + len(second)}" in media.log


def test_nothing_is_fetched_unless_asked_for(media, hosts, png_of):
    hosts.page("one", hosts.picture(f"{CDN}/a.png", png_of(1)))
    (item,) = media.crawl(MEDIA="false")
    assert "media_files" not in item["extra"]
    assert hosts.asked() == []


def test_an_address_is_fetched_once_and_a_content_kept_once(media, hosts, png_of):
    same = png_of(1)
    urls = [hosts.picture(f"{CDN}/{n}.png", same) for n in range(3)]
    hosts.page("one", *urls, urls[0])
    files = media.files()
    assert [file["url"] for file in files] == urls
    assert {file["path"] for file in files} == {named(same, "png")}
    assert list(media.kept()) == [named(same, "png")]
    assert sorted(request.path for request in hosts.asked()) == ["/0.png", "/1.png", "/2.png"]
    before = media.folder / named(same, "png")
    mark = before.stat().st_mtime_ns
    assert media.files() == files
    assert before.stat().st_mtime_ns == mark, "the file is not written again"
    assert "'fetchworker/media/known': 3" in media.log


def test_signed_addresses_go_out_byte_by_byte(media, hosts, png_of):
    path = "/v/t51.2885-15/x_n.png?stp=dst-jpg_e35&_nc_cat=1&x=%2fa%2Fb%7e~&sig=a+b%20c&efg=eyJ9%3D%3d&a=&&b"
    hosts.page("one", hosts.picture(CDN + path, png_of(1)) + "#part")
    (file,) = media.files()
    assert file["url"] == f"{CDN}{path}#part"
    assert [request.path for request in hosts.asked()] == [path]


def test_an_address_that_could_not_be_sent_is_quoted(media, hosts, png_of):
    hosts.picture(f"{CDN}/caf%C3%A9%20au%20lait.png", png_of(1))
    hosts.page("one", f"{CDN}/café au lait.png")
    (file,) = media.files()
    assert file["content_type"] == "image/png"


def test_what_cannot_be_had_is_told_and_the_item_comes(media, hosts, png_of):
    hosts.page(
        "one", f"{CDN}/absent.png", hosts.picture(f"{CDN}/no.png", b"<html>log in</html>", kind="image/png"),
        hosts.picture(f"{CDN}/empty.png", b""), hosts.picture(f"{CDN}/shut.png", b"no", status=403),
        hosts.picture(f"{CDN}/good.png", png_of(1)), "https://nowhere.invalid/x.png", "data:image/png;base64,AAAA",
    )  # fmt: skip
    (item,) = media.crawl()
    told = {file["url"].rpartition("/")[2]: file.get("error") for file in item["extra"]["media_files"]}
    assert told == {"absent.png": "NOT_FOUND_UPSTREAM", "no.png": "WRONG_TYPE", "empty.png": "WRONG_TYPE",
                    "shut.png": "FETCH_ERROR", "good.png": None, "x.png": "FETCH_ERROR"}  # fmt: skip
    messages = [file["message"] for file in item["extra"]["media_files"] if "message" in file]
    assert messages[:4] == [
        "status 404", "no picture and no film, the server says image/png", "the answer is empty", "status 403",
    ]  # fmt: skip
    assert len(item["links"]) == 7
    assert list(media.kept()) == [named(png_of(1), "png")]
    assert media.project.records("failures") == []
    assert "'fetchworker/media/failed/WRONG_TYPE': 2" in media.log


@pytest.mark.parametrize("status", [401, 403, 404, 429, 503])
def test_an_answer_of_a_picture_is_no_page(media, hosts, status):
    block = b"<html><title>Just a moment...</title><div id='challenge-error-text'>captcha</div></html>"
    media.project.use(hosts)
    hosts.page("one", hosts.picture(f"{CDN}/a.png", block, kind="text/html", status=status))
    (file,) = media.files()
    assert file["message"] == f"status {status}"
    tries = 3 if status in (429, 503) else 1
    assert len(hosts.asked()) == tries
    outcomes = [part for part in media.log.split("'") if part.startswith("fetchworker/outcome/")]
    assert outcomes == ["fetchworker/outcome/linktree/ok"]
    assert "fetchworker/rotated" not in media.log
    assert "fetchworker/proxy/blocked" not in media.log


def test_what_passes_is_tried_again(media, hosts, png_of):
    answers = iter([Reply(503, (), b""), Reply(200, (), png_of(1))])
    hosts.answers[f"{CDN}/a.png"] = lambda _request: next(answers)
    broken = iter([HangUp(), Reply(200, (), png_of(2))])

    def torn(_request):
        answer = next(broken)
        if isinstance(answer, HangUp):
            raise answer
        return answer

    hosts.answers[f"{CDN}/b.png"] = torn
    hosts.page("one", f"{CDN}/a.png", f"{CDN}/b.png")
    assert [file.get("content_type") for file in media.files()] == ["image/png", "image/png"]


def test_the_page_and_its_pictures_are_asked_for_by_one_identity(media, hosts, png_of):
    media.project.use(hosts)
    media.entry(concurrency=8)
    urls = [hosts.picture(f"{CDN}/{n}.png", png_of(n)) for n in range(12)]
    mine = hosts.picture("https://linktr.ee/own.png", png_of(99))
    hosts.page("one", *urls, mine)
    assert all("error" not in file for file in media.files())
    page, own = hosts.asked("linktr.ee")
    assert (page.path, own.path, own.cookies()) == ("/one", "/own.png", {"visitor": "7"})
    assert {request.peer for request in hosts.asked()} == {page.peer} != {"127.0.0.1"}
    assert all(request.cookies() == {} for request in hosts.asked())
    first = hosts.asked()[0]
    assert (first.header("sec-fetch-dest"), first.header("sec-fetch-site")) == ("image", "cross-site")
    assert first.header("referer") == "https://linktr.ee/"
    assert first.header("user-agent") == page.header("user-agent")


def test_a_required_proxy_is_required_for_pictures_too(media, hosts, png_of):
    media.project.use(hosts)
    media.entry(proxy="required", retries=0)
    url = hosts.picture(f"{CDN}/a.png", png_of(1))
    hosts.page("one", url)
    (file,) = media.files()
    assert "error" not in file
    assert {request.peer for request in hosts.asked()} <= {"127.0.0.21", "127.0.0.22"}


def test_a_redirect_is_followed_and_the_first_address_told(media, hosts, png_of):
    hosts.picture("https://other.example/b.png", png_of(1))
    hosts.answers[f"{CDN}/a.png"] = Reply(302, (("location", "https://other.example/b.png"),))
    hosts.page("one", f"{CDN}/a.png")
    (file,) = media.files()
    assert (file["url"], file["content_type"]) == (f"{CDN}/a.png", "image/png")


@pytest.mark.parametrize("inside", ["http://169.254.169.254/a.png", "http://127.0.0.1:1/a.png", "http://[::1]:1/a.png"])
def test_nothing_leads_inside(media, hosts, inside):
    hosts.answers[f"{CDN}/a.png"] = Reply(302, (("location", inside),))
    hosts.page("one", inside, f"{CDN}/a.png")
    assert [file["error"] for file in media.files()] == ["EGRESS_DENIED", "EGRESS_DENIED"]
    assert media.kept() == {}


def test_a_cap_in_bytes(media, hosts, png_of):
    small, large = png_of(1), png_of(2, 5000)
    hosts.page("one", hosts.picture(f"{CDN}/small.png", small), hosts.picture(f"{CDN}/large.png", large),
               f"{CDN}/lab/endless", f"{CDN}/lab/gzip-bomb?mib=64")  # fmt: skip
    good, *others = media.files(MEDIA_MAX_BYTES=4000)
    assert good["bytes"] == len(small)
    assert [file["error"] for file in others] == ["TOO_LARGE"] * 3
    assert {file["message"] for file in others} == {"more than 4000 bytes"}
    assert list(media.kept()) == [named(small, "png")]


def test_robots_txt_of_the_pictures_host_is_obeyed(media, hosts, png_of):
    media.entry(robots="obey")
    hosts.answers["https://cdn.example/robots.txt"] = text("User-agent: *\nDisallow: /private/\n")
    hosts.answers["https://other.example/robots.txt"] = text("<html>denied</html>", 403)
    hosts.page(
        "one", hosts.picture(f"{CDN}/private/a.png", png_of(1)), hosts.picture(f"{CDN}/b.png", png_of(2)),
        hosts.picture("https://other.example/c.png", png_of(3)),
    )  # fmt: skip
    assert [file.get("error") for file in media.files()] == ["ROBOTS_DENIED", None, None]
    assert [request.path for request in hosts.asked()] == ["/b.png"]


def test_a_full_disk_is_told_and_loses_no_item(media, hosts, png_of):
    """No file may grow above a size, much as on a full disk: nothing half-written stays."""
    small, large = png_of(1), png_of(2, 600_000)
    hosts.page("one", hosts.picture(f"{CDN}/large.png", large), hosts.picture(f"{CDN}/small.png", small))
    project = media.project
    project.env |= {"FETCHWORKER_MEDIA": "true", "FETCHWORKER_MEDIA_STORE": str(media.folder)}
    out = project.folder / "f.jsonl"
    done = subprocess.run(
        project.command("crawl", "linktree", "-a", "user=one", "-O", str(out)), env=project.environment(), cwd=".",
        capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, resource.RLIM_INFINITY)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (item,) = map(json.loads, out.read_bytes().splitlines())
    failed, good = item["extra"]["media_files"]
    assert (failed["error"], good["path"]) == ("STORAGE_ERROR", named(small, "png"))
    assert "File too large" in failed["message"]
    assert list(media.kept()) == [named(small, "png")]
    assert done.stderr.count("media cannot be kept") == 1


@pytest.mark.parametrize("store", ["memory://pictures", "file://{folder}", "local://{folder}"])
def test_stores_by_url(media, hosts, png_of, store):
    one = png_of(1)
    film = hosts.picture("https://other.example/a.mp4", MP4, kind="video/mp4")
    hosts.page("one", hosts.picture(f"{CDN}/a.png", one), hosts.picture(f"{CDN}/b.png", one), avatar=film)
    files = media.files(MEDIA_STORE=store.format(folder=media.folder))
    assert [file.get("path") for file in files] == [named(MP4, "mp4"), *[named(one, "png")] * 2]
    if "folder" in store:
        assert media.kept() == {named(one, "png"): one, named(MP4, "mp4"): MP4}


def test_the_default_is_a_folder_of_the_state_folder(media, hosts, png_of):
    hosts.page("one", hosts.picture(f"{CDN}/a.png", png_of(1)))
    (file,) = media.files(MEDIA_STORE="")
    assert (media.project.folder / "state/media" / file["path"]).read_bytes() == png_of(1)


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"MEDIA_STORE": "nosuch://x"}, "FETCHWORKER_MEDIA_STORE: nosuch:// cannot be used"),
        ({"MEDIA_STORE": "{file}/below"}, "cannot be written; make it writable, or name another folder"),
        ({"MEDIA_MAX_BYTES": "0"}, "FETCHWORKER_MEDIA_MAX_BYTES"), ({"MEDIA": "perhaps"}, "FETCHWORKER_MEDIA"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_told_at_the_start(media, hosts, variables, told):
    (media.project.folder / "file").write_text("a file")
    given = {name: value.format(file=media.project.folder / "file") for name, value in variables.items()}
    assert media.crawl(code=2, **given) == []
    assert told in media.log
    assert hosts.server.log.requests == []


def test_a_password_is_not_taken_from_the_command_line(media):
    media.crawl("-s", "FETCHWORKER_MEDIA_STORE=sftp://me:secretword@host/x", code=2)
    assert "FETCHWORKER_MEDIA_STORE: with a password must not be given with -s" in media.log
    assert "secretword" not in media.log


def test_the_session_of_a_call_is_forgotten_once_its_pictures_are_there(media, hosts, png_of):
    """With the last page, but not before its pictures: they would be asked for by another identity."""
    from fetchworker.redis import connect_sync, release, resolve_redis_url

    urls = [hosts.picture(f"{CDN}/{n}.png", png_of(n)) for n in range(4)]
    hosts.page("one", *urls)
    endpoint = resolve_redis_url(None, media.project.folder / "state", keep_running=False)
    client = connect_sync(endpoint)
    try:
        assert all("error" not in file for file in media.files())
        assert client.keys("fw:session:*") == []
    finally:
        client.close()
        release(endpoint)


UNSTORED = """
from fetchworker.spiders.linktree.spider import LinktreeSpider


class FreshSpider(LinktreeSpider):
    name = "linktree"

    def session_name(self, call):
        return None
"""


def test_an_identity_that_is_stored_nowhere_asks_for_the_pictures_too(media, hosts, png_of):
    media.project.use(hosts)
    urls = [hosts.picture(f"{CDN}/{n}.png", png_of(n)) for n in range(4)]
    hosts.page("one", *urls, hosts.picture("https://linktr.ee/own.png", png_of(9)))
    (media.project.folder / "fresh.py").write_text(UNSTORED)
    media.project.env["PYTHONPATH"] = str(media.project.folder)
    assert [file.get("error") for file in media.files("-s", "SPIDER_MODULES=fresh")] == [None] * 5
    page, own = hosts.asked("linktr.ee")
    assert own.cookies() == {"visitor": "7"}
    assert {request.peer for request in [own, *hosts.asked()]} == {page.peer}


def test_a_proxy_is_not_blamed_for_a_dead_host_of_pictures(media, hosts, png_of):
    def dead(_request):
        raise HangUp

    media.project.use(hosts)
    hosts.answers[f"{CDN}/dead.png"] = dead
    hosts.page("one", f"{CDN}/dead.png", hosts.picture("https://other.example/a.png", png_of(1)))
    failed, good = media.files()
    assert (failed["error"], good.get("error")) == ("FETCH_ERROR", None)
    assert "fetchworker/rotated" not in media.log
    assert len({request.peer for request in hosts.asked()}) == 1, "three tries, one identity"


def test_items_with_media_are_stored_in_the_database(media, hosts, png_of):
    hosts.page("one", hosts.picture(f"{CDN}/a.png", png_of(1)))
    files = media.files(STORE="true")
    done = media.project.scrapy("items", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["extra"]["media_files"] == files


def test_a_crawl_that_is_told_to_end_ends_and_tells_what_it_has_not_fetched(media, hosts, png_of):
    asked = threading.Event()

    def first(_request):
        asked.set()
        return Reply(200, (), png_of(0))

    media.entry(concurrency=1, delay=30)
    hosts.answers[f"{CDN}/0.png"] = first
    hosts.page("one", f"{CDN}/0.png", *(hosts.picture(f"{CDN}/{n}.png", png_of(n)) for n in range(1, 5)))
    project = media.project
    project.env |= {"FETCHWORKER_MEDIA": "true", "FETCHWORKER_MEDIA_STORE": str(media.folder)}
    with project.start("crawl", "linktree", "-a", "user=one", "-O", str(project.folder / "f.jsonl")) as crawl:
        try:
            assert asked.wait(30)
            crawl.send_signal(signal.SIGTERM)
            log = crawl.communicate(timeout=25)[1].decode()
        finally:
            crawl.kill()
    assert "Traceback" not in log
    (item,) = project.lines("f.jsonl")
    good, *others = item["extra"]["media_files"]
    assert good["path"] == named(png_of(0), "png")
    assert {file["error"] for file in others} == {"FETCH_ERROR"}
    assert "the crawl ended before its turn" in others[0]["message"]
