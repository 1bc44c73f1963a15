"""Helpers as a project needs them: no argument that it never gives, no method that it never calls, and the same meaning."""

from __future__ import annotations

import ast
import pydoc
from pathlib import Path

import pytest

from mindferry.convert import convert_project
from mindferry.convert.render.fixed_locals import with_fixed_locals
from mindferry.convert.render.fold_constants import reflowed, simplified
from mindferry.convert.render.helper_parts import NEEDED, part_names
from mindferry.convert.render.helper_use import use_of
from mindferry.convert.render.helpers_module import library, render
from mindferry.convert.render.specialise_helpers import HOOKS, specialised
from mindferry.convert.settings import Settings

OUTSIDE = ("pickle.", "json.", "collections.", "dict", "list", "io.")

HEAD = "import torch\nfrom torch import nn\nfrom torch.nn import functional as F\n\n\n"
SCRIPT = HEAD + (
    "def main():\n    x = torch.randn(4, 3)\n    y = torch.tensor([0, 1, 2, 0])\n    loss = nn.CrossEntropyLoss({})(x, y)\n"
    "    print(loss)\n\n\nif __name__ == '__main__':\n    main()\n"
)


def helpers_of(folder: Path, **files: str) -> str:
    source = folder / "source"
    source.mkdir(parents=True)
    for name, text in files.items():
        (source / f"{name}.py").write_text(text)
    convert_project(source, folder / "out", settings=Settings(helpers="module"))
    return (folder / "out" / "ms_compat.py").read_text()


def test_arguments_that_the_project_never_gives_are_gone(tmp_path: Path) -> None:
    text = helpers_of(tmp_path, train=SCRIPT.format(""))
    assert "class CrossEntropyLoss" in text
    assert "size_average" not in text and "label_smoothing" not in text and "_stacklevel" not in text


