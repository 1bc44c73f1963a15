"""`python -m corpus [--clones FOLDER] [--only NAME …] [--again] [--stages imports,models,scripts]`: public projects, converted and run.

Results are kept in build/corpus/results.jsonl as they come, and a second run goes on where the first one stopped;
docs/reference/corpus.md is written from them at the end.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from .listed import projects
from .measure import Row, as_json, from_json, measure
from .page import summary, write_page

STAGES = ("imports", "models", "scripts")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m corpus", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--folder", type=Path, default=Path("build/corpus"), help="where sources, conversions and results are kept"
    )
    parser.add_argument("--clones", type=Path, help="a folder of clones: owner+name/repo or owner/name")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="these projects, again")
    parser.add_argument("--again", action="store_true", help="all anew")
    parser.add_argument("--stages", default=",".join(STAGES), help="which of imports, models and scripts")
    parser.add_argument("--page", action="store_true", help="only write the page from what is known")
    options = parser.parse_args()
    results = options.folder / "results.jsonl"
    results.parent.mkdir(parents=True, exist_ok=True)
    rows: dict[str, Row] = {} if options.again else _known(results)
    every = projects()
    unknown = set(options.only) - {each.name for each in every}
    if unknown:
        sys.exit(f"no project is called {', '.join(sorted(unknown))}")
    wanted = [each for each in every if (each.name in options.only if options.only else each.name not in rows)]
    for number, project in enumerate([] if options.page else wanted, 1):
        head = f"{number}/{len(wanted)} {project.name}"
        row = measure(
            project,
            options.folder,
            options.clones,
            lambda text, head=head: print(f"{head}: {text}", file=sys.stderr),  # type: ignore[misc]
            set(options.stages.split(",")),
        )
        rows[project.name] = row
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(as_json(row)) + "\n")
        print(f"{head}: {_line(row)}", file=sys.stderr)
    ordered = [rows[each.name] for each in every if each.name in rows]
    write_page(ordered)
    print("\n".join(summary(ordered)))


def _known(results: Path) -> dict[str, Row]:
    """What earlier runs found; the last line about a project counts."""
    if not results.exists():
        return {}
    found = (from_json(json.loads(line)) for line in results.read_text("utf-8").splitlines())
    return {row.name: row for row in found}


def _line(row: Row) -> str:
    if row.missing:
        return row.missing
    parts = [f"exit {row.exit_code}", f"{row.errors} errors in {row.files} files"]
    for title, outcomes in (("modules", row.modules), ("models", row.models), ("scripts", row.scripts)):
        right = sum(each.result == "right" for each in outcomes)
        parts.append(f"{right} of {len(outcomes)} {title}")
    return ", ".join(parts)


main()
