"""The MindSpore side: build the model, give it the golden file's weights and inputs, compare while it runs."""

from __future__ import annotations

import contextlib
import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MindferryError
from ..verify.compare import Measurement, distance
from ..verify.golden import CallRecord, Golden, ModeRecord, open_golden
from ..verify.goldenfile import RecordError
from ..verify.named import build, find, plain_settings
from ..verify.nesting import leaves, rebuild
from ..verify.predict import batches, save
from ..verify.trace import save as save_trace
from ..verify.trace import traced
from .mindspore_dropout import shared_dropout, without_dropout
from .mindspore_pin import pin
from .mindspore_state import restore, state_of
from .mindspore_steps import mixed, step, train
from .mindspore_tensors import as_numpy, is_activation, is_tensor, make_inputs

if TYPE_CHECKING:
    from .worker import Json, Link

Cell = Any
Tensor = Any
Doing = Callable[[str], None]


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """Everything that one comparison measured, before it is judged."""

    measurements: tuple[Measurement, ...]
    unmatched: tuple[str, ...]  # modules that only one side has, or calls


def compare(payload: Json, link: Link) -> Json:
    """In the worker: {"model", "golden", "modes", "loss", "optimizer"} -> Measured as JSON."""
    golden = open_golden(Path(payload["golden"]))
    link.doing(f"building {payload['model']}")
    cell = build_cell(payload["model"])
    link.state["cell"] = cell
    loss, optimizer = (find(payload[name]) if payload[name] else None for name in ("loss", "optimizer"))
    return dataclasses.asdict(against(cell, golden, payload["modes"], loss, optimizer, link.doing))


def predict(payload: Json, link: Link) -> Json:
    """In the worker, after `compare`: {"data", "samples"} -> path of the saved predictions."""
    import mindspore as ms

    cell = link.state["cell"].set_train(False)

    def scored() -> Iterator[tuple[Any, Any]]:
        for inputs, labels in batches(payload["data"], payload["samples"]):
            link.doing("predicting")
            tensors = [item if is_tensor(item) else ms.Tensor(item) for item in inputs]
            yield as_numpy(leaves(cell(*tensors), is_tensor)[0]), as_numpy(labels) if is_tensor(labels) else labels

    return str(save(scored(), link.scratch, lambda count: link.report({"samples": count})))


def settings_of(payload: Json, link: Link) -> Json:
    """In the worker, after `compare`: a cell's plain attributes."""
    return plain_settings(dict(link.state["cell"].cells_and_names()).get(payload["path"], object))


def weights_of(payload: Json, link: Link) -> Json:
    """In the worker, after `compare`: path of a file with a cell's parameters."""
    import numpy as np

    cell = dict(link.state["cell"].cells_and_names())[payload["path"]]
    path = link.scratch / "weights.npz"
    np.savez(path, **{name: as_numpy(parameter) for name, parameter in cell.parameters_and_names()})
    return str(path)


def trace(payload: Json, link: Link) -> Json:
    """In the worker, after `compare`: what each line of one cell's construct assigns, on the reference's values."""
    cell, golden = link.state["cell"], open_golden(Path(payload["golden"]))
    names, state = load_weights(cell, golden), state_of(cell)
    cell.set_train(payload["mode"] == "train")
    session = Session(cell, golden, golden.modes[payload["mode"]], payload["mode"], names, link.doing, None)
    module = dict(cell.cells_and_names())[payload["path"]]
    with traced(module, payload["call"], "construct", _plain) as found:
        session.forward("own")
    load_weights(cell, golden)
    restore(state)
    path = link.scratch / "trace.npz"
    return {"lines": save_trace(found, path), "arrays": str(path)}


def _plain(value: Any) -> Any:
    if is_tensor(value):
        return as_numpy(value).copy()
    return value if isinstance(value, bool | int | float) else None


def build_cell(spec: str) -> Cell:
    from mindspore import nn

    try:
        cell = build(spec)
    except RecordError as error:
        raise MindferryError(str(error)) from None
    if not isinstance(cell, nn.Cell):
        raise MindferryError(f"{spec} gave a {type(cell).__name__}, not a mindspore.nn.Cell; check --model")
    return cell


