"""The reference's weights in the cell: names, ties, folded norms, and the buffers that the constructors computed."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..errors import MindferryError
from ..verify.beside import SURE, SURE_OF_BUFFERS, drawn, drawn_otherwise, sample, tables_of
from ..verify.compare import Measurement, distance
from ..verify.golden import Golden
from ..verify.state import LIGHT
from ..verify.surroundings import SMALL
from .mindspore_keras import KerasNetwork
from .mindspore_tensors import as_numpy, is_tensor, overwrite
from .requests import Shortfall

Cell = Any
Array = Any
Buffers = dict[str, Array]  # path of a tensor -> what the constructor made of it
DRAWN, TABLE = "drawn ", "table "  # before the names of what is no buffer
STATISTICS = ("running_mean", "running_var", "num_batches_tracked")


def load_weights(cell: Cell, golden: Golden) -> dict[str, str]:
    """Copy the reference's weights; torch names -> the cell's."""
    if isinstance(cell, KerasNetwork):
        return cell.load(golden)
    from ..weights import load_torch_weights
    from ..weights.outcome import WeightsMismatchError

    refuse_collisions(cell)
    try:
        found = load_torch_weights(cell, _state(cell, golden), are_given=True)
        names = {entry.source: entry.target for entry in found.entries}
    except WeightsMismatchError as error:
        report = error.report
        lists = (
            ("only MindSpore has", report.missing),
            ("only torch has", report.unexpected),
            ("of another shape:", report.mismatched),
        )
        said = "; ".join(f"{what} {_listed(names)}" for what, names in lists if names)
        torch = f"torch's {golden.title}" if golden.title else "the torch module"
        raise MindferryError(
            f"{type(cell).__name__} and {torch} are not the same network: {said}; check the model's name on both sides"
        ) from None
    _load_loose(cell, golden)
    return names


def _state(cell: Cell, golden: Golden) -> dict[str, Array]:
    """What a checkpoint of torch's would hold, and buffers that are parameters here alone."""
    parameters = {name for name, _ in cell.parameters_and_names()} if golden.loose else set()
    loose = {name: golden.lent(key, is_writable=True) for name, key in golden.loose.items() if name in parameters}
    return {**golden.state(), **loose}


@contextlib.contextmanager
def kept_parameters(cell: Cell, is_kept: bool) -> Iterator[None]:
    """Afterwards every parameter has the value that it had."""
    import mindspore as ms

    held = [(p, as_numpy(p).copy()) for _, p in cell.parameters_and_names()] if is_kept else []
    try:
        yield
    finally:
        for parameter, value in held:
            parameter.set_data(ms.Tensor(value).astype(parameter.dtype))


def light_weights(cell: Cell) -> list[tuple[str, Any, Array]]:
    """(name, parameter, copy) of each that is trained; of a large network none, where copies are dear."""
    held = [parameter for parameter in cell.get_parameters() if parameter.requires_grad]
    is_light = sum(parameter.size for parameter in held) <= LIGHT
    return [(each.name, each, as_numpy(each).copy()) for each in held] if is_light else []


def written_weights(before: list[tuple[str, Any, Array]]) -> list[str]:
    """Names of those that are no longer what they were."""
    import numpy as np

    return [name for name, each, value in before if not np.array_equal(as_numpy(each), value, equal_nan=True)]


def refuse_collisions(cell: Cell) -> None:
    """Two parameters of one name: a checkpoint holds one of them, and an optimizer refuses both."""
    names = Counter(parameter.name for parameter in {id(p): p for _, p in cell.parameters_and_names()}.values())
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise MindferryError(
            f"{type(cell).__name__} has several parameters named {_listed(twice)}: a checkpoint keeps only one of each; "
            "give them names of their own (cells in a list that is filled by append need an index)"
        )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _load_loose(cell: Cell, golden: Golden) -> None:
    """Buffers that no checkpoint holds."""
    cells = dict(cell.cells_and_names()) if golden.loose else {}
    for name, key in golden.loose.items():
        tensor = tensor_of(cells, name)
        value = golden.array(key)
        if tensor is not None and tuple(tensor.shape) == value.shape:
            overwrite(tensor, value)


