"""Every helper can be the only one that a project uses: what it needs when it is defined stands before it."""

from __future__ import annotations

import ast
from importlib.resources import files

from mindferry.convert.render.helpers_module import library, render


def test_each_helper_is_defined_by_itself() -> None:
    failed = {}
    for name in library("tensorflow")[0]:
        try:
            exec(
                compile(render({name}, source="tensorflow"), f"ms_keras.py for {name}", "exec"),
                {"__name__": "ms_keras"},
            )
        except NameError as error:
            failed[name] = str(error)
    assert failed == {}


def test_each_statement_of_the_helpers_has_a_name_that_brings_it_along() -> None:
    """`TABLE["a"] = b` behind a table has none: it stayed behind, and what was looked up there was another thing."""
    named = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    nameless = []
    for source in ("tensorflow", "torch"):
        for path in files("mindferry").joinpath("apis", source, "compat").iterdir():
            for node in ast.parse(path.read_text("utf-8")).body if path.name.endswith(".py") else ():
                targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
                is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
                if not (isinstance(node, named) or is_docstring or all(isinstance(each, ast.Name) for each in targets)):
                    nameless.append(f"{path.name}: {ast.unparse(node)[:60]}")
    assert nameless == []
