"""Record a torch model in one golden file: every module's outputs and gradients, and how far float32 is from them.

Each mode (eval, train) runs three times. In float64, to write what is right. In float32 with every module's output, and
the gradient that arrives there, replaced by the float64 value, so that each module shows its own error alone ("own").
In float32 as it is ("whole"). The conversion is later allowed a small multiple of those two errors. The golden file is in safetensors format; the
JSON that tells what the tensors are is in its `__metadata__`.
"""

from __future__ import annotations

import contextlib
import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from .alias import alias
from .buffers import same_buffers
from .dropout import shared_dropout, without_dropout
from .goldenfile import GoldenWriter, RecordError, as_kept
from .named import one_line, plain_settings
from .nesting import leaves, rebuild
from .update import run_steps, train_steps

FORMAT = "mindferry golden 2"  # 1: the gradient of one output of several could include what came by way of another
Tensor = Any  # torch.Tensor
Note = Callable[[str], None]
Visit = Callable[[str, Tensor], Tensor]
Fork = Callable[[str, Tensor, bool], Tensor]


class Capture:
    """Hooks on every module. `visit(key, tensor)` sees each tensor once and returns what goes on.

    `fork(key, tensor, is_new)`, if given, sees the inputs, and gives a module its own branch of a tensor that others use
    too, so that the gradient by way of this module alone can be seen there.
    """

    def __init__(self, model: Any, mode: str, visit: Visit, fork: Fork | None) -> None:
        self.calls: list[dict[str, Any]] = []
        self._mode, self._visit, self._fork = mode, visit, fork
        self._started: dict[str, int] = {}
        self._ended: dict[str, int] = {}
        self._inputs: dict[str, list[list[str]]] = {}
        self._seen: dict[int, tuple[weakref.ref[Tensor], int, str]] = {}
        self._handles = []
        for path, module in model.named_modules():
            self._handles.append(module.register_forward_hook(partial(self._after, path)))
            if fork is not None:
                self._handles.append(module.register_forward_pre_hook(partial(self._before, path), with_kwargs=True))

    def stop(self) -> None:
        """To be called before the backward pass: activation checkpointing runs modules again there."""
        for handle in self._handles:
            handle.remove()

    def _before(self, path: str, module: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        assert self._fork is not None
        number = self._started[path] = self._started.get(path, -1) + 1
        given = (args, dict(sorted(kwargs.items())))
        keys, going_on = [], []
        for index, tensor in enumerate(leaves(given, is_activation)):
            place = f"{self._mode}/{path}#{number}<{index}"
            key = self._known(tensor)
            tensor = self._fork(place, tensor, key is None)
            self._remember(tensor, key or place)
            keys.append([key or place, f"{place}~"])
            going_on.append(tensor)
        self._inputs[path] = keys
        return rebuild(given, iter(going_on), is_activation)

    def _after(self, path: str, module: Any, args: Any, output: Any) -> Any:
        number = self._ended[path] = self._ended.get(path, -1) + 1
        keys, going_on = [], []
        found = leaves(output, is_tensor)
        for index, tensor in enumerate(found):
            key = self._known(tensor)
            if key is None:
                key = f"{self._mode}/{path}#{number}.{index}"
                if len(found) > 1 and tensor.requires_grad:  # another output may be computed from this one
                    tensor = alias(tensor)
                tensor = self._visit(key, tensor)
                self._remember(tensor, key)
            keys.append(key)
            going_on.append(tensor)
        facts = {"path": path, "call": number, "class": type(module).__name__, "outputs": keys}
        self.calls.append({**facts, "inputs": self._inputs.pop(path, [])})
        same = all(a is b for a, b in zip(found, going_on, strict=True))
        return output if same else rebuild(output, iter(going_on), is_tensor)

    def _known(self, tensor: Tensor) -> str | None:
        """The key of a tensor that was seen before, unless it was changed in place since."""
        if id(tensor) not in self._seen:
            return None
        reference, version, key = self._seen[id(tensor)]
        return key if version == tensor._version and reference() is tensor else None

    def _remember(self, tensor: Tensor, key: str) -> None:
        self._seen[id(tensor)] = (weakref.ref(tensor), tensor._version, key)


@dataclass(slots=True)
class Recorder:
    """One model, one set of inputs, one golden file in the making."""

    model: Any
    inputs: list[tuple[str, Any]]
    writer: GoldenWriter
    seed: int
    note: Note
    inside: bool  # inputs too
    runs: dict[str, list[str]]  # mode -> own, whole or both
    loss: Callable[..., Tensor] | None  # of the output and the targets; else a fixed random weighting of the outputs
    targets: list[tuple[str, Any]]
    shared: bool  # dropout in train mode, with masks that are written down
    errors: dict[str, dict[str, float]] = field(default_factory=dict)
    reference: str = "float64"
    why: str = ""

    def mode(self, mode: str, gradients: bool) -> dict[str, Any]:
        """Record one mode; see the module's docstring for its three runs."""
        import torch

        self.model.train(mode == "train")
        facts: dict[str, Any] | None = None
        wanted = "float64" if self.inside or "whole" in self.runs[mode] else "float32"
        if self.reference == wanted == "float64":
            mark = self.writer.mark()
            try:
                with same_buffers(self.model), _cast(self.model, torch.float64):
                    facts = self._run(mode, "write", gradients, torch.float64)
            except (RuntimeError, TypeError, ValueError, NotImplementedError) as error:
                self.reference, self.why = "float32", one_line(error)
                self.writer.rewind(mark)
        if facts is None:
            with same_buffers(self.model):
                facts = self._run(mode, "write", gradients, torch.float32)
        facts |= {"runs": self.runs[mode], "reference": "float64" if wanted == self.reference else "float32"}
        for which in self.runs[mode]:
            if which == "whole" or (self.inside and self.reference == "float64"):
                with same_buffers(self.model):
                    self._run(mode, which, gradients and which == "own", torch.float32, facts)
        return facts

    def _run(
        self, mode: str, which: str, gradients: bool, dtype: Any, facts: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        import torch

        self.note(f"the {mode} run" + ("" if which == "write" else " in float32"))
        torch.manual_seed(self.seed + (which == "own"))  # what is random then shows as an error of the reference itself
        positional, named = self._given(dtype)
        masks: dict[str, list[Any]] = {}
        fork = partial(self._fork, which) if self.inside and which != "whole" else None
        capture = Capture(self.model, mode, partial(self._visit, which), fork)
        try:
            with torch.set_grad_enabled(gradients), self._dropout(mode, which, masks):
                output = self.model(*positional, **named)
        finally:
            capture.stop()
        found = leaves(output, is_tensor)
        if which == "whole":
            for index, tensor in enumerate(found):
                self.writer.write(f"{mode}/float32.{index}", tensor)
            return {}
        if facts is None:
            facts = {"calls": capture.calls, "outputs": capture.calls[-1]["outputs"], "gradients": gradients}
            facts |= {"cotangents": [], "parameters": {}, "buffers": {}, "loss": "", "masks": masks}
        if gradients and self.loss is not None:
            total = self.loss(output, *(_as(value, dtype) for _, value in self.targets))
            facts["loss"] = f"{mode}/loss"
            self._keep(which, facts["loss"], total)
            self._backward(mode, which, total, facts)
        elif gradients:
            self._backward(mode, which, self._weighted(mode, which, found, facts), facts)
        if mode == "train":
            for name, buffer in self.model.named_buffers():
                if buffer.is_floating_point():
                    facts["buffers"][name] = f"{mode}/buffer/{name}"
                    self._keep(which, f"{mode}/buffer/{name}", buffer)
        return facts

    def _given(self, dtype: Any) -> tuple[list[Any], dict[str, Any]]:
        positional = [_as(value, dtype) for name, value in self.inputs if not name]
        return positional, {name: _as(value, dtype) for name, value in self.inputs if name}

    def _dropout(self, mode: str, which: str, masks: dict[str, list[Any]]) -> contextlib.AbstractContextManager[None]:
        if not self.shared or mode != "train":
            return without_dropout(self.model)

        def keep(name: str, rate: float, mask: Tensor) -> None:
            if which == "write":
                self.writer.write(f"{mode}/mask/{name}", mask)
                masks.setdefault(name.rpartition("#")[0], []).append([f"{mode}/mask/{name}", rate])

        return shared_dropout(self.model, self.seed, keep)

    def _weighted(self, mode: str, which: str, outputs: list[Tensor], facts: dict[str, Any]) -> Tensor:
        """The sum of all outputs, each times a fixed random number."""
        import torch

        generator = torch.Generator().manual_seed(self.seed)
        total: Any = 0.0
        for index, tensor in enumerate(outputs):
            if not (tensor.is_floating_point() and tensor.requires_grad):
                continue
            cotangent = torch.randn(tensor.shape, generator=generator)
            if which == "write":
                facts["cotangents"].append([index, f"{mode}/cotangent.{index}"])
                self.writer.write(f"{mode}/cotangent.{index}", cotangent)
            total = total + (tensor * cotangent.to(tensor)).sum()
        if isinstance(total, float):
            raise RecordError("no output depends on a parameter, so there is no gradient; record eval only")
        return total

    def _backward(self, mode: str, which: str, total: Tensor, facts: dict[str, Any]) -> None:
        total.backward()
        for name, parameter in self.model.named_parameters():
            if parameter.grad is not None:
                key = f"{mode}/parameter/{name}"
                if which == "write":
                    facts["parameters"][name] = key
                self._keep(which, key, parameter.grad)
                parameter.grad = None

    def _visit(self, which: str, key: str, tensor: Tensor) -> Tensor:
        self._keep(which, key, tensor)
        tensor = self._pinned(which, key, tensor)
        if tensor.requires_grad and which != "whole":
            tensor.register_hook(partial(self._visit_gradient, which, f"{key}~"))
        return tensor

    def _fork(self, which: str, key: str, tensor: Tensor, is_new: bool) -> Tensor:
        if is_new:
            self._keep(which, key, tensor)
            tensor = self._pinned(which, key, tensor)
        if not tensor.requires_grad:
            return tensor
        branch = tensor.view_as(tensor)
        branch.register_hook(partial(self._visit_gradient, which, f"{key}~"))
        return branch

    def _pinned(self, which: str, key: str, tensor: Tensor) -> Tensor:
        """In the `own` run, the right value with this tensor's gradient."""
        if which != "own" or key not in self.writer.entries:
            return tensor
        right = self.writer.read(key).to(tensor)
        return tensor + (right - tensor).detach() if tensor.is_floating_point() else right

    def _visit_gradient(self, which: str, key: str, gradient: Tensor | None) -> Tensor | None:
        if gradient is None:  # cuDNN's LSTM hands out none for an output that nobody used
            return None
        self._keep(which, key, gradient)
        return self.writer.read(key).to(gradient) if which == "own" and key in self.writer.entries else gradient

    def _keep(self, which: str, key: str, tensor: Tensor) -> None:
        """Write a reference value, or note how far this run is from the one written."""
        tensor = tensor.detach()
        if which == "write":
            kept = as_kept(tensor)
            largest = _largest(kept)
            if largest != largest:
                raise RecordError(f"the reference gives NaN in {describe(key)}; choose other inputs or weights")
            self.writer.write(key, kept)
            self.errors[key] = {"scale": largest}
        elif key in self.errors:
            right = self.writer.read(key).to(tensor.device)
            self.errors[key][which] = _largest(
                right.sub_(tensor) if tensor.is_floating_point() else tensor.double() - right.double()
            )

    def step(self, make: Callable[[Any], Any]) -> dict[str, str]:
        """Record what the optimizer does to each parameter: torch name -> key."""
        import torch

        self.note("the optimizer's steps")
        names: list[str] = []
        for which, dtype in (("write", torch.float64), ("own", torch.float32)):
            with _cast(self.model, dtype):
                keep = partial(self._keep_update, which)
                names = run_steps(self.model, make, keep)
        return {name: f"step/{name}" for name in names}

    def _keep_update(self, which: str, name: str, update: Tensor) -> None:
        self._keep(which, f"step/{name}", update)

    def train(self, make: Callable[[Any], Any], steps: int) -> list[str]:
        """Record the loss of a few training steps on the same input: keys."""
        import torch

        for which, dtype in (("write", torch.float64), ("own", torch.float32)):
            self.note(f"{steps} training steps")
            positional, named = self._given(dtype)
            targets = [_as(value, dtype) for _, value in self.targets]
            forward = partial(self._loss, positional, named, targets)
            with same_buffers(self.model), _cast(self.model, dtype), without_dropout(self.model):
                losses = train_steps(self.model, make, forward, steps)
            for number, value in enumerate(losses):
                self._keep(which, f"steps/loss.{number}", value)
        return [f"steps/loss.{number}" for number in range(steps)]

    def _loss(self, positional: list[Any], named: dict[str, Any], targets: list[Any]) -> Tensor:
        assert self.loss is not None
        return self.loss(self.model(*positional, **named), *targets)

    def mixed(self, device: str) -> dict[str, Any]:
        """Record the outputs in eval mode, and how far float16 where autocast wants it is from them."""
        import torch

        self.note("the run in mixed precision")
        self.model.eval()
        keys = []
        with torch.no_grad(), without_dropout(self.model):
            with same_buffers(self.model), _cast(self.model, torch.float64):
                positional, named = self._given(torch.float64)
                right = leaves(self.model(*positional, **named), is_tensor)
            positional, named = self._given(torch.float32)
            try:
                with same_buffers(self.model), torch.autocast(device.partition(":")[0], dtype=torch.float16):
                    found = leaves(self.model(*positional, **named), is_tensor)
            except (RuntimeError, NotImplementedError) as error:
                raise RecordError(
                    f"torch does not run the model in float16 on {device} ({one_line(error)}); leave amp out of the modes"
                ) from None
        for index, (one, other) in enumerate(zip(right, found, strict=True)):
            keys.append(f"amp/output.{index}")
            self._keep("write", keys[-1], one)
            self._keep("own", keys[-1], other.float() if other.is_floating_point() else other)
        facts: dict[str, Any] = {
            "calls": [],
            "outputs": keys,
            "gradients": False,
            "cotangents": [],
            "parameters": {},
            "buffers": {},
        }
        return {**facts, "loss": "", "runs": ["own"], "reference": "float64"}


def record(
    model: Any,
    inputs: list[tuple[str, Any]],
    path: Path,
    *,
    modes: Sequence[str] = ("eval", "train"),
    seed: int = 0,
    title: str = "",
    inside: bool = True,
    loss: Callable[..., Tensor] | None = None,
    targets: Sequence[tuple[str, Any]] = (),
    optimizer: Callable[[Any], Any] | None = None,
    steps: int = 0,
    shared_dropout: bool = False,
    note: Note = lambda text: None,
) -> None:
    """Write the golden file of `model` on `inputs` to `path`. Gradients are taken in the last of `modes`.

    They are those of `loss(output, *targets)`, or of a fixed random weighting of all outputs. `optimizer(model)` makes
    an optimizer, whose steps on made-up gradients are recorded as well; with `steps`, so are the losses of as many real ones.
    To see that a conversion is right, it is mostly enough to run the first mode whole and the last one module by
    module, the latter without float64. With `inside`, every mode runs in all the ways above, and every module's inputs
    are kept: they tell a module that is wrong from one that is called wrongly.
    """
    import torch

    device = next((str(parameter.device) for parameter in model.parameters()), "cpu")
    inputs, targets = ([(n, v.to(device) if is_tensor(v) else v) for n, v in given] for given in (inputs, targets))
    writer = GoldenWriter(path, 4096 + 1500 * len(modes) * len(list(model.modules())))
    metadata: dict[str, Any] = {"format": FORMAT, "title": title, "torch": torch.__version__, "device": device}
    metadata |= {"seed": seed, "weights": _write_weights(model, writer)}
    metadata |= {"inputs": _write_inputs("input", inputs, writer), "targets": _write_inputs("target", targets, writer)}
    metadata["attributes"] = {path: plain_settings(module) for path, module in model.named_modules()}
    plain = [mode for mode in modes if mode != "amp"] or ["eval"]
    recorder = Recorder(model, inputs, writer, seed, note, inside, _runs(plain, inside), loss, targets, shared_dropout)
    was_training = model.training
    with _full_precision():
        metadata["modes"] = {mode: recorder.mode(mode, mode == plain[-1]) for mode in plain}
        metadata["step"] = recorder.step(optimizer) if optimizer is not None else {}
        if "amp" in modes:
            metadata["modes"]["amp"] = recorder.mixed(device)
        metadata["steps"] = recorder.train(optimizer, steps) if optimizer is not None and loss is not None else []
    model.train(was_training)
    metadata |= {"complete": inside, "why": recorder.why, "errors": recorder.errors}
    writer.finish(metadata)


def _runs(modes: Sequence[str], inside: bool) -> dict[str, list[str]]:
    if inside:
        return {mode: ["own", "whole"] for mode in modes}
    runs: dict[str, list[str]] = {mode: [] for mode in modes}
    runs[modes[-1]].append("own")
    runs[modes[0]].append("whole")
    return runs


def _write_weights(model: Any, writer: GoldenWriter) -> dict[str, str]:
    """State names -> keys; tied weights are written once."""
    places: dict[tuple[int, tuple[int, ...]], str] = {}
    keys = {}
    for name, tensor in model.state_dict().items():
        if is_tensor(tensor):
            place = (tensor.data_ptr(), tuple(tensor.shape))
            if place not in places or not tensor.numel():
                places[place] = f"weights/{name}"
                writer.write(places[place], tensor)
            keys[name] = places[place]
    return keys


def _write_inputs(kind: str, inputs: list[tuple[str, Any]], writer: GoldenWriter) -> list[dict[str, Any]]:
    facts = []
    for index, (name, value) in enumerate(inputs):
        if is_tensor(value):
            writer.write(f"{kind}/{index}", value)
            facts.append({"name": name, "key": f"{kind}/{index}"})
        else:
            facts.append({"name": name, "literal": value})
    return facts


@contextlib.contextmanager
def _full_precision() -> Iterator[None]:
    """No TF32 on a GPU: its error, 1e-3, would be taken for float32's, and hide faults."""
    import torch

    switches = (torch.backends.cudnn, torch.backends.cuda.matmul)
    before = [switch.allow_tf32 for switch in switches]
    for switch in switches:
        switch.allow_tf32 = False
    try:
        yield
    finally:
        for switch, value in zip(switches, before, strict=True):
            switch.allow_tf32 = value


@contextlib.contextmanager
def _cast(model: Any, dtype: Any) -> Iterator[None]:
    """The model in another floating type, for a while; the way back is exact."""
    tensors = [*model.parameters(), *model.buffers()]
    before = [(tensor, tensor.dtype) for tensor in tensors if tensor.is_floating_point()]
    for tensor, _ in before:
        tensor.data = tensor.data.to(dtype)
    try:
        yield
    finally:
        for tensor, original in before:
            tensor.grad = None
            tensor.data = tensor.data.to(original)


def describe(key: str) -> str:
    """`train/layer1.0#0.0~` -> `the gradient of layer1.0`."""
    name = key.rstrip("~").split("/", 1)[-1]
    path = re.sub(r"#0?(\d*)\.\d+$", lambda m: f" (call {m[1]})" if m[1] else "", name) or "the whole network"
    return f"the gradient of {path}" if key.endswith("~") else path


def _as(value: Any, dtype: Any) -> Any:
    return value.to(dtype) if is_tensor(value) and value.is_floating_point() else value


def _largest(tensor: Tensor) -> float:
    import torch

    if not tensor.numel():
        return 0.0
    tensor = tensor if tensor.is_floating_point() else tensor.double()
    least, most = torch.aminmax(tensor)  # one pass, and NaN comes through
    return float(max(-least, most))


def is_tensor(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor)


def is_activation(value: Any) -> bool:
    import torch

    return isinstance(value, torch.Tensor) and not isinstance(value, torch.nn.Parameter)
