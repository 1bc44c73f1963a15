"""Runs a notebook's code cells one after another, as its kernel would, without pictures and without shell lines."""

from __future__ import annotations

import json
import os
import sys


def main() -> None:
    path = os.path.abspath(sys.argv[1])
    sys.argv = [path, *sys.argv[2:]]
    sys.path[0] = os.path.dirname(path)
    os.environ.setdefault("MPLBACKEND", "Agg")
    with open(path, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    names: dict[str, object] = {"__name__": "__main__", "__file__": path, "display": print}
    for number, cell in enumerate(cells, 1):
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            exec(compile(_python(source), f"{path}:cell {number}", "exec"), names)


def _python(source: str) -> str:
    """Shell lines and magics are the notebook's, not Python's; their indentation stays."""
    lines = []
    for line in source.splitlines():
        bare = line.lstrip()
        indent = line[: len(line) - len(bare)]
        is_magic = bare.startswith(("!", "%", "?")) or bare.endswith("?")
        lines.append(f"{indent}pass" if is_magic and not source.startswith("%%") else line)
    return "pass" if source.startswith("%%") and not source.startswith(("%%time", "%%capture")) else "\n".join(lines)


if __name__ == "__main__":
    main()