def against(
    cell: Cell,
    golden: Golden,
    modes: list[str],
    loss: Callable[..., Tensor] | None = None,
    optimizer: Callable[[Cell], Cell] | None = None,
    doing: Doing = lambda what: None,
) -> Measured:
    """Run `cell` as the golden file says; `modes` out of eval, train, jit."""
    names = load_weights(cell, golden)
    state = state_of(cell)
    measurements: list[Measurement] = []
    unmatched: dict[str, None] = {}
    for mode in modes:
        record = golden.modes.get("eval" if mode == "jit" else mode)
        if record is None:
            raise MindferryError(f"{golden.path} holds no {mode} run; record it again with --modes {mode}")
        cell.set_train(mode == "train")
        session = Session(cell, golden, record, mode, names, doing, loss)
        if mode == "amp":
            continue
        if mode == "jit":
            session.jit()
            restore(state)
        else:
            for run in sorted(record.runs, reverse=True):
                if run == "whole":
                    session.whole()
                elif not any(found.problem for found in (*measurements, *session.measurements)):
                    session.own()
                elif golden.complete:  # other shapes: no gradient, since an error amid one leaves MindSpore confused
                    session.own_forward()
                restore(state)
        measurements += session.measurements
        unmatched |= dict.fromkeys(session.unmatched)
    if optimizer is not None and golden.updates:
        doing("the optimizer")
        measurements += step(cell, golden, optimizer, names)
        load_weights(cell, golden)
    if optimizer is not None and loss is not None and golden.steps:
        doing("the training steps")
        measurements += train(cell, golden, loss, optimizer)
        load_weights(cell, golden)
        restore(state)
    if "amp" in modes:
        doing("the network in float16")
        measurements += mixed(cell, golden)
    return Measured(tuple(measurements), tuple(unmatched))


def load_weights(cell: Cell, golden: Golden) -> dict[str, str]:
    """Copy the reference's weights; torch names -> the cell's."""
    from ..weights import load_torch_weights
    from ..weights.outcome import WeightsMismatchError

    try:
        return {entry.source: entry.target for entry in load_torch_weights(cell, golden.state()).entries}
    except WeightsMismatchError as error:
        found = error.report
        lists = (
            ("only MindSpore has", found.missing),
            ("only torch has", found.unexpected),
            ("of another shape:", found.mismatched),
        )
        said = "; ".join(f"{what} {_listed(names)}" for what, names in lists if names)
        torch = f"torch's {golden.title}" if golden.title else "the torch module"
        raise MindferryError(
            f"{type(cell).__name__} and {torch} are not the same network: {said}; check the model's name on both sides"
        ) from None


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