def tensor_of(cells: dict[str, Cell], path: str) -> Any:
    """The tensor that is an attribute of one of these cells, by torch's name; None if there is none."""
    owner, _, name = path.rpartition(".")
    found = cells.get(owner)
    value = getattr(found, name, None) if found is not None else None
    return value if is_tensor(value) else None


def initial_buffers(cell: Cell) -> Buffers:
    """Before weights are loaded: every tensor that takes no gradient, and small ones that do."""
    parameters = list(cell.parameters_and_names())
    found = {name: as_numpy(p).copy() for name, p in parameters if not p.requires_grad or p.size <= SMALL}
    for path, owner in cell.cells_and_names():
        for name, value in (*vars(owner).items(), *owner.named_buffers(recurse=False)):
            if is_tensor(value):
                found.setdefault(f"{path}.{name}" if path else name, as_numpy(value).copy())
        for name, value in tables_of(owner, "mindspore.", is_tensor, as_numpy).items():
            found[f"{TABLE}{path}.{name}" if path else f"{TABLE}{name}"] = value
    trained = [(name, p) for name, p in parameters if p.requires_grad and p.size > 1]
    return found | {f"{DRAWN}{name}": sample(as_numpy(p)).copy() for name, p in trained}


def compare_initial(golden: Golden, initial: Buffers, names: dict[str, str]) -> Iterator[Measurement | Shortfall]:
    """What the two constructors computed, before the conversion's is overwritten."""
    for name, key in golden.initial.items():
        if name.endswith(STATISTICS):
            continue
        value = initial.get(names.get(name, name), initial.get(name))
        if value is None:
            why = "the conversion keeps no such tensor"
            yield Shortfall("buffer", name, "not comparable", why, matters=name not in golden.loose)
            continue
        found = distance(value, golden.array(key), is_parameter=True)
        yield Measurement("init", "own", "buffer", name, 0, key, value.shape, *found)


def other_starts(golden: Golden, initial: Buffers, names: dict[str, str]) -> Iterator[Shortfall]:
    """Parameters that start with one number everywhere in torch, and otherwise here: no value shows it once weights are copied."""
    import numpy as np

    for name, start in golden.constants.items():
        ours = initial.get(names.get(name, name))
        if ours is not None and not np.allclose(ours, start, rtol=1e-5, atol=1e-8):
            why = f"it starts at {start:g} everywhere in torch, and otherwise here: training from the start goes other ways"
            yield Shortfall("parameter", name, "not comparable", why)
    for name, key in golden.starts.items():
        right, ours = golden.array(key), initial.get(names.get(name, name))
        known = ~np.isnan(right)
        if ours is None or ours.size != right.size:
            continue
        if not np.allclose(ours.reshape(right.shape)[known], right[known], rtol=1e-5, atol=1e-8):
            why = "a part of it starts with known numbers in torch, and otherwise here: training from the start goes other ways"
            yield Shortfall("parameter", name, "not comparable", why)


def other_draws(golden: Golden, initial: Buffers, names: dict[str, str]) -> Iterator[Shortfall]:
    """Parameters that start on another scale, about another mean or from another distribution: once weights are copied, no value shows it."""
    targets = Counter(names.values())
    for name, theirs in golden.drawn.items():
        place = names.get(name, name)
        is_buffer = name in golden.initial
        ours = initial.get(place if is_buffer else f"{DRAWN}{place}", initial.get(name) if is_buffer else None)
        if ours is None or name in golden.constants or targets[names.get(name, name)] > 1:
            continue
        told = drawn_otherwise(theirs, drawn(sample(ours)), SURE_OF_BUFFERS if is_buffer else SURE)
        if told:
            what = "buffer" if is_buffer else "parameter"
            yield Shortfall(what, name, "not comparable", f"{told}: training from the start goes other ways")


