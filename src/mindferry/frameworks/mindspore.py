"""The MindSpore side: build the model, give it the golden file's weights and inputs, compare while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import MindferryError
from ..verify.compare import Measurement
from ..verify.golden import Golden, open_golden
from ..verify.goldenfile import RecordError
from ..verify.named import build, find, one_line, plain_settings, small_settings, source_of
from ..verify.nesting import leaves
from ..verify.predict import batches, save
from ..verify.reach import Reach
from ..verify.state import unsearched_objects
from ..verify.trace import save as save_trace
from ..verify.trace import traced
from ..verify.tried_methods import calling
from ..verify.turned_settings import turnable, turned
from . import mindspore_session
from .mindspore_again import other_checkpoint
from .mindspore_beside import beside_forward, other_borders
from .mindspore_conduct import check_judge, is_own, looks_at_judge, other_defaults, other_surroundings
from .mindspore_keras import KerasNetwork, build_network
from .mindspore_literals import (
    kept_in_modules,
    lost_gradient_hooks,
    lost_hooks,
    other_errors,
    other_literals,
    other_numbers_kept,
)
from .mindspore_session import Session
from .mindspore_state import State, restore, state_of
from .mindspore_steps import mixed, moving_rates, step, train
from .mindspore_tensors import as_numpy, is_tensor
from .mindspore_weights import (
    Buffers,
    compare_initial,
    initial_buffers,
    load_weights,
    other_draws,
    other_order,
    other_starts,
    other_types,
)
from .named_in_code import MODE, names_any
from .requests import (
    CellRequest,
    CompareRequest,
    Found,
    Measured,
    PredictRequest,
    Shortfall,
    SourceText,
    Traced,
    TraceRequest,
)
from .worker import Link

Cell = Any
Tensor = Any
Doing = Callable[[str], None]


def compare(request: CompareRequest, link: Link) -> Measured:
    """In the worker: run the model as the golden file says."""
    golden = open_golden(Path(request.golden))
    initial = link.state.get("initial")
    if not (request.is_kept and "cell" in link.state):
        link.doing(f"building {request.model}")
        link.state["cell"] = made(request.model, golden)
        initial = link.state["initial"] = initial_buffers(link.state["cell"])
    loss, optimizer = (find(name) if name else None for name in (request.loss, request.optimizer))
    cell, modes = link.state["cell"], list(request.modes)
    names = link.state.setdefault("names", {})
    cells = list(cell.cells_and_names())
    with turned(cells, request.turned), calling(cell, cells, request.variant, "construct"):
        return against(cell, golden, modes, loss, optimizer, link.doing, initial, names)


def predict(request: PredictRequest, link: Link) -> Found:
    """In the worker, after `compare`: the saved predictions."""
    import mindspore as ms

    cell = link.state["cell"].set_train(False)

    def scored() -> Iterator[tuple[Any, Any]]:
        for inputs, labels in batches(request.data, request.samples):
            link.doing("predicting")
            tensors = [item if is_tensor(item) else ms.Tensor(item) for item in inputs]
            yield as_numpy(leaves(cell(*tensors), is_tensor)[0]), as_numpy(labels) if is_tensor(labels) else labels

    return Found(str(save(scored(), link.scratch, lambda count: link.say(f"{count} samples"))))


def settings_of(request: CellRequest, link: Link) -> dict[str, Any]:
    """In the worker, after `compare`: a cell's plain attributes."""
    return plain_settings(dict(link.state["cell"].cells_and_names()).get(request.path, object))


def source(request: CellRequest, link: Link) -> SourceText:
    """In the worker, after `compare`: a cell's construct."""
    cell = dict(link.state["cell"].cells_and_names()).get(request.path)
    return SourceText(*source_of(getattr(type(cell), "construct", None)))


def weights_of(request: CellRequest, link: Link) -> Found:
    """In the worker, after `compare`: a file with a cell's parameters."""
    import numpy as np

    cell = dict(link.state["cell"].cells_and_names())[request.path]
    path = link.scratch / "weights.npz"
    np.savez(path, **{name: as_numpy(parameter) for name, parameter in cell.parameters_and_names()})
    return Found(str(path))