@dataclasses.dataclass(slots=True)
class Session:
    """One mode of one cell against its record."""

    cell: Cell
    golden: Golden
    record: ModeRecord
    mode: str
    names: dict[str, str]  # torch parameter -> MindSpore parameter
    doing: Doing
    loss: Callable[..., Tensor] | None
    measurements: list[Measurement] = dataclasses.field(default_factory=list)
    unmatched: list[str] = dataclasses.field(default_factory=list)
    _seen: dict[tuple[str, int], bool] = dataclasses.field(default_factory=dict)
    _gradients: dict[str, tuple[CallRecord, str]] = dataclasses.field(default_factory=dict)
    _arrived: set[str] = dataclasses.field(default_factory=set)
    _recent: dict[str, tuple[Tensor, tuple[float, float, str]]] = dataclasses.field(default_factory=dict)

    def whole(self) -> None:
        """The network as it is: every output against the reference's."""
        self._network(self.forward("whole"))
        self.unmatched += [f"{call_name(c.path, c.call)}: only in torch" for c in self.record.calls if not self._ran(c)]

    def forward(self, run: str) -> Any:
        with self._watched(run):
            return self._call()

    def own_forward(self) -> None:
        """As far as it goes, where shapes differ."""
        with contextlib.suppress(Exception):
            self.forward("own")

    def own(self) -> None:
        """Every module on the reference's values: its own error, forward and backward."""
        import mindspore as ms

        self._seen.clear()
        if not self.record.gradients:
            self.forward("own")
        else:
            parameters = [p for _, p in self.cell.parameters_and_names() if p.requires_grad]
            with self._watched("own"):
                _, gradients = ms.value_and_grad(self._loss, None, parameters)()
            self._parameter_gradients(dict(zip((p.name for p in parameters), gradients, strict=True)))
            self._lost_gradients()
        if self.mode == "train":
            self._buffers()

    def jit(self) -> None:
        """The network compiled: no hooks there, so its outputs alone."""
        import mindspore as ms

        positional, named = make_inputs(self.golden, self.golden.inputs)
        self.doing("the compiled network")
        self._network(ms.jit(self.cell)(*positional, **named))

    def _call(self) -> Any:
        positional, named = make_inputs(self.golden, self.golden.inputs)
        return self.cell(*positional, **named)

    def _loss(self) -> Tensor:
        import mindspore as ms
        import numpy as np

        output = self._call()
        self.doing("the loss")
        if self.record.loss:
            if self.loss is None:
                raise MindferryError(
                    f"{self.golden.path} was recorded with a loss; name MindSpore's with [verify] loss"
                )
            total = self.loss(output, *make_inputs(self.golden, self.golden.targets)[0])
            key = self.record.loss
            row = CallRecord("loss", 0, "", ())
            self._add("own", "loss", row, key, (), *distance(as_numpy(total), self.golden.array(key)))
            return total
        found = leaves(output, is_tensor)
        pairs = [(found[index], self.golden.array(key)) for index, key in self.record.cotangents.items()]
        return sum((tensor * ms.Tensor(np.array(cotangent))).sum() for tensor, cotangent in pairs)

    @contextlib.contextmanager
    def _watched(self, run: str) -> Iterator[None]:
        """Hooks on every cell; dropout off."""
        calls = {(record.path, record.call): record for record in self.record.calls}
        running: list[str] = []
        paths: list[str] = [""]
        starts: dict[str, int] = {}
        counts: dict[str, int] = {}
        handles = []

        def before(path: str, cell: Cell, args: Any, kwargs: dict[str, Any]) -> Any:
            running.append(f"{path or 'the network'} ({type(cell).__name__})")
            paths.append(path)
            self.doing(running[-1])
            number = starts[path] = starts.get(path, -1) + 1
            record = calls.get((path, number))
            return self._inputs(record, args, kwargs) if run == "own" and record is not None else None

        def after(path: str, cell: Cell, args: Any, output: Any) -> Any:
            running.pop()
            paths.pop()
            self.doing(running[-1] if running else "")
            number = counts[path] = counts.get(path, -1) + 1
            record = calls.get((path, number))
            if record is None:
                if run == "whole" and not type(cell).__module__.startswith("mindspore."):
                    self.unmatched.append(f"{call_name(path, number)}: only in MindSpore")
                return None
            self._seen[path, number] = True
            return self._outputs(run, record, output)

        with self._dropout(lambda: paths[-1]):  # its hooks come first
            for path, cell in self.cell.cells_and_names():
                handles.append(cell.register_forward_pre_hook(partial(before, path), with_kwargs=True))
                handles.append(cell.register_forward_hook(partial(after, path)))
            try:
                yield
            finally:
                for handle in handles:
                    handle.remove()

    def _dropout(self, here: Callable[[], str]) -> contextlib.AbstractContextManager[None]:
        if not self.record.masks:
            return without_dropout(self.cell)
        left = {path: iter(found) for path, found in self.record.masks.items()}

        def mask(path: str) -> tuple[Any, float] | None:
            key, rate = next(left.get(path, iter(())), ("", 0.0))
            return (self.golden.array(key), rate) if key else None

        def wrong(path: str, problem: str) -> None:
            self._add("own", "output", CallRecord(path, 0, "", ()), "", (), float("inf"), float("nan"), problem)

        return shared_dropout(self.cell, here, mask, wrong)

    def _inputs(self, record: CallRecord, args: Any, kwargs: dict[str, Any]) -> Any:
        """Compare what a module is called with, and call it with the reference's values instead."""

        given = (args, dict(sorted(kwargs.items())))
        found = leaves(given, is_activation)
        if not record.inputs or len(found) != len(record.inputs):
            return None
        going_on = []
        for tensor, (key, gradient) in zip(found, record.inputs, strict=True):
            reference, value = self.golden.array(key), as_numpy(tensor)
            self._add("own", "input", record, key, value.shape, *distance(value, reference))
            going_on.append(self._pin(tensor, reference, gradient, record, "input gradient"))
        return rebuild(given, iter(going_on), is_activation)

    def _outputs(self, run: str, record: CallRecord, output: Any) -> Any:
        """Compare one module's outputs; in the `own` run, hand on the reference's values instead."""

        found = leaves(output, is_tensor)
        if len(found) != len(record.outputs):
            problem = f"{len(found)} output tensors, not {len(record.outputs)}"
            self._add(run, "output", record, "", (), float("inf"), float("nan"), problem)
            return None
        going_on = []
        for tensor, key in zip(found, record.outputs, strict=True):
            known, error = self._recent.get(key, (None, (0.0, 1.0, "")))
            if known is tensor:  # a container hands out what its last child did
                self._add(run, "output", record, key, tensor.shape, *error)
                if f"{key}~" in self._gradients:
                    self._gradients[f"{key}~"] = (record, "gradient")
            else:
                reference, value = (self.golden.array if run == "own" else self.golden.lent)(key), as_numpy(tensor)
                error = distance(value, reference)
                self._add(run, "output", record, key, value.shape, *error)
                if run == "own":
                    tensor, error = self._pin(tensor, reference, f"{key}~", record, "gradient"), (0.0, 1.0, "")
                self._recent = {key: (tensor, error)}
            going_on.append(tensor)
        return rebuild(output, iter(going_on), is_tensor) if run == "own" else None

    def _pin(self, tensor: Tensor, reference: Any, gradient: str, record: CallRecord, kind: str) -> Tensor:
        """The reference's value with this tensor's gradient, which is compared when it arrives."""
        import mindspore as ms

        right = ms.Tensor.from_numpy(reference).astype(tensor.dtype)
        if not tensor.is_floating_point() or tensor.shape != right.shape:
            return right
        if not (self.record.gradients and gradient in self.golden.entries):
            return pin(tensor, right, lambda arriving: arriving)
        is_new = gradient not in self._gradients
        self._gradients[gradient] = (record, kind)  # of a container and its last child, the container
        return pin(tensor, right, partial(self._gradient, gradient) if is_new else lambda arriving: arriving)

    def _gradient(self, key: str, gradient: Tensor) -> Tensor:
        """Compare a gradient that arrives at a module's output or input, and hand on the reference's."""
        import mindspore as ms

        value, reference = as_numpy(gradient), self.golden.array(key)
        record, kind = self._gradients[key]
        self._arrived.add(key)
        self._add("own", kind, record, key, value.shape, *distance(value, reference))
        return ms.Tensor.from_numpy(reference).astype(gradient.dtype)

    def _lost_gradients(self) -> None:
        """A gradient that the reference has and that never arrived here."""
        for key, (record, kind) in self._gradients.items():
            if key not in self._arrived:
                largest = self.golden.references[key].scale
                self._add("own", kind, record, key, (), largest, 0.0, "no gradient arrives" if largest else "")

    def _parameter_gradients(self, gradients: dict[str, Tensor]) -> None:
        shares = Counter(self.names.values())
        for name, target in self.names.items():
            key = self.record.parameters.get(name)
            if shares[target] > 1:  # several torch parameters in one; no gradient of theirs can be told apart
                continue
            if target not in gradients:
                if key is not None and self.golden.references[key].scale:
                    problem = "is not trained, while the reference trains it"
                    self._add("own", "parameter", CallRecord(name, 0, "", ()), key, (), float("inf"), 0.0, problem)
                continue
            value = as_numpy(gradients[target])
            if key is not None:
                found = distance(value, self.golden.lent(key), is_parameter=True)
                self._add("own", "parameter", CallRecord(name, 0, "", ()), key, value.shape, *found)
            elif value.any():
                problem = "a gradient where the reference has none"
                self._add("own", "parameter", CallRecord(name, 0, "", ()), "", value.shape, float("inf"), 0.0, problem)

    def _buffers(self) -> None:
        """Running statistics after one training step."""
        state = self.cell.parameters_dict()
        for name, key in self.record.buffers.items():
            if self.names.get(name) in state:
                value = as_numpy(state[self.names[name]])
                found = distance(value, self.golden.lent(key), is_parameter=True)
                self._add("own", "buffer", CallRecord(name, 0, "", ()), key, value.shape, *found)

    def _network(self, output: Any) -> None:
        """The network's outputs against torch's own float32 outputs: what a user would look at first."""
        found = leaves(output, is_tensor)
        recorded = "eval" if self.mode == "jit" else self.mode
        if len(found) != len(self.record.outputs):
            problem = f"{len(found)} output tensors, not {len(self.record.outputs)}"
            self._add("whole", "network", CallRecord("", 0, "", ()), "", (), float("inf"), float("nan"), problem)
            return
        for index, tensor in enumerate(found):
            value, key = as_numpy(tensor), self.record.outputs[index]
            record = CallRecord(f"output {index}" if len(found) > 1 else "output", 0, "", ())
            reference = self.golden.array(f"{recorded}/float32.{index}")
            self._add("whole", "network", record, key, value.shape, *distance(value, reference))

    def _ran(self, record: CallRecord) -> bool:
        return self._seen.get((record.path, record.call), False)

    def _add(self, run: str, kind: str, at: CallRecord, key: str, shape: Any, *found: Any) -> None:
        self.measurements.append(Measurement(self.mode, run, kind, at.path, at.call, key, tuple(shape), *found))


def call_name(path: str, call: int) -> str:
    return (path or "the network") + (f" (call {call + 1})" if call else "")
