"""What --apply writes: readable, valid, and the same when done twice."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from mindferry.tune.rewrites import REWRITES, rewrite, rewrite_project
from mindferry.tune.run import change
from mindferry.tune.settings_file import SETTINGS, read_applied, settings_text, with_import, write_settings

SCRIPT = '''\
"""Trains."""

from __future__ import annotations

import mindspore as ms
import mindspore.dataset as ds


def fit(net, criterion, rows):
    optimizer = ms.nn.SGD(net.trainable_params(), 0.1)

    def forward_fn(x, y):  # größer
        return criterion(net(x), y)

    grad_fn = ms.value_and_grad(
        forward_fn, None,  # a comment that stays
        optimizer.parameters,
    )
    größe = 3; other = ms.value_and_grad(forward_fn)
    for x, y in ds.GeneratorDataset(rows, ["x", "y"], num_parallel_workers=min(4, 1)).batch(größe):
        loss, grads = grad_fn(x, y)
        optimizer(grads)


@ms.jit
def score(x):
    return x
'''


@pytest.mark.parametrize("name", REWRITES)
def test_a_rewrite_done_twice_changes_nothing_more(name: str) -> None:
    once = rewrite(SCRIPT, name)
    assert once != SCRIPT
    ast.parse(once)
    assert rewrite(once, name) == once


def test_the_gradient_is_compiled_and_comments_inside_the_call_stay() -> None:
    text = rewrite(SCRIPT, "jit")
    assert "grad_fn = ms.jit(ms.value_and_grad(\n        forward_fn, None,  # a comment that stays\n" in text
    assert "größe = 3; other = ms.jit(ms.value_and_grad(forward_fn))" in text


def test_dynamic_shapes_are_asked_for_in_decorators_and_in_calls() -> None:
    text = rewrite(rewrite(SCRIPT, "jit"), "dynamic")
    assert "@ms.jit(dynamic=1)\ndef score" in text
    assert "other = ms.jit(ms.value_and_grad(forward_fn), dynamic=1)" in text


def test_mixed_precision_comes_before_the_optimizer_takes_the_parameters() -> None:
    lines = rewrite(SCRIPT, "amp").splitlines()
    at = next(number for number, line in enumerate(lines) if "SGD" in line)
    assert lines[at - 1] == '    net = ms.amp.auto_mixed_precision(net, "O2")'


def test_workers_replace_an_expression_but_not_a_number_that_someone_chose() -> None:
    assert "num_parallel_workers=min(4, 1)" not in rewrite(SCRIPT, "workers")
    fixed = SCRIPT.replace("min(4, 1)", "3")
    assert rewrite(fixed, "workers") == fixed


def test_a_file_that_is_not_python_is_left_alone() -> None:
    assert rewrite("def (:\n", "jit") == "def (:\n"


def test_helpers_of_the_project_are_not_rewritten(tmp_path: Path) -> None:
    (tmp_path / "ms_compat.py").write_text(SCRIPT)
    (tmp_path / "train.py").write_text(SCRIPT)
    assert rewrite_project(tmp_path, {"jit"}) == [tmp_path / "train.py"]
    assert (tmp_path / "ms_compat.py").read_text() == SCRIPT


@pytest.mark.parametrize(
    ("source", "first"),
    [
        (SCRIPT, "from __future__ import annotations"),
        ('"""Doc."""\nimport os\n', '"""Doc."""'),
        ("#!/usr/bin/env python\nimport os\n", "#!/usr/bin/env python"),
        ("import os\n", ""),
        ("x = 1", ""),
    ],
)
def test_the_import_of_the_settings_comes_first_and_the_script_stays_valid(source: str, first: str) -> None:
    text = with_import(source)
    ast.parse(text)
    before = text[: text.index("import ms_tuning")].strip().splitlines()
    assert (before[-1] if before else "") == first
    assert [line for line in text.splitlines() if line and "ms_tuning" not in line] == [
        line for line in source.splitlines() if line
    ]


def test_settings_are_valid_python_and_found_again(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    write_settings(tmp_path, "train.py", set(SETTINGS), {"isa": "4.2 s to 0.6 s a step"})
    text = (tmp_path / "ms_tuning.py").read_text()
    ast.parse(text)
    assert "(4.2 s to 0.6 s a step)" in text
    assert text.index("ONEDNN_MAX_CPU_ISA") < text.index("import mindspore") < text.index("launch_blocking")
    assert read_applied(tmp_path, "train.py") == set(SETTINGS)


def test_applying_twice_changes_nothing_and_applying_more_keeps_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    assert len(change(tmp_path, "train.py", {"isa", "jit"}, {"isa": "fast"})) == 2
    assert change(tmp_path, "train.py", {"isa", "jit"}, {"isa": "fast"}) == []
    change(tmp_path, "train.py", {"blocking"})
    assert read_applied(tmp_path, "train.py") == {"isa", "blocking"}
    assert "(fast)" in (tmp_path / "ms_tuning.py").read_text()
    assert (tmp_path / "train.py").read_text().count("import ms_tuning") == 1


def test_settings_lie_beside_a_script_in_a_subfolder(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "train.py").write_text(SCRIPT)
    write_settings(tmp_path, "tools/train.py", {"isa"}, {})
    assert (tmp_path / "tools" / "ms_tuning.py").is_file()


def test_settings_without_mindspore_lines_do_not_import_it() -> None:
    assert "import mindspore" not in settings_text({"isa"}, {})
