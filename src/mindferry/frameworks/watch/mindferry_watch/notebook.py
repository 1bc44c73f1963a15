"""Runs a notebook's code cells one after another, as its kernel would, without pictures and without shell lines."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable

# `%timeit -n 10 -r3 net(x)`: a magic, its options, and code that it runs
_RUNS_CODE = re.compile(
    r"(%(?:time|timeit|prun|memit|mprun|lprun)|%%(?:timeit|prun))(?P<options>(?:[ \t]+-(?:[A-Za-z]*[nrplsTDfim][ \t]+\S+|[A-Za-z]+\S*))*)[ \t]+"
)
TIMED = (["time"], ["timeit"], ["capture"], ["prun"])  # magics of a whole cell that still run it


def main() -> None:
    path = os.path.abspath(sys.argv[1])
    sys.argv = [path, *sys.argv[2:]]
    sys.path[0] = os.path.dirname(path)
    run_cells(path)


def run_cells(path: str) -> None:
    os.environ.setdefault("MPLBACKEND", "Agg")
    with open(path, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    names: dict[str, object] = {"__name__": "__main__", "__file__": path, "display": print, "get_ipython": _Shell}
    for number, cell in enumerate(cells, 1):
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            exec(compile(_python(source), f"{path}:cell {number}", "exec"), names)


class _Shell:
    """What get_ipython() gives: whatever is asked of it does nothing."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args, **kwargs: None


def timed_code(line: str) -> tuple[str, str] | None:
    """`%time ` and `net(x)`, of a line without its indentation; None where it is no magic that runs the rest of its line."""
    found = _RUNS_CODE.match(line)
    if found is None or line.rstrip().endswith("\\"):
        return None
    code = line[found.end() :]
    try:
        compile(code, "<magic>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return found[0], code


def _python(source: str) -> str:
    """Shell lines and magics are the notebook's, not Python's; their indentation stays, and so do the numbers of lines."""
    first, _, rest = source.lstrip().partition("\n")
    if first.startswith("%%"):
        words = first[2:].split()
        if words[:1] == ["writefile"]:
            mode = "a" if "-a" in words else "w"
            return f"with open({words[-1]!r}, {mode!r}) as _file:\n    _file.write({rest!r})"
        start = timed_code(first)
        return f"{start[1] if start else 'pass'}\n{_python(rest)}" if words[:1] in TIMED else "pass"
    lines = []
    for line in source.splitlines():
        bare = line.lstrip()
        indent = line[: len(line) - len(bare)]
        timed = timed_code(bare)
        is_magic = bare.startswith(("!", "%", "?")) or (bare.endswith("?") and "#" not in bare)
        lines.append(f"{indent}{timed[1]}" if timed else f"{indent}pass" if is_magic else line)
    return "\n".join(lines)


if __name__ == "__main__":
    main()
