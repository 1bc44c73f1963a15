"""`python -m conformance`: everything of torch's own test data, then docs/reference/conformance.md and .json.

It takes up where the last run stopped; `--again` starts over, `--page` only writes the page. Where a whole run takes too
long, run some entries (`python -m conformance.op_db --only NAME…`) and write `--page --keep`: every row says when it was run.
"""

from __future__ import annotations

import argparse
import sys

from mindferry.errors import MindferryError

from . import module_db, op_db, optim_db, schedulers
from .drive import Driver, summary
from .page import FOLDER, write_page

GROUPS = (op_db.GROUP, module_db.GROUP, optim_db.GROUP, schedulers.GROUP)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m conformance", description=__doc__)
    parser.add_argument("--again", action="store_true", help="forget what earlier runs found")
    parser.add_argument(
        "--only", nargs="+", choices=[group.name for group in GROUPS], help="run these; the page has all that was found"
    )
    parser.add_argument("--page", action="store_true", help="write the page from what earlier runs found")
    parser.add_argument("--keep", action="store_true", help="rows of the page that were not run again stay")
    parser.add_argument("--samples", type=int, metavar="N", help="at most N samples of an entry")
    options = parser.parse_args()
    drivers = [Driver(group, options.samples) for group in GROUPS]
    try:
        for driver in drivers:
            is_wanted = not options.page and (not options.only or driver.group.name in options.only)
            if options.again and is_wanted:
                driver.path.unlink(missing_ok=True)
            driver.load()
            if options.keep:
                driver.keep(FOLDER / "conformance.json")
            if is_wanted:
                driver.run(name for name in driver.names() if name not in driver.results)
            print(summary(driver))
        write_page([driver for driver in drivers if driver.results])
    except MindferryError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