def trace(request: TraceRequest, link: Link) -> Traced:
    """In the worker, after `compare`: what each line of one cell's construct assigns, on the reference's values."""
    cell, golden = link.state["cell"], open_golden(Path(request.golden))
    names, state = load_weights(cell, golden), state_of(cell)
    cell.set_train(request.mode == "train")
    session = Session(cell, golden, golden.modes[request.mode], request.mode, names, link.doing, None)
    module = dict(cell.cells_and_names())[request.path]
    with traced(module, request.call, "construct", _plain) as found:
        session.forward("own")
    load_weights(cell, golden)
    restore(state)
    path = link.scratch / "trace.npz"
    return Traced(save_trace(found, path), str(path))


def _plain(value: Any) -> Any:
    if is_tensor(value):
        return as_numpy(value).copy()
    return value if isinstance(value, bool | int | float) else None


def made(spec: str, golden: Golden) -> Cell:
    """The network, as it is compared with what the golden file is of."""
    return build_network(spec, golden) if golden.source == "tensorflow" else build_cell(spec)


def build_cell(spec: str) -> Cell:
    from mindspore import nn

    try:
        cell = build(spec)
    except RecordError as error:
        raise MindferryError(str(error)) from None
    if not isinstance(cell, nn.Cell):
        raise MindferryError(f"{spec} gave a {type(cell).__name__}, not a mindspore.nn.Cell; check --model")
    return cell


@unsearched_objects()
def against(
    cell: Cell,
    golden: Golden,
    modes: Sequence[str],
    loss: Callable[..., Tensor] | None = None,
    optimizer: Callable[[Cell], Cell] | None = None,
    doing: Doing = lambda what: None,
    initial: Buffers | None = None,
    names: dict[str, str] | None = None,
) -> Measured:
    """Run `cell` as the golden file says; `modes` out of eval, train, jit, amp. `initial`: its buffers as they were made.

    `names` is filled where weights are loaded, and used where the file has none, since the cell has them already.
    """
    if isinstance(cell, KerasNetwork) and optimizer is not None:
        optimizer = cell.stepping(optimizer)
    initial = initial_buffers(cell) if initial is None else initial
    if golden.weights or not names:
        cell.set_train(golden.was_training)
        loaded = load_weights(cell, golden)
        names = {} if names is None else names
        names.clear()
        names.update(loaded)
    found = _Found()
    for each in compare_initial(golden, initial, names):
        (found.measurements if isinstance(each, Measurement) else found.shortfalls).append(each)  # type: ignore[arg-type]
    found.shortfalls += [*other_starts(golden, initial, names), *other_draws(golden, initial, names)]
    has_steps = optimizer is not None and loss is not None and bool(golden.steps)
    state = state_of(cell) if has_steps else None
    for mode in modes:
        if mode != "amp":
            _run_mode(cell, golden, mode, names, doing, loss, found)
    if optimizer is not None and golden.updates and not found.is_spoilt:
        doing("the optimizer")
        found.measurements += step(cell, golden, found.reach.noting(optimizer, Reach()), names)
        found.shortfalls += moving_rates(optimizer(cell))
        load_weights(cell, golden)
    if optimizer is not None and loss is not None and state is not None and not found.is_spoilt:
        doing("the training steps")
        found.measurements += train(cell, golden, loss, optimizer)
        load_weights(cell, golden)
        restore(state)
    if "amp" in modes and not found.is_spoilt:
        doing("the network in float16")
        found.measurements += mixed(cell, golden)
    if any(mode != "jit" for mode in modes):
        found.note_unreached()
    check_judge(vars(mindspore_session)["distance"])  # as it is looked up there
    if golden.is_watched:
        found.shortfalls += [*other_literals(found.reach, golden), *other_errors(found.reach, golden)]
        found.shortfalls += other_borders(golden, found.reach)
    if golden.is_quick:  # other inputs: what the cell is was told before
        return Measured(
            tuple(found.measurements),
            tuple(found.unmatched),
            tuple(found.shortfalls),
            is_spoilt=found.is_spoilt,
            keeps_state=found.keeps_state,
        )
    if not golden.asks_mode and any(record.gradients for record in golden.modes.values()) and asks_mode(cell):
        why = "the conversion asks whether it trains and the reference does not: gradients there were not compared"
        found.shortfalls.append(Shortfall("mode", "eval", "not reached", why))
    found.shortfalls += [*other_defaults(cell, golden), *other_surroundings(cell, golden), *looks_at_judge(cell)]
    found.shortfalls += [
        *other_literals(found.reach, golden),
        *other_numbers_kept(cell, golden),
        *lost_hooks(cell, golden),
        *lost_gradient_hooks(cell, golden),
        *other_errors(found.reach, golden),
        *kept_in_modules(found.reach),
        *beside_forward(cell, golden, found.reach, initial),
        *other_order(cell, golden, names),
        *other_types(cell, golden, names),
        *other_checkpoint(cell, golden, names),
    ]
    classes = {path: type(each).__name__ for path, each in cell.cells_and_names()}
    settings = {path: small_settings(each) for path, each in cell.cells_and_names()}
    return Measured(
        tuple(found.measurements),
        tuple(found.unmatched),
        tuple(found.shortfalls),
        classes,
        found.is_spoilt,
        {path: each for path, each in settings.items() if each},
        found.keeps_state,
        turnable(((path, each) for path, each in cell.cells_and_names() if is_own(each)), golden.attributes),
    )


