"""What a conversion's code does that no value shows: counts that the reference does not keep, other defaults, a look at its judge."""

from __future__ import annotations

import ast
import contextlib
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..errors import MindferryError
from ..verify.capture import plain_arguments
from ..verify.compare import distance
from ..verify.golden import CallRecord, Golden, ModeRecord
from ..verify.nesting import tensors_at
from ..verify.outside import kept_outside, moved
from ..verify.seeding import host_state
from ..verify.structure import are_close
from ..verify.surroundings import plain_defaults
from .mindspore_state import framework_names
from .mindspore_tensors import as_numpy, is_tensor
from .named_in_code import asked_by
from .requests import Shortfall

Cell = Any
JUDGE = "mindferry"
LEFT = 1e-3  # of the largest value: it went through the whole network, and nobody measured the rounding there


def is_own(cell: Cell) -> bool:
    """A class of the project's, not of MindSpore nor of a helper."""
    home = type(cell).__module__
    return not (home.startswith(("mindspore.", f"{JUDGE}.")) or {"ms_compat", "ms_keras"} & set(home.split(".")))


def is_library(cell: Cell) -> bool:
    """A layer of MindSpore's without parts: it runs no code of the project's."""
    return type(cell).__module__.startswith("mindspore.") and not any(True for _ in cell.cells())


def values_outside(cell: Cell) -> dict[str, Any]:
    """What the project's own code keeps outside of its cells."""
    own = [each for _, each in cell.cells_and_names() if is_own(each)]
    return kept_outside(own, is_tensor, framework_names())


def moved_outside(before: Mapping[str, Any], after: Mapping[str, Any], record: ModeRecord) -> Iterator[Shortfall]:
    """Numbers that only the conversion moves, and tensors that it leaves otherwise."""
    for place in moved(before, after, is_tensor):
        if place not in record.outside:
            why = "a call changes it in the conversion, and not in the reference: a later one may come out otherwise"
            yield Shortfall("state", place, "not comparable", why)


def other_tensors_outside(after: Mapping[str, Any], golden: Golden, record: ModeRecord) -> Iterator[Shortfall]:
    """Tensors that a call leaves in a global, on a class or in an object."""
    for place, key in record.outside.items():
        value = after.get(place)
        if key and not is_tensor(value):
            yield Shortfall("state", place, "not comparable", "a call leaves a tensor there, and the conversion none")
        elif key:
            yield from _other_tensor(place, value, golden.array(key))


def other_attributes(cell: Cell, golden: Golden, left: Mapping[str, str]) -> Iterator[Shortfall]:
    """Tensors that a call leaves in attributes, and that nobody returns: attention weights, features for a later loss."""
    cells = dict(cell.cells_and_names()) if left else {}
    for place, key in left.items():
        path = place.partition("[")[0]
        owner, _, name = path.rpartition(".")
        held = getattr(cells.get(owner), name, None)
        found = dict(tensors_at(path, held, is_tensor))
        if place in found:
            yield from _other_tensor(place, found[place], golden.array(key))
        elif found or held:
            yield Shortfall("state", place, "not comparable", "a call leaves a tensor there, and the conversion none")


def _other_tensor(place: str, value: Any, right: Any) -> Iterator[Shortfall]:
    import numpy as np

    ours = as_numpy(value)
    if place.endswith("weight") and ours.ndim == right.ndim + 1 and ours.size == right.size:
        ours = ours.reshape(right.shape)  # of a Conv1d, which has an axis more in MindSpore
    error, _, problem = distance(ours, right)
    allowed = LEFT * float(np.abs(right[np.isfinite(right)]).max(initial=0.0))
    if problem or error > allowed:
        why = f"a call leaves another tensor there, {problem or f'off by {error:.1e}'}, which is not among the outputs"
        yield Shortfall("state", place, "not comparable", why)


