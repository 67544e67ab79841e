"""How late the loop of ``scrapy serve`` is while it reads documents: large files, two at a time.

    python benchmarks/documents_service.py [ROUNDS]

The service is a real one with a probe in its loop (:mod:`_looplag`); beside it /health is asked every 5 ms. Each round
posts two files at once: scans (a PDF of 14 MB and a picture of 16 MB), two PDFs of 20 dense pages of text, and two
electronic invoices of 15 MB. Prints
lateness as p99 and maximum, also without what the process waited for a processor. Exit code 1 when that is over 100 ms.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from fetchworker.demo import invoice_pdf

ROOT = Path(__file__).parents[1]
LATE = 100
_ROWS = ("Pinewood Lamps Ltd", "INVOICE", "Invoice number: PL-20417", "Invoice date: 14 March 2025", "Total GBP 108.00")


def scan(seed, width=1240, height=1754):
    """A page with a few lines on paper with so much grain that it hardly compresses."""
    grain = np.random.default_rng(seed).integers(190, 256, (height, width, 3), dtype=np.uint8)
    page = Image.fromarray(grain)
    draw, font = ImageDraw.Draw(page), ImageFont.load_default(32)
    for place, row in enumerate(_ROWS):
        draw.text((100, 100 + 60 * place), row, fill="black", font=font)
    return page


def scans():
    pdf, picture = io.BytesIO(), io.BytesIO()
    first, *rest = (scan(seed) for seed in range(8))
    first.save(pdf, "PDF", save_all=True, append_images=rest, quality=97)
    scan(9, 2480, 2700).save(picture, "PNG")
    return [("scan.pdf", pdf.getvalue()), ("scan.png", picture.getvalue())]


def texts():
    def page(number):
        rows = [(row, 60.0, 60.0 + 20 * place, 14.0) for place, row in enumerate(_ROWS)]
        for place in range(110):
            top = 180.0 + place * 14
            cells = (f"Part {number}-{place} of brass", "2", "45.00", "90.00")
            rows += [(text, left, top, 10.0) for text, left in zip(cells, (60.0, 600.0, 800.0, 1000.0), strict=True)]
        return rows

    def content(seed):
        return invoice_pdf.pdf([page(seed + number) for number in range(20)], [[]] * 20, (1240.0, 1754.0))

    return [("a.pdf", content(0)), ("b.pdf", content(100))]


def electronic():
    row = (
        '<InvoiceLine><ID>{0}</ID><InvoicedQuantity unitCode="C62">2</InvoicedQuantity><LineExtensionAmount>90.00'
        "</LineExtensionAmount><Item><Name>Brass {0}</Name></Item><Price><PriceAmount>45.00</PriceAmount></Price>"
        "</InvoiceLine>"
    )
    head = (
        '<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"><ID>U-{}</ID>'
        "<IssueDate>2025-03-14</IssueDate><DocumentCurrencyCode>EUR</DocumentCurrencyCode>"
    )
    foot = "<LegalMonetaryTotal><TaxInclusiveAmount>90.00</TaxInclusiveAmount></LegalMonetaryTotal></Invoice>"
    rows = "".join(row.format(number) for number in range(70_000))
    return [(f"{name}.xml", (head.format(name) + rows + foot).encode()) for name in "ab"]


async def ask(base, path, times):
    """Ask /health every 5 ms; seconds that each took."""
    async with httpx.AsyncClient(base_url=base) as client:
        while True:
            began = time.perf_counter()
            (await client.get(path)).raise_for_status()
            times.append((time.perf_counter() - began) * 1000)
            await asyncio.sleep(0.005)


async def post(base, name, content):
    async with httpx.AsyncClient(base_url=base, timeout=300) as client:
        answer = await client.post("/documents", files={"file": (name, content)}, data={"timeout": "290"})
    answer.raise_for_status()
    return answer.json()


async def round_of(base, files, lags, told):
    times = []
    asking = asyncio.create_task(ask(base, "/health", times))
    await asyncio.sleep(1)
    first, began = len(lags.read_text().splitlines()), time.perf_counter()
    found = await asyncio.gather(*(post(base, *file) for file in files))
    took = time.perf_counter() - began
    asking.cancel()
    looks = [tuple(map(float, line.split())) for line in lags.read_text().splitlines()[first:-1]]
    sizes = " and ".join(f"{len(content) >> 10} kB" for _, content in files)
    pages = sum(one["pages_read"] for documents in found for one in documents)
    print(f"{told} ({sizes}): {pages} pages in {took:.1f} s")
    own = sorted(max(0.0, late - waited) for late, waited in looks)
    for name, values in (("loop late", [late for late, _ in looks]), ("  by itself", own), ("/health", times)):
        values.sort()
        print(
            f"  {name:12} {len(values):6} looks, p99 {values[len(values) * 99 // 100]:6.1f} ms, max {values[-1]:6.1f}"
        )
    return own[-1]


def main(rounds):
    with tempfile.TemporaryDirectory() as folder:
        lags = Path(folder, "lags")
        extensions = json.dumps({"_looplag.LoopLag": 1})
        env = os.environ | {
            "PYTHONPATH": f"{ROOT}:{ROOT / 'benchmarks'}", "BENCH_LAG_FILE": str(lags),
            "FETCHWORKER_STATE_DIR": str(ROOT / ".fetchworker"), "FETCHWORKER_DOCUMENTS_SECONDS": "280",
        }  # fmt: skip
        service = subprocess.Popen(
            [sys.executable, "-m", "scrapy", "serve", "--stateless", "--port", "0", "-s", f"EXTENSIONS={extensions}"],
            cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        try:
            base = service.stdout.readline().split()[-1]
            kinds = (("scans", scans()), ("text", texts()), ("electronic", electronic()))
            worst = [asyncio.run(round_of(base, files, lags, told)) for _ in range(rounds) for told, files in kinds]
        finally:
            service.terminate()
            service.wait(60)
    print(
        f"{'ok' if max(worst) <= LATE else 'OVER'}: the loop was late by {max(worst):.1f} ms at most (allowed {LATE})"
    )
    return max(worst) > LATE


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1))
