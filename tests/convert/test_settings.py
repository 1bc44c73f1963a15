"""Targets, and rules that are chosen or left out."""

from __future__ import annotations

import pytest

from mindferry.convert import convert_source
from mindferry.convert.settings import Settings, rules_for
from mindferry.errors import MindferryError

PAD = "import torch\nimport torch.nn as nn\n\nlayer = nn.ReflectionPad2d(1)\nx = torch.argmax(y, 1)\n"


def test_portable_code_uses_a_helper_where_the_cpu_has_no_kernel() -> None:
    assert "layer = ms_compat.ReflectionPad2d(1)\nx = ops.argmax(y, 1)" in convert_source(PAD).main


def test_for_ascend_the_same_is_native() -> None:
    result = convert_source(PAD, settings=Settings("ascend"))
    assert result.main == "from mindspore import mint\n\nlayer = mint.nn.ReflectionPad2d(1)\nx = mint.argmax(y, 1)\n"


def test_what_runs_on_ascend_only_is_left_for_a_cpu_and_told_of_otherwise() -> None:
    source = "import torch\nkind = torch.float8_e4m3fn\n"
    cpu = convert_source(source, settings=Settings("cpu"))
    assert "kind = torch.float8_e4m3fn" in cpu.main and [each.code for each in cpu.findings] == ["MF101"]
    portable = convert_source(source)
    assert "kind = ms.float8_e4m3fn" in portable.main and [
        (each.code, each.severity) for each in portable.findings
    ] == [("MF104", "warning")]
    assert convert_source(source, settings=Settings("ascend")).findings == ()


def test_every_operator_for_ascend_has_torchs_parameters_and_exists() -> None:
    import importlib
    import inspect

    from mindferry.convert.settings import _native_on_ascend

    assert len(_native_on_ascend()) > 30
    for api, name in _native_on_ascend():
        home, _, last = name.rpartition(".")
        function = getattr(importlib.import_module(home), last)
        names = [each for each in inspect.signature(function).parameters if each != "self"]
        assert names == list(rules_for("ascend").calls[api].args), api


NET = "import torch\nimport torch.nn.functional as F\n\n\ndef f(x: torch.Tensor):\n    return F.relu(x.view(-1)) + torch.zeros(2)\n"


def test_a_skipped_rule_leaves_its_calls_and_their_import() -> None:
    result = convert_source(NET, settings=Settings(skip=("torch.nn.functional.*",)))
    assert "import torch.nn.functional as F" in result.main and "F.relu(x.view(-1)) + ops.zeros((2,))" in result.main
    assert [(each.code, each.severity, each.rule) for each in result.findings] == [
        ("MF103", "warning", "torch.nn.functional.relu")
    ]


def test_only_the_chosen_rules_apply() -> None:
    result = convert_source(NET, settings=Settings(only=("torch.zeros",)))
    assert "return F.relu(x.view(-1)) + ops.zeros((2,))" in result.main and "x: torch.Tensor" in result.main
    assert {each.rule for each in result.findings} == {"torch.Tensor", "torch.Tensor.view", "torch.nn.functional.relu"}
    exec(compile(result.main, "<converted>", "exec"), {})


def test_a_method_is_skipped_by_its_own_name_although_a_function_rule_serves_it() -> None:
    source = "import torch\n\n\ndef f(x: torch.Tensor):\n    return x.topk(1), torch.topk(x, 1)\n"
    result = convert_source(source, settings=Settings(skip=("torch.Tensor.topk",)))
    assert "return x.topk(1), ms_compat.topk(x, 1)" in result.main


def test_a_pass_can_be_skipped() -> None:
    source = "import torch.nn as nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x\n"
    assert "def forward(" in convert_source(source, settings=Settings(skip=("classes",))).main
    assert "def construct(" in convert_source(source).main


def test_a_pattern_that_matches_nothing_is_refused() -> None:
    with pytest.raises(MindferryError, match=r"torch\.nn\.Conv2x matches no rule"):
        Settings(skip=("torch.nn.Conv2x",)).check([])
    Settings(skip=("torch.nn.Conv*", "torch.Tensor.topk", "in_place")).check(["in_place"])
