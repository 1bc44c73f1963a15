"""Lines of helpers in the converted test projects and the bundled example: `python -m benchmarks.helper_lines`."""

from __future__ import annotations

import tempfile
from pathlib import Path

from mindferry.convert import convert_project
from mindferry.convert.render.helpers_module import render

ROOT = Path(__file__).parents[1]


def main() -> None:
    total = whole = 0
    with tempfile.TemporaryDirectory() as folder:
        for project in (*sorted((ROOT / "tests" / "projects").iterdir()), ROOT / "examples" / "resnet50_cifar10"):
            output = Path(folder) / project.name
            helpers = set(convert_project(project, output).helpers)
            lines = sum(len(path.read_text().splitlines()) for path in output.rglob("ms_compat.py"))
            copies = len(list(output.rglob("ms_compat.py")))
            general = copies * len(render(helpers).splitlines()) if helpers else 0
            print(f"{project.name:28} {lines:6} of {general:6} lines")
            if project.parent.name == "projects":
                total, whole = total + lines, whole + general
    print(f"{'24 projects':28} {total:6} of {whole:6} lines ({total / whole:.0%})")


if __name__ == "__main__":
    main()