def asks_mode(cell: Cell) -> bool:
    """Whether the code of a cell of the project's own asks for the mode."""
    kinds = {type(each) for _, each in cell.cells_and_names() if is_own(each)}
    return any(names_any(kind, MODE, "mindspore.") for kind in kinds)


@dataclass(slots=True)
class _Found:
    """What the modes measured so far."""

    measurements: list[Measurement] = field(default_factory=list)
    unmatched: dict[str, None] = field(default_factory=dict)
    shortfalls: list[Shortfall] = field(default_factory=list)
    reach: Reach = field(default_factory=Reach)
    is_spoilt: bool = False
    has_run: bool = False
    keeps_state: bool = False

    def note_unreached(self) -> None:
        for each in self.reach.unreached():
            name = f"{Path(each.file).name} line {each.line}"
            why = f"never ran in the conversion: {each.function}, `{each.text}`"
            self.shortfalls.append(Shortfall("branch", name, "not reached", why))


def _run_mode(
    cell: Cell,
    golden: Golden,
    mode: str,
    names: dict[str, str],
    doing: Doing,
    loss: Callable[..., Tensor] | None,
    found: _Found,
) -> None:
    """A failure costs this mode its verdict and leaves the others theirs."""
    record = golden.modes.get("eval" if mode == "jit" else mode)
    if record is None:
        raise MindferryError(f"{golden.path} holds no {mode} run; record it again with --modes {mode}")
    if found.is_spoilt:
        why = "an operator failed before, and MindSpore's gradients can't be trusted after that"
        found.shortfalls.append(Shortfall("mode", mode, "not reached", why))
        return
    cell.set_train(mode == "train")
    state = state_of(cell)  # a network may merge weights when it changes its mode
    session = Session(cell, golden, record, mode, names, doing, loss, found.reach)
    try:
        if mode == "jit":
            session.jit()
            restore(state)
        else:
            _run_plainly(session, record.runs, golden.complete, found, state)
    except MindferryError:
        raise
    except Exception as error:
        if not (found.has_run or any(each.problem for each in session.measurements)):
            raise
        found.is_spoilt = True
        where = session.running[-1] if session.running else "the network"
        found.shortfalls.append(Shortfall("mode", mode, "not comparable", f"{where} failed: {one_line(error)}"))
    found.has_run = True
    found.measurements += session.measurements
    found.shortfalls += session.shortfalls
    found.keeps_state |= session.keeps_state
    found.unmatched |= dict.fromkeys(session.unmatched)
    if session.lost or record.is_random:
        lost = next(iter(session.lost), "") or "the network"
        why = f"{lost} draws random numbers that the two sides can't share"
        found.shortfalls.append(Shortfall("random", mode, "not comparable", why))


def _run_plainly(session: Session, runs: Sequence[str], is_complete: bool, found: _Found, state: State) -> None:
    for run in sorted(runs, reverse=True):
        if run == "whole":
            session.whole(state)
        elif not any(each.problem for each in (*found.measurements, *session.measurements)):
            session.own()
        elif is_complete:  # other shapes: no gradient, since an error amid one leaves MindSpore confused
            session.own_forward()
        if run != "whole" or not session.is_as_before:
            restore(state)
    if session.mode == "train" and session.record.second and not any(each.problem for each in session.measurements):
        session.second_step()
        restore(state)