def test_an_argument_that_the_project_gives_stays_with_what_it_does(tmp_path: Path) -> None:
    text = helpers_of(tmp_path, train=SCRIPT.format("label_smoothing=0.1"))
    assert "def __init__(self, label_smoothing=0.0):" in text
    assert 'ops.cross_entropy(input, target, None, -100, "mean", self.label_smoothing)' in text
    assert "size_average" not in text
    masked = helpers_of(tmp_path / "masked", train=SCRIPT.format("label_smoothing=0.1") + "lowest = -float('inf')\n")
    assert "(1 - label_smoothing) * hard" in masked and "size_average" not in masked


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
        "outer": "def outer(x, mode=None):\n    return inner(x, mode, 3) + inner(x, mode, 3)\n",
        "inner": "def inner(x, mode, times):\n    if mode is None:\n        return x * times\n    return unused(x)\n",
        "unused": "def unused(x):\n    return x\n",
    }
    use = use_of(["import ms_compat\nms_compat.outer(1)\n"], "ms_compat", is_library=False)
    assert specialised(texts, {"outer"}, use) == {
        "outer": "def outer(x):\n    return inner(x) + inner(x)\n",
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


def specialise(texts: dict[str, str], project: str, wanted: str) -> dict[str, str]:
    return specialised(texts, {wanted}, use_of([f"import ms_compat\n{project}\n"], "ms_compat", is_library=False))


def test_an_argument_that_only_a_base_class_takes_is_fixed_there_too() -> None:
    texts = {
        "Base": "class Base:\n    def __init__(self, size, mode=None):\n        self.size = size if mode is None else mode(size)\n",
        "Heir": "class Heir(Base):\n    def __init__(self, size, mode=None):\n        super().__init__(size, mode)\n",
    }
    other = "class Other(Base):\n    def __init__(self):\n        super().__init__(1)\n"
    project = "print(ms_compat.Heir(3).size, ms_compat.Other().size)"
    use = use_of([f"import ms_compat\n{project}\n"], "ms_compat", is_library=False)
    assert specialised(texts | {"Other": other}, {"Heir", "Other"}, use) == {
        "Base": "class Base:\n    def __init__(self, size):\n        self.size = size\n",
        "Heir": "class Heir(Base):\n    def __init__(self, size):\n        super().__init__(size)\n",
        "Other": other,
    }


def test_a_base_class_that_the_project_passes_on_keeps_its_arguments() -> None:
    texts = {
        "Base": "class Base:\n    def __init__(self, size=1, mode=None):\n        self.size = mode or size\n",
        "Heir": "class Heir(Base):\n    def __init__(self):\n        super().__init__()\n",
    }
    project = "class Own(ms_compat.Base):\n    pass\nprint(ms_compat.Heir().size, made(Own))"
    use = use_of([f"import ms_compat\n{project}\n"], "ms_compat", is_library=False)
    assert specialised(texts, {"Heir", "Base"}, use)["Base"] == texts["Base"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(x, decay):\n    return decay != 0 and False\n", "def f(x, decay):\n    return False\n"),
        ("def f(x, y):\n    return y or 1e-45\n", "def f(x, y):\n    return y or 1e-45\n"),
        ("def f(x, y):\n    return y and 0\n", "def f(x, y):\n    return y and 0\n"),
        ("def f(x, y):\n    return g(y) == 1 and False\n", "def f(x, y):\n    return g(y) == 1 and False\n"),
    ],
)
def test_a_decided_and_or_or_keeps_its_value(before: str, after: str) -> None:
    assert simplified(before) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f(x):\n    is_mean = True\n    return x if is_mean else 2\n", "def f(x):\n    return x if True else 2\n"),
        ("def f(x):\n    y = x\n    return y + 1\n", "def f(x):\n    return x + 1\n"),
        ("def f(x):\n    y = x\n    x = 3\n    return y + x\n", "def f(x):\n    y = x\n    x = 3\n    return y + x\n"),
        ("def f(x):\n    x = x\n    return x + 1\n", "def f(x):\n    return x + 1\n"),
        ("def f(x):\n    y = g(x)\n    return x\n", "def f(x):\n    y = g(x)\n    return x\n"),
        ("def f(x):\n    y = 1\n    return lambda: y\n", "def f(x):\n    y = 1\n    return lambda: y\n"),
        ("def f(x):\n    if x:\n        y = 1\n    return y\n", "def f(x):\n    if x:\n        y = 1\n    return y\n"),
    ],
)
def test_local_variables_that_are_constants_are_replaced(before: str, after: str) -> None:
    assert with_fixed_locals(before) == after


RATE = 'print(optimizer.param_groups[0]["lr"])\n'  # more than MindSpore's own optimizers are asked for
TRAIN = HEAD + (
    "net = nn.Linear(3, 2)\noptimizer = torch.optim.{}\nx, y = torch.randn(4, 3), torch.randn(4, 2)\n{}"
    "for _ in range(3):\n    loss = ((net(x) - y) ** 2).mean()\n    optimizer.zero_grad()\n    loss.backward()\n"
    "    optimizer.step()\n    print(loss.item())\n"
)


@pytest.mark.parametrize(
    ("optimizer", "extra", "kept", "gone"),
    [
        (
            "Adam(net.parameters(), lr=0.1)",
            "",
            ("ops.Adam()",),
            ("amsgrad", "decoupled", "update_some", "RateList"),
        ),
        ("Adam(net.parameters(), amsgrad=True)", "", ("max_exp_avg_sq", "amsgrad"), ("maximize",)),
        ("SGD(net.parameters(), lr=0.1, maximize=True)", "", ("maximize",), ("nesterov", "shared_state")),
        (
            "SGD(net.parameters(), lr=0.1)",
            "net.bias.requires_grad = False\n",
            ("update_some", "record.requires_grad"),
            (),
        ),
        ("NAdam(net.parameters(), lr=0.1)", RATE, ("shared_state",), ("decoupled_weight_decay",)),
        (
            "SGD([{'params': net.parameters(), 'nesterov': True}], lr=0.1, momentum=0.9)",
            RATE,
            ('group["nesterov"]',),
            ('group["dampening"]',),
        ),
    ],
)
def test_an_optimizer_has_what_the_project_may_need_of_it(
    tmp_path: Path, optimizer: str, extra: str, kept: tuple[str, ...], gone: tuple[str, ...]
) -> None:
    text = helpers_of(tmp_path, train=TRAIN.format(optimizer, extra))
    assert [each for each in kept if each not in text] == []
    assert [each for each in gone if each in text] == []


