"""Ten thousand damaged bodies of each operation, through its parser: whole items, or an error that says what it lacks.

Items and what leads to the next page must be such that they can be written and queued.

    python benchmarks/mutations.py [--times N] [--only TEXT] [--seed N]

Prints for each operation how many bodies still gave items, how many were told to lack something, and the slowest parse
beside the parse of the undamaged body. A body that breaks a parser ends the run with its seed.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from dataclasses import replace

import orjson
from _pages import Work, all_work

from fetchworker.demo.mutations import mutated
from fetchworker.errors import ContractError, OutcomeError
from fetchworker.items import validate

STAMP = {"item_id": "i-0", "site": "s", "operation": "o", "fetched_at": "2026-01-31T10:00:00Z"}


def parsed(work: Work, page) -> float:
    """Seconds of CPU.

    Raises:
        ContractError: the page lacks something.
        OutcomeError: the page is a refusal that only its parser can tell, such as a shell.
    """
    begun = time.process_time()
    found = work.parse(page, work.call)
    took = time.process_time() - begun
    for draft in found.items:
        draft.__dict__.update(STAMP)
        orjson.dumps(validate(draft).model_dump(mode="json"))
    orjson.dumps([found.cursor, found.state])
    return took


def damage(work: Work, times: int, seed: int) -> None:
    good = max(parsed(work, page) for page in work.pages)
    gave = lacked = 0
    slowest = 0.0
    for number in range(seed, seed + times):
        page = work.pages[number % len(work.pages)]
        try:
            slowest = max(slowest, parsed(work, replace(page, body=mutated(page.body, number))))
            gave += 1
        except (ContractError, OutcomeError):
            lacked += 1
        except Exception:  # noqa: BLE001  # what a broken parser raises is what is looked for
            traceback.print_exc()
            sys.exit(f"{work.name}: broken by --seed {number} --times 1 --only '{work.name}'")
    print(f"{work.name:32}{gave:9,} gave items{lacked:9,} lacked something   slowest / whole {slowest / good:6.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=10_000)
    parser.add_argument("--only", default="", help="operations whose name has this in it, such as 'ebay item'")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for work in all_work():
        if options.only in work.name:
            damage(work, options.times, options.seed)


if __name__ == "__main__":
    main()
