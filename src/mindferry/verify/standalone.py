"""The recorder as one file that needs nothing but torch: its modules joined, without mindferry."""

from __future__ import annotations

import ast
from importlib.resources import files

MODULES = "nesting goldenfile arguments named nested_inputs update dropout alias outside state lifted shared_functions randomness recompute other_sizes jitter kernels beside literals lookups reach scale seeding capture surroundings handed_out written".split()
SHARED = ("named_in_code", "project_modules")  # with other stages
MODULES += "columns given initial recorder_steps recorder record_script".split()
_DOCSTRING = '''"""Record a torch model for `mindferry verify --golden`. Needs torch and nothing else.

    python record.py --model model:resnet50 --input 'float32[4,3,224,224]' -o resnet50.golden

Copy the golden file to the machine that has MindSpore and compare there:

    mindferry verify CONVERTED --golden resnet50.golden

Written by `mindferry record --script`.
"""'''


def standalone() -> str:
    """The text of the script."""
    imports: dict[str, None] = {}
    bodies: dict[str, None] = {}
    for name in (*SHARED, *MODULES):
        home = "mindferry.frameworks" if name in SHARED else __package__
        text = files(home).joinpath(f"{name}.py").read_text("utf-8")
        tree = ast.parse(text)
        lines = text.splitlines()
        bodies[f"# {ast.get_docstring(tree, clean=False) or ''}".splitlines()[0]] = None
        for node in tree.body[1:]:
            source = "\n".join(_without_own_imports(node, lines))
            if isinstance(node, ast.Import | ast.ImportFrom):
                if not (isinstance(node, ast.ImportFrom) and (node.level or node.module == "__future__")):
                    imports[source] = None
            elif not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
                bodies[source] = None  # a name defined in two modules is written once
    head = ["from __future__ import annotations", "\n".join(sorted(imports, key=_import_order))]
    main = 'if __name__ == "__main__":\n    main()'
    parts = [_DOCSTRING, *head, *(body for body in bodies if body != main), main]
    return "\n\n".join(part for part in parts if part).replace("\n\nclass ", "\n\n\nclass ") + "\n"


def _without_own_imports(node: ast.stmt, lines: list[str]) -> list[str]:
    """Its lines, less the imports within functions of what the script holds itself."""
    own = [each for each in ast.walk(node) if isinstance(each, ast.ImportFrom) and each.level and each is not node]
    gone = {number for each in own for number in range(each.lineno, (each.end_lineno or each.lineno) + 1)}
    return [lines[number - 1] for number in range(_first_line(node), (node.end_lineno or 0) + 1) if number not in gone]


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _import_order(line: str) -> tuple[bool, str]:
    return line.startswith("from"), line
