"""Every attack on the word "same", on networks and on whole projects, and how many were called so.

python -m tests.verify.all_attacks --keep FILE               goes on where an interrupted run stopped
python -m tests.verify.all_attacks --keep FILE --count       what is in FILE so far, without a run
python -m tests.verify.all_attacks --keep FILE --part 1/3    one of three processes, each with a file of its own
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

from . import command_attacks
from .command_attacks import COMMAND_ATTACKS
from .faults import Kept, names_of, run_case
from .later_attacks import LATER_ATTACKS
from .loop_attacks import LOOP_ATTACKS, TRAINER_ATTACKS
from .ninth_loops import NINTH_LOOPS
from .separate import Separate
from .tenth_loops import TENTH_LOOPS

PROJECTS = (*COMMAND_ATTACKS, *LOOP_ATTACKS, *TRAINER_ATTACKS, *LATER_ATTACKS, *NINTH_LOOPS, *TENTH_LOOPS)


def run(kept: Kept, part: int, of: int) -> None:
    separate = Separate(run_case)
    for index, (name, group) in enumerate(names_of("attacks")):
        if index % of == part and name not in kept.results:
            said(kept, name, separate.ask(("attacks", index), group) or ["crashed"])
    separate.close()
    for index, attack in enumerate(PROJECTS):
        name = f"project {attack.name}"
        if index % of == part and name not in kept.results:
            with tempfile.TemporaryDirectory() as folder:
                said(kept, name, list(command_attacks.said_of(attack, Path(folder))))


def said(kept: Kept, name: str, result: list[object]) -> None:
    kept.add(name, result)
    print(f"{name}: {result[0]}", flush=True)


def count(kept: Kept) -> dict[str, object]:
    """Of networks and of projects: how many there are, how many ran, and those that were called same."""
    wanted = {
        "networks": [name for name, _ in names_of("attacks")],
        "projects": [f"project {attack.name}" for attack in PROJECTS],
    }
    found: dict[str, object] = {}
    for kind, names in wanted.items():
        ran = [name for name in names if name in kept.results]
        same = [name for name in ran if kept.results[name][0] == "same"]
        found[kind] = {"attacks": len(names), "run": len(ran), "called same": same}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Every attack on the word same.")
    parser.add_argument("--keep", type=Path, required=True, help="results so far; a second run goes on from there")
    parser.add_argument("--count", action="store_true", help="only count")
    parser.add_argument("--part", default="1/1", help="2/3: every third attack, from the second on")
    options = parser.parse_args()
    kept = Kept(options.keep)
    part, _, of = options.part.partition("/")
    if not options.count:
        run(kept, int(part) - 1, int(of))
    print(json.dumps(count(kept), indent=1))


if __name__ == "__main__":
    main()
