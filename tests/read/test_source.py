"""A source file's nodes: walking a part of it gives what `ast.walk` gives, and names are found where they are defined."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mindferry.apis import framework
from mindferry.read.source import Source
from mindferry.read.symbols import Symbols
from mindferry.read.types import INT, TENSOR, ref

FILES = sorted((Path(__file__).parents[1] / "projects").rglob("*.py"))[:12]
NOT_LISTED = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_part_of_a_file_is_walked_as_ast_walks_it(path: Path) -> None:
    source = Source(path.read_bytes())
    for root in source.nodes:
        if isinstance(root, ast.stmt | ast.Call):
            walked = [node for node in source.walk(root) if not isinstance(node, NOT_LISTED)]
            assert walked == [node for node in ast.walk(root) if not isinstance(node, NOT_LISTED)]
            children = [node for node in source.children(root) if not isinstance(node, NOT_LISTED)]
            assert children == [node for node in ast.iter_child_nodes(root) if not isinstance(node, NOT_LISTED)]


def test_what_one_file_adds_is_not_seen_by_the_others() -> None:
    project = Symbols(framework(), roots=frozenset({"pkg"}))
    project.define_class("pkg.Net", ["torch.nn.Module"])
    project.define_method("pkg.Net", "scale", TENSOR)
    project.export("pkg", {"Net": ref("pkg.Net")})
    file = project.fork()
    assert file.is_module("pkg.Net") and file.method("pkg.Net", "scale") == TENSOR
    file.define_class("pkg.Net", ["object"])
    file.define_method("pkg.Net", "size", INT)
    file.export("pkg", {"Net": ref("pkg.other.Net")})
    assert not file.is_module("pkg.other.Net") and list(file.classes.with_method("size")) == ["pkg.Net"]
    assert file.origin("pkg.Net") == "pkg.other.Net" and project.origin("pkg.Net") == "pkg.Net"
    assert project.is_module("pkg.Net") and not list(project.classes.with_method("size"))
    assert list(file.classes.with_method("scale")) == ["pkg.Net"]


def test_bases_that_become_known_later_are_seen() -> None:
    symbols = Symbols(framework())
    symbols.define_class("m.Child", ["m.Parent"])
    assert not symbols.is_module("m.Child")
    symbols.define_class("m.Parent", ["torch.nn.Module"])
    assert symbols.is_module("m.Child")
    symbols.export("pkg", {"Net": ref("m.Child")})
    assert symbols.origin("pkg.Net") == "m.Child" and symbols.is_module("pkg.Net")
