"""Facts, plan, text: no order of fixers or files shows in what is written, a failure leaves nothing behind, and no change is lost unseen."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from conformance.digest import ROOT, pieces

from mindferry import convert_source
from mindferry.convert import engine
from mindferry.convert.facts import Facts
from mindferry.convert.fixers import Fixer, discover, in_order
from mindferry.convert.plan import AtEnd, AtNode, Change, Conflict, InsertAfter, ReplaceNode, ReplaceSpan, Texts
from mindferry.convert.project import convert_project

PROJECTS = sorted(path for folder in ("tests/projects", "tests/trainers") for path in (ROOT / folder).iterdir())
HEAD = "import torch\n"


def _converted(path: Path) -> dict[str, bytes]:
    texts: dict[str, bytes] = {}
    convert_project(path, ROOT / "never written", check=True, texts=texts)
    return texts


@pytest.fixture(scope="module")
def usual() -> dict[Path, dict[str, bytes]]:
    return {path: _converted(path) for path in PROJECTS}


@pytest.mark.parametrize("seed", range(6))
def test_any_admissible_order_of_fixers_gives_the_same_bytes(
    seed: int, usual: dict[Path, dict[str, bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = [convert_source(text) for text in pieces()]
    order = in_order(discover(), Random(seed))
    assert [each.name for each in order] != [each.name for each in engine.FIXERS]
    monkeypatch.setattr(engine, "FIXERS", tuple(order))
    for path in PROJECTS:
        assert _converted(path) == usual[path], path.name
    again = [convert_source(text) for text in pieces()]
    assert [(each.code, each.findings) for each in again] == [(each.code, each.findings) for each in plain]


def test_each_fixer_comes_after_fixers_that_there_are() -> None:
    names = {each.name for each in discover()}
    assert len(names) > 25
    for each in discover():
        assert set(each.after) <= names - {each.name}


def test_what_a_step_is_lifted_from_is_written_before_it_is_lifted() -> None:
    """A fixer that writes at the end and comes after `training` would write into text that is gone."""
    after = {each.name: set(each.after) for each in discover()}
    first: set[str] = set()
    waiting = ["training"]
    while waiting:
        waiting += after[(name := waiting.pop())] - first
        first.add(name)
    folder = Path(inspect.getfile(Fixer)).parent
    for each in discover():
        home = folder / each.name
        texts = [
            path.read_text("utf-8") for path in (home.glob("*.py") if home.is_dir() else [home.with_suffix(".py")])
        ]
        if each.source == "torch" and any("AtEnd(" in text for text in texts):
            assert each.name in first, each.name


def test_fixers_that_come_after_each_other_are_refused() -> None:
    with pytest.raises(ValueError, match="a, b"):
        in_order([Fixer("a", _nothing, ("b",)), Fixer("b", _nothing, ("a",))])


def _nothing(facts: Facts) -> Iterator[Change]:
    yield from ()


TRAINING = """import torch
import torch.nn as nn

net = nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
w = torch.zeros(2)
for x in range(3):
    opt.zero_grad()
    w.add_(1)
    loss = net(w).sum()
    loss.backward()
    opt.step()
"""


@pytest.mark.parametrize("name", [each.name for each in discover()])
def test_a_fixer_that_fails_in_one_file_changes_nothing_in_the_next(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = convert_source(TRAINING)

    def fail(facts: Facts) -> Iterator[Change]:
        yield from next(each for each in discover() if each.name == name).plan(facts)
        raise RuntimeError("a defect")

    def fail_late(facts: Facts) -> Iterator[Change]:
        yield from next(each for each in discover() if each.name == name).plan(facts)

        def write(texts: Texts) -> Iterator[InsertAfter]:
            yield InsertAfter(0, "")
            raise RuntimeError("a defect")

        yield AtEnd(write)

    for plan in (fail, fail_late):
        with monkeypatch.context() as patch:
            broken = [Fixer(each.name, plan if each.name == name else each.plan, each.after) for each in engine.FIXERS]
            patch.setattr(engine, "FIXERS", tuple(broken))
            with pytest.raises(RuntimeError):
                convert_source(TRAINING)
        assert convert_source(TRAINING) == expected


def test_files_are_converted_the_same_in_any_order() -> None:
    texts = [path.read_text() for project in PROJECTS for path in sorted(project.rglob("*.py"))]
    expected = [convert_source(text) for text in texts]
    chosen = list(range(len(texts)))
    Random(1).shuffle(chosen)
    for index in chosen:
        assert convert_source(texts[index]) == expected[index]


def _replaces(text: str, *, part: bool = False, late: bool = False) -> Fixer:
    """A fixer that writes the last statement, or its value, anew."""

    def plan(facts: Facts) -> Iterator[Change]:
        statement = facts.source.tree.body[-1]
        assert isinstance(statement, ast.Assign)
        change = ReplaceNode(statement.value if part else statement, text)
        yield AtEnd(lambda texts: [change]) if late else change

    return Fixer(text, plan, ())


@pytest.mark.parametrize(
    "fixers",
    [
        pytest.param((_replaces("y = 1"), _replaces("2", part=True)), id="inside what another wrote"),
        pytest.param((_replaces("2", part=True), _replaces("y = 1")), id="around what another wrote"),
        pytest.param((_replaces("2", part=True), _replaces("y = 1", late=True)), id="at the end"),
    ],
)
def test_a_change_that_would_be_lost_is_an_error_in_tests(
    fixers: tuple[Fixer, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "FIXERS", fixers)
    with pytest.raises(Conflict, match=r"line 2: what .* is lost in what"):
        convert_source(HEAD + "y = 0\n")


def test_a_change_that_carries_another_along_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def around(facts: Facts) -> Iterator[Change]:
        statement = facts.source.tree.body[-1]
        assert isinstance(statement, ast.Assign)
        yield AtEnd(lambda texts: [ReplaceNode(statement, f"z = {texts.of(statement.value)}")])

    monkeypatch.setattr(engine, "FIXERS", (_replaces("2", part=True), Fixer("around", around, ())))
    assert convert_source(HEAD + "y = 0\n").main == "z = 2\n"


def test_a_change_may_say_that_it_swallows_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def around(facts: Facts) -> Iterator[Change]:
        source = facts.source
        yield ReplaceSpan(source.start(source.tree.body[-1]), len(source.data), "z = 3\n", swallows=True)

    monkeypatch.setattr(engine, "FIXERS", (_replaces("2", part=True), Fixer("around", around, ())))
    assert convert_source(HEAD + "y = 0\n").main == "z = 3\n"


def test_two_fixers_that_wait_for_one_node_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def wait(facts: Facts) -> Iterator[Change]:
        yield AtNode(facts.source.tree.body[-1], lambda texts: [])

    monkeypatch.setattr(engine, "FIXERS", (Fixer("one", wait, ()), Fixer("two", wait, ())))
    with pytest.raises(Conflict):
        convert_source(HEAD + "y = 0\n")
