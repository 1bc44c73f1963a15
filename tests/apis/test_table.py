"""The table refuses what would make it lie, and says where."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mindferry.apis import Case, Rule, Table, framework, table
from mindferry.apis._table import _read_tsv
from mindferry.apis.checks.cases import Mismatch, check_case
from mindferry.errors import MindferryError


def mindferry(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "mindferry", "rules", *arguments], capture_output=True, text=True)


def test_two_rules_for_one_name_are_refused_with_both_places() -> None:
    with pytest.raises(MindferryError, match=r"b\.py:7: torch\.abs has a rule already, at a\.py:3"):
        Table([Rule("torch.abs", file="a.py", line=3), Rule("torch.abs", file="b.py", line=7)], framework())


def test_a_missing_api_needs_a_strategy() -> None:
    with pytest.raises(MindferryError, match=r"a\.py:3: torch\.abs is missing but its strategy"):
        Table([Rule("torch.abs", missing="no kernel", strategy="hope", file="a.py", line=3)], framework())


def test_a_line_with_a_lost_tab_is_refused_with_its_number(tmp_path: Path) -> None:
    path = tmp_path / "renames.tsv"
    path.write_text("# comment\ntorch.abs mindspore.ops.abs\n")
    with pytest.raises(MindferryError, match=r"renames\.tsv:2: a line has 6 columns"):
        _read_tsv(path)


def test_a_vacuous_case_is_refused() -> None:
    rule = Rule("torch.Tensor.size", file="a.py", line=3)
    with pytest.raises(Mismatch, match=r"a\.py:3: .*vacuous"):
        check_case(rule, Case("x * 0 + x.size(0)", "", shapes=((2, 3),)))


def test_a_case_that_computes_something_else_is_refused() -> None:
    rule = Rule("torch.Tensor.size", file="a.py", line=3)
    with pytest.raises(Mismatch, match=r"a\.py:3: .*differs by"):
        check_case(rule, Case("x * (x.size(0) if 'torch' in type(x).__module__ else 5)", "", shapes=((2, 3),)))


def test_a_gradient_that_differs_is_refused() -> None:
    rule = Rule("torch.Tensor.size", file="a.py", line=3)
    case = Case("x * x if hasattr(x, 'asnumpy') else x * x.data", "", shapes=((2, 3),))
    with pytest.raises(Mismatch, match="gradient 0 differs"):
        check_case(rule, case)


def test_an_unknown_api_gets_a_sentence_and_a_suggestion() -> None:
    result = mindferry("show", "torch.nn.Conv2")
    assert result.returncode == 2
    assert result.stderr.startswith("mindferry: no rule for torch.nn.Conv2; did you mean torch.nn.Conv2d")


def test_show_prints_before_and_after() -> None:
    result = mindferry("show", "torch.nn.Linear")
    assert result.returncode == 0
    assert "- nn.Linear(4, 6)\n+ nn.Dense(4, 6)" in result.stdout


def test_check_runs_the_cases_on_this_installation() -> None:
    result = mindferry("check", "torch.nn.Linear", "torch.nn.ReLU")
    assert result.returncode == 0, result.stderr
    assert re.fullmatch(r"(\d+) of \1 cases right, 2 rules\n", result.stdout)


def test_new_writes_a_file_that_only_needs_filling_in(tmp_path: Path) -> None:
    result = mindferry("new", "torch.no_such_thing", "-o", str(tmp_path / "x.py"))
    assert result.returncode == 2 and "torch has no torch.no_such_thing" in result.stderr
    result = mindferry("new", "torch.nn.Linear", "-o", str(tmp_path / "x.py"))
    assert result.returncode == 2 and "has a rule already" in result.stderr
    assert not (tmp_path / "x.py").exists()


def test_every_rule_names_where_it_stands() -> None:
    assert all(Path(rule.file).is_file() and rule.line > 0 for rule in table())


HELPERS = Path(__file__).parents[2] / "src" / "mindferry" / "apis" / "torch" / "compat"
OF_THEIR_OWN = {
    "torch.nn.Module.add_module",  # the helper's first argument is the receiver
    "torch.Tensor.new_tensor",
    "torch.Tensor.lu",
    "torch.distributed.reduce",  # its rule takes `dst` out
    "torch.unsafe_split",  # the helper takes `split_size` under two names
    "torch.nn.functional.softmax",  # `_stacklevel` by place, which nobody writes, would be refused as a type
    "torch.nn.functional.log_softmax",
}


def test_a_helper_takes_its_arguments_in_the_order_of_its_entry() -> None:
    """`torch.softmax(x, -1, torch.float64)` once gave the type to a helper whose third argument was another."""
    places = _places_of_helpers()
    wrong = []
    for entry in table("torch"):
        for helper in {entry.to, entry.like} & set(places):
            taken = [name for name in entry.args[: entry.positional] if name not in entry.drop]
            shared = [name for name in taken if name in places[helper]]
            if entry.api not in OF_THEIR_OWN and any(places[helper][name] != taken.index(name) for name in shared):
                wrong.append(f"{entry.api}: {taken} -> {helper}{list(places[helper])}")
    assert wrong == []


def _places_of_helpers() -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for path in HELPERS.rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                found[f"compat.{node.name}"] = {each.arg: place for place, each in enumerate(node.args.args)}
    return found
