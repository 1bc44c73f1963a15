"""What no rewrite covers stays byte for byte, and what comes out always compiles."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mindferry import convert_source
from mindferry.convert import convert_project
from mindferry.read.source import Source

HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"


def converted(text: str) -> str:
    return convert_source(text).main


def test_comments_and_line_breaks_inside_a_rewritten_call_stay() -> None:
    text = (
        HEAD
        + "conv = nn.Conv2d(  # one\n    3,  # two\n    8,\n    kernel_size=3,  # three\n    bias=False,  # four\n)  # five\n"
    )
    result = converted(text)
    for comment in ("# one", "# two", "# three", "# four", "# five"):
        assert comment in result
    assert result.count("\n", result.index("conv =")) == text.count("\n", text.index("conv ="))
    assert "has_bias=False, pad_mode='pad'" in result


def test_a_file_without_torch_is_returned_byte_for_byte() -> None:
    text = (
        "# -*- coding: utf-8 -*-\n\n\nimport os  # why\n\tx = 1\n".replace("\tx", "x")
        + "def f(a,b) :\n  return a+ b\r\n"
    )
    assert converted(text) == text


def test_windows_line_ends_tabs_and_form_feeds_stay() -> None:
    text = "import torch.nn as nn\r\n\x0c\r\nclass A(nn.Module):\r\n\tdef forward(self, x):\r\n\t\treturn x\r\n"
    assert (
        converted(text)
        == "from mindspore import nn\r\n\x0c\r\nclass A(nn.Cell):\r\n\tdef construct(self, x):\r\n\t\treturn x\r\n"
    )


@pytest.mark.parametrize(
    "imports, call",
    [
        ("import torch", "torch.nn.Linear(2, 3)"),
        ("import torch as th", "th.nn.Linear(2, 3)"),
        ("import torch.nn", "torch.nn.Linear(2, 3)"),
        ("from torch import nn", "nn.Linear(2, 3)"),
        ("from torch import nn as layers", "layers.Linear(2, 3)"),
        ("from torch.nn import Linear", "Linear(2, 3)"),
        ("from torch.nn import Linear as L", "L(2, 3)"),
        ("import torch\nnn = torch.nn", "nn.Linear(2, 3)"),
        ("from torch.nn import *", "Linear(2, 3)"),
    ],
)
def test_an_api_is_known_by_any_name_it_is_imported_under(imports: str, call: str) -> None:
    result = converted(f"{imports}\nlayer = {call}\n")
    assert result.rstrip().endswith("Dense(2, 3)")
    assert "import torch" not in result and "from torch" not in result


def test_a_local_variable_that_shadows_an_import_is_left_alone() -> None:
    text = HEAD + "def f(nn):\n    return nn.Linear(2, 3)\n"
    assert "return nn.Linear(2, 3)" in converted(text)


def test_nested_calls_are_both_rewritten() -> None:
    assert "nn.SequentialCell(nn.Dense(2, 3), nn.ReLU())" in converted(
        HEAD + "net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(inplace=True))\n"
    )


def test_keyword_arguments_passed_through_get_a_helper_with_torch_s_own_signature() -> None:
    result = converted(HEAD + "def conv(**options):\n    return nn.Conv2d(3, 8, 3, **options)\n")
    assert "ms_compat.Conv2d(3, 8, 3, **options)" in result


def test_a_class_as_a_value_gets_a_helper_with_torch_s_own_signature() -> None:
    result = converted(HEAD + "def block(norm_layer=nn.BatchNorm2d):\n    return norm_layer(8, momentum=0.01)\n")
    assert "norm_layer=ms_compat.BatchNorm2d" in result
    assert "norm_layer(8, momentum=0.01)" in result


def test_expressions_inside_f_strings_are_rewritten_in_place() -> None:
    text = HEAD + 'def f(x: torch.Tensor, w):\n    return f"{x.size(0)!r:>{w}} {{x.size(0)}} {x.size()=}" "x.size(0)"\n'
    assert 'f"{x.shape[0]!r:>{w}} {{x.size(0)}} {x.shape=}" "x.size(0)"' in converted(text)


def test_converting_the_output_again_changes_nothing() -> None:
    text = Path(__file__).parents[2].joinpath("examples/resnet50_cifar10/model.py").read_text()
    once = converted(text)
    assert converted(once) == once


def test_an_unknown_call_stays_valid_python_under_a_comment_with_a_finding() -> None:
    conversion = convert_source(HEAD + "def f(x):\n    y = torch.no_such_function(x)\n    return y\n")
    assert "    # mindferry: torch.no_such_function has no rule\n    y = torch.no_such_function(x)\n" in conversion.main
    (finding,) = conversion.findings
    assert (finding.code, finding.line, finding.column) == ("MF100", 5, 9)
    assert str(finding).startswith("<string>:5:9 MF100 torch.no_such_function has no rule → ")
    compile(conversion.main, "converted", "exec")


def test_output_is_the_same_whatever_the_hash_seed() -> None:
    program = "import sys, mindferry; print(mindferry.convert_source(open(sys.argv[1]).read()).code)"
    example = Path(__file__).parents[2] / "examples/resnet50_cifar10/train.py"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, str(example)],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(outputs) == 1


def test_converting_imports_neither_torch_nor_mindspore() -> None:
    program = "import sys, mindferry; mindferry.convert_source('import torch'); print([m for m in ('torch', 'mindspore', 'numpy') if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
        == "[]"
    )


def test_nothing_of_the_source_is_executed(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text(f"import torch\nopen({str(tmp_path / 'ran')!r}, 'w')\n")
    convert_project(project, tmp_path / "out")
    assert not (tmp_path / "ran").exists()


def test_offsets_count_bytes_so_that_other_alphabets_do_not_shift_edits() -> None:
    assert 'print("żółć", x.shape[0])  # żółć' in converted(
        HEAD + 'def f(x: torch.Tensor):\n    print("żółć", x.size(0))  # żółć\n'
    )


def test_a_source_knows_its_encoding() -> None:
    assert Source("# -*- coding: latin-1 -*-\nx = 'é'\n".encode("latin-1")).encoding == "iso-8859-1"


def test_a_comment_about_sparse_tensors_makes_no_matrix_sparse() -> None:
    code = "import torch\n\n\ndef f(a, b):\n    return torch.mm(a, b)\n"
    said = convert_source(f"{code}# unlike torch.sparse.mm, spmm and to_sparse\n").code
    assert said.startswith(convert_source(code).code)
    assert "sparse_mm" in convert_source(f"{code}\n\nx = torch.sparse.FloatTensor\n").code
    assert "sparse_mm" in convert_source(f"{code}\n\ny = f(x.to_sparse(), x)\n").code
