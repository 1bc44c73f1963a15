"""What a conversion's code does that no value shows: counts that the reference does not keep, other defaults, a look at its judge."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..errors import MindferryError
from ..verify.compare import distance
from ..verify.golden import Golden
from ..verify.surroundings import plain_defaults
from .mindspore_tensors import as_numpy, is_tensor
from .requests import Shortfall

Cell = Any
JUDGE = "mindferry"
LEFT = 1e-3  # of the largest value: it went through the whole network, and nobody measured the rounding there
Counts = list[tuple[str, Any, Any]]  # where it is, what holds it, a copy


def is_own(cell: Cell) -> bool:
    """A class of the project's, not of MindSpore nor of a helper."""
    home = type(cell).__module__
    return not (home.startswith(("mindspore.", f"{JUDGE}.")) or {"ms_compat", "ms_keras"} & set(home.split(".")))


def counts_of(cell: Cell) -> Counts:
    """Numbers that the project's classes and files keep outside of their cells: plain ones, and those in lists and dictionaries."""
    holders: dict[int, tuple[str, Any]] = {}
    for kind in {type(each) for _, each in cell.cells_and_names() if is_own(each)}:
        module = sys.modules.get(kind.__module__)
        holders[id(kind)] = (kind.__name__, vars(kind))
        if module is not None:
            holders[id(module)] = (kind.__module__, vars(module))
    found: Counts = []
    for home, names in holders.values():
        for name, value in list(names.items()):
            if not name.startswith("__") and _is_count(value):
                found.append((f"{home}.{name}", names, (name, _copied(value))))
    return found


def moved_counts(counts: Counts) -> list[str]:
    """Those that are no longer what they were."""
    return [place for place, names, (name, before) in counts if _copied(names.get(name)) != before]


def _is_count(value: Any) -> bool:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return all(_is_count(each) for each in value) if len(value) <= 64 else False
    return isinstance(value, int | float) and not isinstance(value, bool)


def _copied(value: Any) -> Any:
    return type(value)(value) if isinstance(value, list | dict) else value


def other_attributes(cell: Cell, golden: Golden, left: Mapping[str, str]) -> Iterator[Shortfall]:
    """Tensors that a call leaves in attributes, and that nobody returns: attention weights, features for a later loss."""
    import numpy as np

    cells = dict(cell.cells_and_names()) if left else {}
    for path, key in left.items():
        owner, _, name = path.rpartition(".")
        value, right = getattr(cells.get(owner), name, None), golden.array(key)
        if not is_tensor(value):
            continue
        error, _, problem = distance(as_numpy(value), right)
        allowed = LEFT * float(np.abs(right[np.isfinite(right)]).max(initial=0.0))
        if problem or error > allowed:
            why = f"a call leaves another tensor there, {problem or f'off by {error:.1e}'}, which is not among the outputs"
            yield Shortfall("state", path, "not comparable", why)


def other_defaults(cell: Cell, golden: Golden) -> Iterator[Shortfall]:
    """An argument that the inputs name, and that would be another if they did not."""
    for path, each in cell.cells_and_names():
        theirs = golden.defaults.get(path)
        if not theirs or not is_own(each):
            continue
        ours = plain_defaults(each.construct)
        for name in theirs.keys() & ours.keys():
            if theirs[name] != ours[name]:
                why = f"its argument {name} is {theirs[name]!r} by default in torch, {ours[name]!r} in MindSpore"
                yield Shortfall("module", path or "the network", "not comparable", why)


def looks_at_judge(cell: Cell) -> Iterator[Shortfall]:
    """A conversion that knows of the comparison may behave while it lasts."""
    homes = {type(each).__module__ for _, each in cell.cells_and_names() if is_own(each)}
    for home in sorted(homes):
        module = sys.modules.get(home)
        try:
            text = inspect.getsource(module) if module is not None else ""
            tree = ast.parse(text if JUDGE in text else "")
        except (OSError, TypeError, SyntaxError):
            continue
        if any(_names_judge(node) for node in ast.walk(tree)):
            why = f"its code asks for {JUDGE}, which compares it: a converted network has no need to"
            yield Shortfall("module", home, "not comparable", why)


def _names_judge(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(each.name.split(".")[0] == JUDGE for each in node.names)
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").split(".")[0] == JUDGE
    if isinstance(node, ast.Call | ast.Compare | ast.Subscript):
        return any(isinstance(each, ast.Constant) and _is_its_name(each.value) for each in ast.iter_child_nodes(node))
    return False


def _is_its_name(value: Any) -> bool:
    return isinstance(value, str) and value.split(".")[0] == JUDGE


def check_judge(measure: Callable[..., tuple[float, float, str]]) -> None:
    """A difference that is known has to be seen by what measures them: the conversion runs in the process that compares."""
    import mindspore as ms
    import numpy as np

    right = np.arange(6, dtype=np.float32).reshape(2, 3)
    value = as_numpy(ms.Tensor(right + 1.5))
    found = [each(value, right)[0] for each in (measure, distance)]
    if found != [1.5, 1.5] or distance(right, right.copy())[0] != 0.0:
        raise MindferryError(
            "the conversion changes how values are read or compared (a difference of 1.5 was not seen): no verdict is possible"
        )