def new_caches(cell: Cell, left: list[tuple[Cell, str]], golden: Golden, record: ModeRecord) -> Iterator[Shortfall]:
    """Tensors that a call leaves in attributes of the project's own classes, and the reference's leaves nothing there."""
    paths = {id(each): path for path, each in cell.cells_and_names()} if left else {}
    known = {*record.kept, *record.moved, *record.buffers, *golden.weights, *golden.loose}
    for owner, name in left:
        place = f"{paths.get(id(owner), '')}.{name}".lstrip(".")
        if is_own(owner) and place not in known and golden.source == "torch":
            why = "a call leaves a tensor there in the conversion alone: if it is used again, it may be out of date by then"
            yield Shortfall("state", place, "not comparable", why)


def other_numbers(cell: Cell, numbers: Mapping[str, float]) -> Iterator[Shortfall]:
    """Numbers in attributes that calls change, after two of them: a count that is not reset, another step."""
    cells = dict(cell.cells_and_names()) if numbers else {}
    for place, right in numbers.items():
        owner, _, name = place.rpartition(".")
        value = getattr(cells.get(owner), name, None)
        if isinstance(value, bool | int | float) and value != right and not are_close(value, right):
            why = f"it is {value:g} after a second call in the conversion, {right:g} in the reference"
            yield Shortfall("state", place, "not comparable", why)


def other_writes(
    golden: Golden, record: ModeRecord, positional: list[Any], named: Mapping[str, Any]
) -> Iterator[Shortfall]:
    """Inputs that only one side writes into."""
    import numpy as np

    left = iter(positional)
    for index, item in enumerate(golden.inputs):
        tensor = named[item.name] if item.name else next(left)
        if not item.key:
            continue
        is_changed = not np.array_equal(as_numpy(tensor), golden.lent(item.key))
        if is_changed != (index in record.overwritten):
            who = ("the conversion", "the reference") if is_changed else ("the reference", "the conversion")
            why = f"{who[0]} writes into it, {who[1]} leaves it as it was"
            yield Shortfall("input", item.name or str(index + 1), "not comparable", why)


def other_containers(reshaped: list[str], record: ModeRecord) -> Iterator[Shortfall]:
    """Dictionaries and lists among the inputs, to which only one side adds something or takes something out."""
    for name in dict.fromkeys((*reshaped, *record.reshaped)):
        if (name in reshaped) != (name in record.reshaped):
            who = "the conversion" if name in reshaped else "the reference"
            yield Shortfall(
                "input", name, "not comparable", f"{who} alone adds something to it, or takes something out"
            )


@contextlib.contextmanager
def host_draws(record: ModeRecord, mode: str, shortfalls: list[Shortfall]) -> Iterator[None]:
    """Numbers of Python's or numpy's that the conversion alone draws: whatever is drawn after them comes out otherwise."""
    before = host_state()
    yield
    is_drawing = record.draws_outside or record.masks or record.draws or record.is_random
    if not is_drawing and before != host_state():
        why = "the conversion draws from Python's or numpy's random numbers, and the reference draws none"
        shortfalls.append(Shortfall("random", mode, "not comparable", why))


def other_arguments(record: CallRecord, cell: Cell, args: Any, kwargs: dict[str, Any]) -> Iterator[str]:
    """Plain arguments of the project's own classes; a layer of the framework, or a helper, has other parameters than torch's.

    torch's TransformerEncoder finds out that a mask is causal, for instance, and tells its layers so as a hint.
    """
    home = type(cell).__module__
    if type(cell).__name__ != record.kind or home.startswith("mindspore.") or "ms_compat" in home.split("."):
        return
    ours = plain_arguments(cell.construct, args, kwargs, is_tensor)
    for name, value in record.arguments.items():
        if name in ours and ours[name] != value and not are_close(ours[name], value):
            yield f"is called with {name}={ours[name]!r}, not {value!r}".replace("'a tensor'", "a tensor")


def other_surroundings(cell: Cell, golden: Golden) -> Iterator[Shortfall]:
    """What the conversion's code asks for beside its inputs, and the reference's does not."""
    if golden.asked is None:
        return
    kinds = {type(each) for _, each in cell.cells_and_names() if is_own(each)}
    for what in asked_by(kinds, "mindspore."):
        if what not in golden.asked:
            why = f"the conversion's code asks for {what}, and the reference's does not: it may compute something else there"
            yield Shortfall("module", "the network", "not comparable", why)


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
