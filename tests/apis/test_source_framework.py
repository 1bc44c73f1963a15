"""Nothing outside apis/torch/ and frameworks/ knows torch's names: a second source framework brings its own folder and changes nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from mindferry.apis import Form, framework, table
from mindferry.read.uses import Use, read_uses

SOURCE = Path(__file__).parents[2] / "src/mindferry"
NAME = re.compile(r"(torch|torchvision)\.[\w.*]*")  # a dotted name, or the beginning of one; prose has spaces
AT_HOME = ("apis/torch/", "frameworks/")
# Where a name is written out, and why. A new line here is a decision.
KNOWN = {
    "read/types.py": "what two types have in common is told without a framework at hand",
    "read/observed.py": "what torch's own process recorded, by the names of its classes",
    "observe/use.py": "takes what torch's own process wrote down, by the names of its classes",
    "train/randomness.py": "runs in the reference's worker, on torch's own frames",
    "verify/": "runs in the reference's worker, on torch's own objects",
    "tune/torch_run.py": "runs in the reference's worker; a file is called torch.json",
    "weights/load.py": "takes a torch tensor's dtype",
    "weights/whole.py": "the file format is torch's: its pickles name torch's classes",
    "weights/formats/": "the file format is torch's: its pickles name torch's classes",
}


def literals(path: Path) -> list[tuple[int, str]]:
    """String constants, docstrings left out."""
    tree = ast.parse(path.read_text("utf-8"))
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    said = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, kinds) and node.body and isinstance(node.body[0], ast.Expr)
    }
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in said
    ]


def named() -> dict[str, list[tuple[int, str]]]:
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        rows = [(line, text) for line, text in literals(path) if NAME.fullmatch(text)]
        if rows and not name.startswith(AT_HOME):
            found[name] = rows
    return found


def test_no_stage_knows_a_name_of_torchs() -> None:
    assert {name: rows for name, rows in named().items() if not name.startswith(tuple(KNOWN))} == {}


def test_every_exception_is_still_one() -> None:
    assert [known for known in KNOWN if not any(name.startswith(known) for name in named())] == []


def test_every_use_is_described_for_torch() -> None:
    uses = framework().uses
    assert [use for use in Use if not uses.name(use)] == []


def test_a_use_is_matched_by_its_whole_name_or_its_beginning_and_the_longest_wins() -> None:
    uses = read_uses([("construction", "toy.layers.*"), ("execution", "toy.layers.functional.* toy.run")])
    assert uses.has(Use.CONSTRUCTION, "toy.layers.Dense") and not uses.has(Use.EXECUTION, "toy.running")
    both = (Use.CONSTRUCTION, Use.EXECUTION)
    assert uses.of("toy.layers.functional.relu", both) is Use.EXECUTION
    assert uses.of("toy.layers.Dense", both) is Use.CONSTRUCTION
    assert uses.of("toy.run", both) is Use.EXECUTION
    assert uses.of("other.run", both) is None and not uses.has(Use.SAVE, "toy.run")


@pytest.mark.parametrize("form", list(Form))
def test_an_entry_is_found_by_its_name_and_form_and_names_have_no_private_grammar(form: Form) -> None:
    entries = [entry for entry in table() if entry.form is form]
    assert entries
    assert not [entry.api for entry in entries if not re.fullmatch(r"[\w.]+", entry.api)]
    for entry in entries:
        assert table().titled(entry.title) is entry


def test_reading_an_attribute_and_calling_a_method_are_two_entries() -> None:
    rules = table()
    assert rules.attribute("torch.Tensor.T") is not None and rules.get("torch.Tensor.T") is None
    assert rules.unknown["size"].api == "torch.Tensor.size"
    assert rules.unknown["size"] is not rules.get("torch.Tensor.size")
