"""The engine itself, on pictures made here: what it reads, however the page lies, and that it asks no network."""

from __future__ import annotations

import io
import math
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from fetchworker.documents import DocumentReader
from fetchworker.documents.engine import Seen
from fetchworker.documents.upright import lines_of, skew_of

#: an engine takes its time to start and to read, more on a busy machine
pytestmark = pytest.mark.timeout(600)


def values(reading):
    return {name: found.value for name, found in reading.fields.items()}


def sockets_of(pid):
    links = [place.readlink() for place in Path(f"/proc/{pid}/fd").iterdir()]
    return sum(link.name.startswith("socket:") for link in links)


async def test_a_receipt_is_read_however_it_lies_and_without_a_network(settings_of, receipt_of):
    async with DocumentReader(settings_of()) as reader:
        worker, upright = reader.workers[0], None
        for turn in (0, 90, 180):
            (found,) = await reader.examine(receipt_of(turn=turn), lines=True)
            (page,) = found.document.pages
            first = page.lines[0]
            assert first.text == "BRIGHT CORNER SHOP"
            assert first.score > 0.9
            assert page.source == "ocr"
            upright = upright or first.box
            assert first.box == pytest.approx(upright, abs=12), "boxes are of the page as it was turned"
            assert values(found.reading)["total"] == "7.50"
            goods = [(row["description"].value, row["amount"].value) for row in found.reading.line_items]
            assert goods == [("Milk", "2.50"), ("Bread", "3.20"), ("Apples", "1.80")]
            assert found.reading.kind == "receipt"
        assert worker.refused == 0, "nothing tried to open a connection"
        assert sockets_of(worker.pid) == 1, "the one to its reader"
        assert worker.rss < 1024


async def test_a_page_that_lies_askew_gets_level_lines(settings_of, receipt_of):
    picture = Image.open(io.BytesIO(receipt_of())).rotate(3, expand=True, fillcolor="white", resample=Image.BICUBIC)
    made = io.BytesIO()
    picture.save(made, "PNG")
    async with DocumentReader(settings_of()) as reader:
        (found,) = await reader.examine(made.getvalue(), lines=True)
    lines = {line.text: line.box for line in found.document.pages[0].lines}
    assert values(found.reading)["total"] == "7.50"
    lefts = [lines[text][0] for text in ("BRIGHT CORNER SHOP", "12 Mill Lane", "CHANGE 2.50")]
    assert max(lefts) - min(lefts) < 12, "a column is a column again"


def test_a_worker_is_refused_the_network():
    program = (
        "import socket\n"
        "from fetchworker.documents.worker import NoNetwork\n"
        "guard = NoNetwork()\n"
        "place = ('127.0.0.1', 9)\n"
        "datagram = socket.socket(type=socket.SOCK_DGRAM)\n"
        "for attempt in (lambda: socket.create_connection(place), lambda: socket.getaddrinfo('x.example', 1),\n"
        "                lambda: datagram.sendto(b'x', place)):\n"
        "    try: attempt()\n"
        "    except PermissionError as exc: print(exc)\n"
        "print(guard.refused)\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.count("no network here") == 3
    assert done.stdout.splitlines()[-1] == "3"


def slanted(text, x, y, degrees):
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    corners = tuple((x + a * cos - b * sin, y + a * sin + b * cos) for a, b in ((0, 0), (200, 0), (200, 20), (0, 20)))
    return Seen(corners, text, 0.99)


@pytest.mark.parametrize("degrees", [-6, -2, 1, 5])
def test_skew_is_taken_out_of_boxes(degrees):
    seen = [slanted(f"line {n}", 100, 100 + 60 * n, degrees) for n in range(5)]
    assert skew_of(seen) == pytest.approx(degrees)
    for line in lines_of(seen, skew_of(seen), (300, 300), page=1, first_id=0):
        assert line.box[2] - line.box[0] == pytest.approx(200)
        assert line.box[3] - line.box[1] == pytest.approx(20)


def test_a_few_lines_tell_no_skew():
    assert skew_of([slanted("one", 0, 0, 9)]) == 0
    assert skew_of([slanted(f"line {n}", 0, 60 * n, 0.2) for n in range(5)]) == 0