def other_order(cell: Cell, golden: Golden, names: dict[str, str]) -> Iterator[Shortfall]:
    """Trained parameters in another order: slices of it, groups of an optimizer and its saved state go by that."""
    sources = {target: source for source, target in reversed(names.items())}
    trained = (each for each in cell.get_parameters() if each.requires_grad)
    ours = [sources[each.name] for each in trained if each.name in sources]
    theirs = [name for name in golden.trainable if name in set(ours)]
    ours = [name for name in ours if name in set(theirs)]
    first = next(((one, other) for one, other in zip(theirs, ours, strict=False) if one != other), None)
    if first is not None:
        why = f"where torch's parameters() has {first[0]}, the conversion has {first[1]}: what goes by their order goes otherwise"
        yield Shortfall("parameter", "their order", "not comparable", why)


def starts_otherwise(theirs: Array, ours: Array) -> str:
    """How the first values of one parameter differ on the two sides, where that is no chance; "" if they do not."""
    return drawn_otherwise(drawn(sample(theirs)), drawn(sample(ours))) if theirs.size == ours.size > 1 else ""


def unfold_weight_norm(gradient: Array, g: Array, v: Array) -> tuple[Array, Array]:
    """The gradients of weight = g * v / |v| with respect to g and v."""
    import numpy as np

    gradient, g, v = (np.asarray(each, np.float64) for each in (gradient.reshape(v.shape), g, v))
    axes = tuple(axis for axis in range(v.ndim) if g.ndim != v.ndim or g.shape[axis] == 1)
    norm = np.sqrt(np.square(v).sum(axes, keepdims=True))
    along = (gradient * v).sum(axes, keepdims=True) / norm
    scale = g.reshape(norm.shape) / norm
    return along.reshape(g.shape).astype("f4"), (scale * (gradient - along * v / norm)).astype("f4")


def gradient_pairs(
    names: dict[str, str], golden: Golden, gradients: dict[str, Any], read: Callable[[Any], Array]
) -> Iterator[tuple[str, Array | str | None]]:
    """(torch's parameter, its gradient in the conversion). None: it has none; a text: why that can't be told."""
    tied = {other: group[0] for group in golden.tied for other in group[1:]}
    sources: dict[str, list[str]] = {}
    for name, target in names.items():
        if name not in tied:
            sources.setdefault(target, []).append(name)
    for target, found in sources.items():
        gradient = gradients.get(target)
        value = None if gradient is None else read(gradient)
        if len(found) == 1:
            yield found[0], value
            continue
        factors = _factors(found)
        if factors is None or value is None:
            for name in found:
                yield name, f"it is folded into {target}"
            continue
        arrays = [golden.array(golden.weights[name]) for name in factors]
        yield from zip(factors, unfold_weight_norm(value, *arrays), strict=True)


def _factors(names: list[str]) -> tuple[str, str] | None:
    """The length and the direction of a normed weight."""
    for length, direction in (("_g", "_v"), ("original0", "original1")):
        g = [name for name in names if name.endswith(length)]
        v = [name for name in names if name.endswith(direction)]
        if len(names) == 2 and len(g) == len(v) == 1:
            return g[0], v[0]
    return None


def torn_ties(names: dict[str, str], golden: Golden) -> Iterator[tuple[str, str]]:
    """Parameters that are one in torch and several here: they part at the first training step."""
    for group in golden.tied:
        targets = dict.fromkeys(names[name] for name in group if name in names)
        if len(targets) > 1:
            yield group[0], f"is one parameter with {', '.join(group[1:])} in torch, {len(targets)} in MindSpore"


def other_types(cell: Cell, golden: Golden, names: dict[str, str]) -> Iterator[Shortfall]:
    """Parameters and buffers of which one side keeps fewer digits: what is compared fits both, what training makes of them may not."""
    if golden.types is None:
        return
    held = cell.parameters_dict()
    for name, target in names.items():
        ours = str(held[target].dtype).lower() if target in held else ""
        theirs = golden.types.get(name, "float32")
        if "float" in ours and ours != theirs and name in golden.weights:
            yield Shortfall(
                "parameter", name, "not comparable", f"it is kept in {theirs} in torch, in {ours} in MindSpore"
            )