def test_every_part_is_decided_and_none_is_named_in_the_output() -> None:
    assert set(NEEDED) == part_names()
    units, _ = library()
    everything = "\n".join(unit.text for unit in units.values())
    assert [name for name in part_names() if name not in everything] == [], "a part that no helper has"
    assert not any(name in render(set(units)) for name in part_names())


def test_parts_are_written_where_nothing_is_known_of_the_project() -> None:
    assert "class RateList" in render({"SGD"}) and "def update_some(" in render({"SGD"})


def test_methods_that_the_standard_library_calls_stay() -> None:
    """What overrides a method of pickle's, json's or a container's is called from there."""
    for name, unit in library()[0].items():
        node = ast.parse(unit.text).body[0]
        if not isinstance(node, ast.ClassDef):
            continue
        bases = [pydoc.locate(ast.unparse(each)) for each in node.bases if ast.unparse(each).startswith(OUTSIDE)]
        own = {each.name for each in node.body if isinstance(each, ast.FunctionDef) and not each.name.startswith("__")}
        called = {each for each in own for base in bases if hasattr(base, each)} - {"get", "pop"}  # by the project
        assert called <= HOOKS, f"{name}: {called - HOOKS}"


DERIVED = "import ms_compat\n\nclass Digits(ms_compat.Loss):\n    kind = 'own'\n\n"
DERIVED_TEXTS = {
    "Loss": "class Loss:\n    def __init__(self, root, size=None, scale=1):\n        self.root, self.size, self.scale = root, size, scale\n"
}


@pytest.mark.parametrize(
    ("project", "kept"),
    [
        (DERIVED + "print(Digits('a').scale, Digits('b').size, Digits.kind)\n", "self, root"),
        (DERIVED + "print(Digits('a', 3).scale, Digits('b').size)\n", "self, root, size=None"),
        (DERIVED + "print(make(Digits).scale, Digits('b').size)\n", "self, root, size=None, scale=1"),
        (DERIVED + "print(Digits('a').scale)\nclass Own(Digits):\n    pass\n", "self, root, size=None, scale=1"),
        (DERIVED + "print(Digits('a').scale, ms_compat.Loss.scale)\n", "self, root"),
        (DERIVED + "print(Digits('a').scale, make(ms_compat.Loss))\n", "self, root, size=None, scale=1"),
        (DERIVED + "ms_compat.Loss.__init__(Digits('a'), 'b', 3, 4)\n", "self, root, size=None, scale=1"),
        (
            "import ms_compat\nclass Digits(ms_compat.Loss):\n    def __init__(self, *args):\n        super().__init__('a', size=2)\n"
            "print(make(Digits).size, Digits().scale)\n",
            "self, root, size=None",
        ),
        (
            "import ms_compat\nclass Digits(ms_compat.Loss):\n    def __init__(self, *args):\n        super().__init__(*args)\n"
            "print(make(Digits).size, Digits().scale)\n",
            "self, root, size=None, scale=1",
        ),
    ],
)
def test_a_helper_that_classes_derive_from_has_the_arguments_that_these_are_made_with(project: str, kept: str) -> None:
    assert f"def __init__({kept}):" in specialise(DERIVED_TEXTS, project, "Loss")["Loss"]


def test_a_class_that_another_file_makes_too_keeps_the_arguments_of_the_helper() -> None:
    texts = [DERIVED + "print(Digits('a').scale)\n", "from data import Digits\nprint(Digits('a', 1, 2).size)\n"]
    made = specialised(DERIVED_TEXTS, {"Loss"}, use_of(texts, "ms_compat", is_library=False))
    assert "def __init__(self, root, size=None, scale=1):" in made["Loss"]
