"""One mode of one cell against its record: hooks on every cell compare while the network runs."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from ..errors import MindferryError
from ..verify.compare import Measurement, distance
from ..verify.golden import CallRecord, Golden, ModeRecord
from ..verify.layout import Layouts
from ..verify.nested_inputs import call
from ..verify.nesting import in_order, leaves, rebuild, rebuilt_call
from ..verify.reach import Reach
from ..verify.seeding import seeded
from ..verify.structure import call_name, compare_structure
from .mindspore_again import own_outputs, second_call
from .mindspore_conduct import (
    host_draws,
    is_library,
    moved_outside,
    new_caches,
    other_arguments,
    other_attributes,
    other_containers,
    other_tensors_outside,
    other_writes,
    values_outside,
)
from .mindspore_keras import KerasNetwork
from .mindspore_pin import pin
from .mindspore_random import Stock, shared_randomness
from .mindspore_state import State, changed_tensors, has_other_values, moved_numbers, names_of_moved, new_tensors
from .mindspore_tensors import (
    as_numpy,
    in_parts,
    is_activation,
    is_tensor,
    like,
    make_inputs,
    split_gradients,
    weighted_sum,
)
from .mindspore_weights import gradient_pairs, light_weights, tensor_of, torn_ties, written_weights
from .requests import Shortfall

Cell = Any
Tensor = Any
Doing = Callable[[str], None]
NETWORK = CallRecord("", 0, "", ())


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
    reach: Reach | None = None
    measurements: list[Measurement] = dataclasses.field(default_factory=list)
    unmatched: list[str] = dataclasses.field(default_factory=list)
    shortfalls: list[Shortfall] = dataclasses.field(default_factory=list)
    keeps_state: bool = False  # it changed something, and the reference was not called twice
    is_as_before: bool = False  # after `whole`: nothing is left to restore
    lost: list[str] = dataclasses.field(default_factory=list)  # paths that drew numbers which the reference did not
    running: list[str] = dataclasses.field(default_factory=list)  # where it is, or where it failed
    _layouts: Layouts = dataclasses.field(init=False)
    _seen: dict[tuple[str, int], bool] = dataclasses.field(default_factory=dict)
    _gradients: dict[str, tuple[CallRecord, str]] = dataclasses.field(default_factory=dict)
    _arrived: set[str] = dataclasses.field(default_factory=set)
    _recent: dict[str, tuple[Tensor, tuple[float, float, str]]] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        self._layouts = Layouts(self.golden)

    def whole(self, state: State) -> None:
        """The network as it is: every output against the reference's. `state` is what it starts from."""
        before = values_outside(self.cell) if not self.golden.is_quick else {}
        weights = light_weights(self.cell)
        output = self.forward("whole")
        self._network(output)
        if not self.golden.is_quick:
            self.shortfalls += own_outputs(self.cell, output, self.golden, self.record)
        self._unexpected_changes(written_weights(weights), "a call writes into it, while the reference's does not")
        if not self.golden.is_quick:
            after = values_outside(self.cell)
            self.shortfalls += moved_outside(before, after, self.record)
            if not self.record.is_random:
                self.shortfalls += other_attributes(self.cell, self.golden, self.record.left)
                self.shortfalls += other_tensors_outside(after, self.golden, self.record)
        if self.mode == "eval":
            self._counts(moved_numbers(state))
            self._buffers(self.record.buffers)
            problem = f"changes in {self.mode} mode, while the reference's does not"
            self.shortfalls += new_caches(self.cell, new_tensors(state), self.golden, self.record)
            others = changed_tensors(state)
            self._unexpected_changes(names_of_moved(others), problem)
            is_changed = bool(others) or has_other_values(state)
            self.is_as_before = not is_changed
            if self.record.second and (self.record.is_stateful or is_changed):
                second_call(self)
            elif is_changed and not (self.golden.is_quick or self.record.is_stateful):
                self.keeps_state = True
        if self.golden.is_quick:
            return
        self.unmatched += [
            f"{call_name(c.path, c.call)}: only in {self.golden.framework}"
            for c in self.record.calls
            if not self._ran(c)
        ]

    def _counts(self, moved: list[str]) -> None:
        """Numbers that only the conversion moves: a later call may come out otherwise."""
        if not (self.record.is_stateful or self.record.kept or self.record.draws_outside):
            for name in moved:
                why = "a call changes it in the conversion, and no attribute in the reference"
                self.shortfalls.append(Shortfall("state", name, "not comparable", why))

    def second_step(self) -> None:
        """In train mode, where a step changes a state of the network's own: the step after it."""
        self._call()
        second_call(self)
        with seeded(self.golden.seed):
            for _ in range(self.record.later_steps):
                self._call()
        self._buffers(self.record.later)

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
        places = {index: key for index, key in self.record.input_gradients.items() if self.golden.inputs[index].key}
        parameters = [p for _, p in self.cell.parameters_and_names() if p.requires_grad]
        if not self.record.gradients or not (parameters or places):
            self._structure(self.forward("own"))
        else:
            given = [ms.Tensor(self.golden.array(self.golden.inputs[index].key)) for index in places]
            chosen = tuple(range(len(given))) if len(given) > 1 else 0 if given else None

            def loss(*tensors: Tensor) -> Tensor:  # MindSpore asks a function for its name
                return self._loss(list(places), *tensors)

            with self._watched("own"):
                _, found = ms.value_and_grad(loss, chosen, parameters or None)(*given)
            to_inputs, to_parameters = split_gradients(found, bool(given), bool(parameters))
            self._input_gradients(places, to_inputs)
            self._parameter_gradients(dict(zip((p.name for p in parameters), to_parameters, strict=True)))
            self._lost_gradients()
        if self.mode == "train":
            self._buffers(self.record.buffers)

    def jit(self) -> None:
        """The network compiled: no hooks there, so its outputs alone."""
        import mindspore as ms

        positional, named = make_inputs(self.golden, self.golden.inputs)
        self.doing("the compiled network")
        self.running[:] = ["the compiled network"]
        self._network(call(ms.jit(self.cell), positional, named))
        self.running.clear()

    def _call(self, given: dict[int, Tensor] | None = None) -> Any:
        positional, named = make_inputs(self.golden, self.golden.inputs, given or {})
        reshaped: list[str] = []
        output = call(self.cell, positional, named, reshaped)
        if not given:
            self.shortfalls += other_writes(self.golden, self.record, positional, named)
            self.shortfalls += other_containers(reshaped, self.record)
        return output

    def _loss(self, places: list[int], *given: Tensor) -> Tensor:
        import mindspore as ms
        import numpy as np

        output = self._call(dict(zip(places, given, strict=True)))
        self._structure(output)
        self.doing("the loss")
        if self.record.loss:
            if self.loss is None:
                raise MindferryError(
                    f"{self.golden.path} was recorded with a loss; name MindSpore's with [verify] loss"
                )
            total = self.loss(output, *make_inputs(self.golden, self.golden.targets)[0])
            key = self.record.loss
            row = CallRecord("loss", 0, "", ())
            self.add("own", "loss", row, key, (), *distance(as_numpy(total), self.golden.array(key)))
            return self._with_penalties(total)
        found = [in_parts(tensor) for tensor in leaves(output, is_tensor, objects=True)]
        total = ms.Tensor(0.0)
        for index, key in self.record.cotangents.items():
            if index < len(found) and found[index].is_floating_point():
                cotangent, finite = self.golden.array(key), np.isfinite(as_numpy(found[index]))
                tensor = found[index] if finite.all() else found[index].masked_fill(ms.Tensor(~finite), 0.0)
                total = total + (tensor * ms.Tensor(np.array(cotangent))).sum()
        for index in set(range(len(found))) - self.record.cotangents.keys():  # through these no gradient may arrive
            total = total + weighted_sum(found[index])
        return self._with_penalties(total)

    def _with_penalties(self, total: Tensor) -> Tensor:
        """What layers of a Keras network add to the loss."""
        added = self.cell.penalties() if isinstance(self.cell, KerasNetwork) else None
        key = self.record.penalties
        if added is None and not key:
            return total
        value = as_numpy(added if added is not None else total * 0)
        found = (
            distance(value.reshape(()), self.golden.array(key).reshape(()))
            if key
            else (float("inf"), 0.0, "the reference adds nothing to the loss")
        )
        self.add("own", "loss", CallRecord("added losses", 0, "", ()), key, (), *found)
        return total if added is None else total + added

    @contextlib.contextmanager
    def _watched(self, run: str) -> Iterator[None]:
        """Hooks on every cell; the reference's random numbers."""
        calls = {(record.path, record.call): record for record in self.record.calls}
        running = self.running
        running.clear()
        paths: list[str] = [""]
        starts: dict[str, int] = {}
        counts: dict[str, int] = {}
        handles = []
        reach = self.reach if self.golden.is_watched or not self.golden.is_quick else None
        # On other inputs nothing is watched: a network could tell, and behave.
        cells = [] if self.golden.is_quick else list(self.cell.cells_and_names())
        # A library's cell without parts of its own runs no code of the network's.
        libraries = {path for path, cell in cells if is_library(cell)} if reach is not None else set()

        def before(path: str, cell: Cell, args: Any, kwargs: dict[str, Any]) -> Any:
            if reach is not None:
                reach.pause()
            running.append(f"{path or 'the network'} ({type(cell).__name__})")
            paths.append(path)
            self.doing(running[-1])
            number = starts[path] = starts.get(path, -1) + 1
            record = calls.get((path, number))
            given = self._inputs(record, cell, args, kwargs) if run == "own" and record is not None else None
            if reach is not None and path not in libraries:
                reach.resume()
            return given

        def after(path: str, cell: Cell, args: Any, output: Any) -> Any:
            with reach.paused() if reach is not None else contextlib.nullcontext():
                return left(path, cell, output)

        def left(path: str, cell: Cell, output: Any) -> Any:
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

        with seeded(self.golden.seed), self._shared(lambda: paths[-1]):  # its hooks come first
            for path, cell in cells:
                handles.append(cell.register_forward_pre_hook(partial(before, path), with_kwargs=True))
                handles.append(cell.register_forward_hook(partial(after, path)))
            try:
                with host_draws(self.record, self.mode, self.shortfalls), reach or contextlib.nullcontext():
                    yield
            finally:
                for handle in handles:
                    handle.remove()

    def _shared(self, here: Callable[[], str]) -> contextlib.AbstractContextManager[None]:
        if isinstance(self.cell, KerasNetwork):
            return self.cell.shared_draws(self.golden.seed, here, self.record.drawn, self.lost)

        def size(key: str) -> int:
            return math.prod(self.golden.entries[key]["shape"])

        def wrong(path: str, problem: str) -> None:
            self.add("own", "output", CallRecord(path, 0, "", ()), "", (), float("inf"), float("nan"), problem)

        masks = Stock(self.record.masks, self.golden.array, size)
        draws = Stock(self.record.draws, self.golden.array, size)
        hidden = {path: part.rate for path, part in self.golden.parts.items() if part.rate}
        return shared_randomness(self.cell, here, masks, draws, wrong, self.lost, hidden)

    def _inputs(self, record: CallRecord, cell: Cell, args: Any, kwargs: dict[str, Any]) -> Any:
        """Compare what a module is called with, and call it with the reference's values instead."""
        given, names = in_order(cell.construct, args, kwargs)
        found = leaves(given, is_activation)
        if not record.inputs:
            return None
        for problem in other_arguments(record, cell, args, kwargs):
            self.add("own", "input", record, "", (), float("inf"), float("nan"), problem)
        if len(found) != len(record.inputs):
            if not type(cell).__module__.startswith("mindspore."):
                problem = f"is called with {len(found)} tensors, not {len(record.inputs)}"
                self.add("own", "input", record, "", (), float("inf"), float("nan"), problem)
            return None
        going_on = []
        for tensor, (key, gradient) in zip(found, record.inputs, strict=True):
            value = as_numpy(tensor)
            reference = self._layouts.reference(key, gradient, value, bool(record.path))
            self.add("own", "input", record, key, value.shape, *distance(value, reference))
            going_on.append(self._pin(tensor, reference, gradient, record, "input gradient"))
        return rebuilt_call(given, names, iter(going_on), is_activation)

    def _outputs(self, run: str, record: CallRecord, output: Any) -> Any:
        """Compare one module's outputs; in the `own` run, hand on the reference's values instead."""
        found = leaves(output, is_tensor, objects=True)
        if len(found) != len(record.outputs):
            problem = f"{len(found)} output tensors, not {len(record.outputs)}"
            self.add(run, "output", record, "", (), float("inf"), float("nan"), problem)
            return None
        going_on = []
        for tensor, key in zip(found, record.outputs, strict=True):
            known, error = self._recent.get(key, (None, (0.0, 1.0, "")))
            if known is tensor:  # a container hands out what its last child did
                self.add(run, "output", record, key, tensor.shape, *error)
                if f"{key}~" in self._gradients:
                    self._gradients[f"{key}~"] = (record, "gradient")
            else:
                value = as_numpy(tensor)
                reference = self._layouts.reference(key, f"{key}~", value, bool(record.path), run == "own")
                error = distance(value, reference, is_plain=self._is_plain(key))
                self.add(run, "output", record, key, value.shape, *error)
                if run == "own":
                    tensor, error = self._pin(tensor, reference, f"{key}~", record, "gradient"), (0.0, 1.0, "")
                self._recent = {key: (tensor, error)}
            going_on.append(tensor)
        return rebuild(output, iter(going_on), is_tensor, objects=True) if run == "own" else None

    def _pin(self, tensor: Tensor, reference: Any, gradient: str, record: CallRecord, kind: str) -> Tensor:
        """The reference's value with this tensor's gradient, which is compared when it arrives."""
        right = like(reference, tensor)
        if not (tensor.is_floating_point() or tensor.is_complex()) or tensor.shape != right.shape:
            return right
        if not (self.record.gradients and gradient in self.golden.entries):
            return pin(tensor, right, lambda arriving: arriving)
        is_new = gradient not in self._gradients
        self._gradients[gradient] = (record, kind)  # of a container and its last child, the container
        return pin(tensor, right, partial(self._gradient, gradient) if is_new else lambda arriving: arriving)

    def _gradient(self, key: str, gradient: Tensor) -> Tensor:
        """Compare a gradient that arrives at a module's output or input, and hand on the reference's."""
        with self.reach.paused() if self.reach is not None else contextlib.nullcontext():
            value = as_numpy(gradient)
            reference = self._layouts.gradient(key, value)
            record, kind = self._gradients[key]
            self._arrived.add(key)
            found = distance(value, reference, is_plain=self._is_plain(key))
            self.add("own", kind, record, key, value.shape, *found)
            return like(reference, gradient)

    def _is_plain(self, key: str) -> bool:
        known = self.golden.references.get(key)
        return known is not None and known.is_plain

    def _lost_gradients(self) -> None:
        """A gradient that the reference has and that never arrived here."""
        for key, (record, kind) in self._gradients.items():
            if key not in self._arrived:
                largest = self.golden.references[key].scale
                self.add("own", kind, record, key, (), largest, 0.0, "no gradient arrives" if largest else "")

    def _input_gradients(self, places: dict[int, str], gradients: list[Tensor]) -> None:
        for (index, key), gradient in zip(places.items(), gradients, strict=True):
            row = CallRecord("", index, "", ())
            value = as_numpy(gradient)
            problem = "a gradient where the reference has none" if value.any() else ""
            found = distance(value, self.golden.array(key)) if key else (math.inf if problem else 0.0, 0.0, problem)
            self.add("own", "input gradient", row, key, value.shape, *found)

    def _parameter_gradients(self, gradients: dict[str, Tensor]) -> None:
        for name, problem in torn_ties(self.names, self.golden):
            self._parameter(name, "", (), float("inf"), 0.0, problem)
        for name, value in gradient_pairs(self.names, self.golden, gradients, as_numpy):
            key = self.record.parameters.get(name)
            if isinstance(value, str):
                if key is not None:
                    self.shortfalls.append(Shortfall("gradient", name, "not comparable", value))
            elif value is None:
                if key is not None and self.golden.references[key].scale:
                    problem = "is not trained, while the reference trains it"
                    self._parameter(name, key, (), float("inf"), 0.0, problem)
            elif key is not None:
                right, is_plain = self.golden.lent(key), self._is_plain(key)
                found = distance(value, right, is_parameter=True, is_plain=is_plain)
                self._parameter(name, key, value.shape, *found)
            elif value.any():
                problem = "a gradient where the reference has none"
                self._parameter(name, "", value.shape, float("inf"), 0.0, problem)

    def _parameter(self, name: str, key: str, shape: Any, *found: Any) -> None:
        self.add("own", "parameter", CallRecord(name, 0, "", ()), key, shape, *found)

    def _unexpected_changes(self, changed: list[str], problem: str) -> None:
        """Buffers and weights that a call changes here alone."""
        sources = {target: source for source, target in self.names.items()}
        for name in changed:
            torchs = sources.get(name, name)
            if torchs in self.golden.weights and torchs not in self.record.buffers:
                self.add("own", "buffer", CallRecord(torchs, 0, "", ()), "", (), float("inf"), float("nan"), problem)

    def _buffers(self, keys: dict[str, str]) -> None:
        """Buffers after one training step, or after some more; in eval mode, those that the reference changes there."""
        if not keys:
            return
        state, cells = self.cell.parameters_dict(), dict(self.cell.cells_and_names())
        for name, key in keys.items():
            place = state.get(self.names.get(name, ""))
            tensor = place if place is not None else tensor_of(cells, name)
            if tensor is None:
                if not name.endswith("num_batches_tracked"):
                    why = "the conversion keeps no such tensor"
                    self.shortfalls.append(
                        Shortfall("buffer", name, "not comparable", why, name in self.golden.weights)
                    )
                continue
            value = as_numpy(tensor)
            found = distance(value, self.golden.lent(key), is_parameter=True)
            at = CallRecord(name, 0, "", ())
            self.add("own", "buffer", at, self.record.buffers.get(name, key), value.shape, *found)

    def _structure(self, output: Any) -> None:
        """Names, types and plain values of what the network returns."""
        problems, shortfalls = compare_structure(
            self.record.structure, output, is_tensor, is_compiled=self.mode == "jit"
        )
        for way, problem in problems:
            at = CallRecord(f"output {way}".strip(), 0, "", ())
            self.add("whole", "network", at, "", (), float("inf"), float("nan"), problem)
        self.shortfalls += shortfalls

    def _network(self, output: Any) -> None:
        """Its outputs against torch's own in float32."""
        self._structure(output)
        found = leaves(output, is_tensor, objects=True)
        recorded = "eval" if self.mode == "jit" else self.mode
        if len(found) != len(self.record.outputs):
            problem = f"{len(found)} output tensors, not {len(self.record.outputs)}"
            self.add("whole", "network", NETWORK, "", (), float("inf"), float("nan"), problem)
            return
        ways = [leaf.way for leaf in self.record.structure if leaf.dtype]
        for index, tensor in enumerate(found):
            value, key = as_numpy(tensor), self.record.outputs[index]
            record = CallRecord(f"output {ways[index] or index}" if len(found) > 1 else "output", 0, "", ())
            reference = self.golden.array(f"{recorded}/float32.{index}")
            self.add("whole", "network", record, key, value.shape, *distance(value, reference))
            self._columns(index, record.path, value, reference)

    def _columns(self, index: int, name: str, value: Any, reference: Any) -> None:
        """Columns that are far smaller than the others, on their own scale."""
        for each in self.record.columns:
            if each.output == index and value.shape == reference.shape:
                ours, theirs = (array.take(each.columns, each.axis) for array in (value, reference))
                first, last = each.columns[0], each.columns[-1]
                said = f"{name}, small columns {first} to {last} of axis {each.axis}"
                row = CallRecord(said, 0, "", ())
                self.add("whole", "network", row, each.key, ours.shape, *distance(ours, theirs))

    def _ran(self, record: CallRecord) -> bool:
        return self._seen.get((record.path, record.call), False)

    def add(self, run: str, kind: str, at: CallRecord, key: str, shape: Any, *found: Any) -> None:
        self.measurements.append(Measurement(self.mode, run, kind, at.path, at.call, key, tuple(shape), *found))
