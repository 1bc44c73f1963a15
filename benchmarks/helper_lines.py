"""Lines of helpers in the converted test projects and the bundled example, and how many calls are MindSpore's own.

`python -m benchmarks.helper_lines [FOLDER…]`; folders stand in for the 24 projects.
"""

from __future__ import annotations

import ast
import sys
import tempfile
import textwrap
from pathlib import Path

from mindferry.convert import convert_project
from mindferry.convert.render.helpers_module import render
from mindferry.errors import MindferryError

ROOT = Path(__file__).parents[1]
BEFORE = 22_455  # lines in the 24 projects before any helper was written for its project: the parent of 95a2d309


def is_helper(text: str) -> bool:
    """Whether what was written calls or names a helper. A method of what a helper returns is MindSpore's own: it was counted before."""
    try:
        statement = ast.parse(textwrap.dedent(text)).body[0]
    except (SyntaxError, IndexError):
        return "ms_compat." in text.partition("(")[0]
    node = getattr(statement, "value", None) or statement
    node = node.func if isinstance(node, ast.Call) else node
    if isinstance(node, ast.Attribute):
        return isinstance(node.value, ast.Name) and node.value.id == "ms_compat"
    return "ms_compat." in text.partition("(")[0]


def main() -> None:
    total = whole = native = calls = count = 0
    given = [Path(each) for each in sys.argv[1:]]
    projects = given or sorted((ROOT / "tests" / "projects").iterdir())
    with tempfile.TemporaryDirectory() as folder:
        for number, project in enumerate((*projects, *([] if given else [ROOT / "examples" / "resnet50_cifar10"]))):
            output = Path(folder) / str(number)
            try:
                result = convert_project(project, output)
            except MindferryError as error:
                print(f"{project.name:28} left out: {error}")
                continue
            files = [output / each.path for each in result.files if each.status == "helpers"]
            lines = sum(len(path.read_text().splitlines()) for path in files)
            general = len(files) * len(render(set(result.helpers)).splitlines()) if result.helpers else 0
            written = [each.after for file in result.files for each in file.rewrites if each.after]
            own = sum(not is_helper(each) for each in written)
            print(f"{project.name:28} {lines:6} of {general:6} lines, {own:5} of {len(written):5} calls native")
            if number < len(projects):
                total, whole, count = total + lines, whole + general, count + 1
                native, calls = native + own, calls + len(written)
    if not given:
        print(f"{total / BEFORE:.0%} of the {BEFORE} lines that the projects had before helpers were written for them")
    share = f"{total / max(whole, 1):.0%}), {native} of {calls} calls native ({native / max(calls, 1):.0%})"
    print(f"{f'{count} projects':28} {total:6} of {whole:6} lines ({share}")


if __name__ == "__main__":
    main()
