"""Helpers as a project needs them: no argument that it never gives, no method that it never calls, and the same meaning."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mindferry.convert import convert_project
from mindferry.convert.render.folded import reflowed, simplified
from mindferry.convert.render.helper_use import use_of
from mindferry.convert.render.specialised import specialised

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n\n\n"
SCRIPT = HEAD + (
    "def main():\n    x = torch.randn(4, 3)\n    y = torch.tensor([0, 1, 2, 0])\n    loss = nn.CrossEntropyLoss({})(x, y)\n"
    "    print(loss)\n\n\nif __name__ == '__main__':\n    main()\n"
)


def helpers_of(folder: Path, **files: str) -> str:
    source = folder / "source"
    source.mkdir()
    for name, text in files.items():
        (source / f"{name}.py").write_text(text)
    convert_project(source, folder / "out")
    return (folder / "out" / "ms_compat.py").read_text()


def test_arguments_that_the_project_never_gives_are_gone(tmp_path: Path) -> None:
    text = helpers_of(tmp_path, train=SCRIPT.format(""))
    assert "class CrossEntropyLoss" in text
    assert "size_average" not in text and "label_smoothing" not in text and "_stacklevel" not in text


def test_an_argument_that_the_project_gives_stays_with_what_it_does(tmp_path: Path) -> None:
    text = helpers_of(tmp_path, train=SCRIPT.format("label_smoothing=0.1"))
    assert "def __init__(self, label_smoothing=0.0):" in text
    assert "(1 - label_smoothing) * hard" in text and "size_average" not in text


@pytest.mark.parametrize(
    "use",
    ["losses = {'ce': F.cross_entropy}", "def call(*args, **kwargs):\n    return F.cross_entropy(*args, **kwargs)"],
)
def test_a_helper_that_is_passed_on_keeps_its_signature(tmp_path: Path, use: str) -> None:
    text = helpers_of(tmp_path, train=SCRIPT.format(""), other=HEAD + use + "\n")
    assert "label_smoothing=0.0" in text and "size_average" in text


def test_a_library_keeps_the_methods_that_others_may_call(tmp_path: Path) -> None:
    code = HEAD + "def make(net: nn.Module):\n    return torch.optim.SGD(net.parameters(), lr=0.1)\n"
    assert "def load_state_dict(" in helpers_of(tmp_path, library=code)


def test_a_script_keeps_only_the_methods_that_it_mentions(tmp_path: Path) -> None:
    code = HEAD + (
        "net = nn.Linear(3, 2)\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n{}\n"
        "if __name__ == '__main__':\n    print(net(torch.randn(2, 3)))\n"
    )
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert "def load_state_dict(" not in helpers_of(tmp_path / "a", train=code.format(""))
    assert "def load_state_dict(" in helpers_of(tmp_path / "b", train=code.format("optimizer.load_state_dict({})"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(x):\n    if None is None:\n        return x\n    return 2\n", "def f(x):\n    return x\n"),
        (
            "def f(x):\n    if False:\n        x = 1\n    elif x:\n        x = 2\n    return x\n",
            "def f(x):\n    if x:\n        x = 2\n    return x\n",
        ),
        (
            "def f(x):\n    if x:\n        x = 1\n    elif False:\n        x = 2\n    else:\n        x = 3\n    return x\n",
            "def f(x):\n    if x:\n        x = 1\n    else:\n        x = 3\n    return x\n",
        ),
        (
            "def f(x):\n    if x:\n        x = 1\n    elif True:\n        x = 2\n    else:\n        x = 3\n    return x\n",
            "def f(x):\n    if x:\n        x = 1\n    else:\n        x = 2\n    return x\n",
        ),
        ("def f(x):\n    return x if None is not None or x else None or x\n", "def f(x):\n    return x if x else x\n"),
        (
            "def f(x):\n    return (x or 1) and True and (x, 'mean' == 'sum')\n",
            "def f(x):\n    return (x or 1) and (x, False)\n",
        ),
        (
            "def f(x):\n    for _ in x:\n        if False:\n            x = 1\n    return x\n",
            "def f(x):\n    for _ in x:\n        pass\n    return x\n",
        ),
        ("def f(x):\n    return -1 if -1 is not None else x\n", "def f(x):\n    return -1\n"),
        ("def f(x):\n    return f'{None is None}'\n", "def f(x):\n    return f'{None is None}'\n"),
    ],
)
def test_decided_conditions_are_folded(before: str, after: str) -> None:
    assert simplified(before) == after


def test_what_fits_on_a_line_is_put_on_one() -> None:
    text = "def f(\n    a,\n    b,\n):\n    c = (\n        a\n        + b\n    )\n    return g(\n        c,\n    )\n"
    assert reflowed(text) == "def f(a, b):\n    c = a + b\n    return g(c)\n"
    assert reflowed("x = (\n    1,\n)\n") == "x = (\n    1,\n)\n", "a tuple of one keeps its comma"


def test_a_call_within_helpers_loses_the_arguments_that_its_function_lost() -> None:
    texts = {
        "outer": "def outer(x, mode=None):\n    return inner(x, mode, 3)\n",
        "inner": "def inner(x, mode, times):\n    if mode is None:\n        return x * times\n    return unused(x)\n",
        "unused": "def unused(x):\n    return x\n",
    }
    use = use_of(["import ms_compat\nms_compat.outer(1)\n"], "ms_compat", is_library=False)
    assert specialised(texts, {"outer"}, use) == {
        "outer": "def outer(x):\n    return inner(x)\n",
        "inner": "def inner(x):\n    return x * 3\n",
    }


def test_a_name_in_an_f_string_or_one_that_is_bound_again_is_left_alone() -> None:
    texts = {"f": "def f(x, a=1, b=2):\n    b = b or x\n    return f'{a} {b}'\n"}
    use = use_of(["import ms_compat\nms_compat.f(1)\n"], "ms_compat", is_library=False)
    assert specialised(texts, {"f"}, use) == texts


def test_a_function_that_mindferry_wraps_keeps_its_arguments(tmp_path: Path) -> None:
    code = HEAD + (
        "from torch.utils.data import DataLoader, TensorDataset\n"
        "loader = DataLoader(TensorDataset(torch.randn(8, 3)), shuffle=True)\n"
        "if __name__ == '__main__':\n    print(len(list(loader)))\n"
    )
    text = helpers_of(tmp_path, train=code)
    functions = {node.name: node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
    assert [each.arg for each in functions["random_numbers"].args.args] == ["generator"]
    assert "DeathWatch" not in text and "read_ahead" not in text, "it has no worker processes"
