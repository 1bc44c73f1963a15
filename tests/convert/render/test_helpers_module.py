"""The helpers' files are cut into statements by their lines, which must give what the parser gives."""

from __future__ import annotations

import ast
from importlib.resources import files

import pytest

from mindferry.convert.render.helpers_module import SHARED, _statements, library


def parsed_statements(text: str) -> list[str]:
    lines = text.splitlines(keepends=True)
    found = []
    for node in ast.parse(text).body[1:]:
        first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))])
        found.append("".join(lines[first - 1 : node.end_lineno]).rstrip() + "\n")
    return found


@pytest.mark.parametrize("source", ["torch", "tensorflow"])
def test_every_helper_file_is_cut_as_the_parser_cuts_it(source: str) -> None:
    folder = files(f"mindferry.apis.{source}.compat")
    texts = [path.read_text("utf-8") for path in folder.iterdir() if path.name.endswith(".py")]
    helpers = [text for text in texts if text.startswith('"""')]
    assert len(helpers) > len(SHARED)
    for text in helpers:
        assert _statements(text) == parsed_statements(text)


def test_decorators_comments_and_closing_brackets_stay_with_their_statement() -> None:
    text = (
        '"""Of several\nlines."""\n\nimport math\n\nTABLE = {\n    "a": 1,\n}  # kept\n\n\n# between\n'
        "@functools.cache\n@other(\n    1,\n)\ndef f(\n    x,\n):\n    # inside\n    return x\n\n\nclass A:\n    pass\n"
    )
    assert _statements(text) == parsed_statements(text)
    assert len(_statements(text)) == 4


def test_a_unit_is_known_by_the_name_that_it_defines() -> None:
    units, imports = library("torch")
    assert units["prepare_cpu"].text.startswith("def prepare_cpu(")
    assert units["prepare_cpu"].file == "settings.py"
    assert imports["ms"] == "import mindspore as ms"
