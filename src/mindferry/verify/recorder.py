"""Record a torch model in one golden file: every module's outputs and gradients, and how far float32 is from them.

A first look runs each mode (eval, train) once, in float32: a conversion that agrees to within the floor needs no more, and
noise.py measures afterwards how far float32 is off where it does not. In full, each mode runs three times. In float64, to write
what is right. In float32 with every module's output, and the gradient that arrives there, replaced by the float64 value, so that
each module shows its own error alone ("own"); a second time with these values off by a rounding, since one run may happen to
round well. In float32 as it is ("whole"). The conversion is later allowed a small multiple of those errors. The golden file is in
safetensors format; the JSON that tells what the tensors are is in its `__metadata__`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ..frameworks.named_in_code import asks_mode, is_modal, surroundings_asked
from .alias import alias
from .capture import Capture, is_tensor, written_keys
from .columns import find_columns, measure_columns
from .given import as_type, overwritten
from .goldenfile import GoldenWriter, RecordError, as_kept, describe
from .handed_out import torchs
from .initial import initial_errors
from .jitter import COARSE, jittered, jittering
from .kernels import ROUGH, as_mindspore
from .lifted import full_precision, in_double
from .named import one_line, plain_settings
from .nested_inputs import call
from .nesting import leaves
from .randomness import shared_randomness
from .reach import Reach
from .recompute import without_recomputing
from .recorder_steps import (
    record_mixed,
    record_second_call,
    record_second_step,
    record_training,
    record_updates,
    runs_of,
)
from .scale import apart, has_fraction, in_parts, scale_of
from .seeding import host_state, seeded
from .state import Watch, same_state, unsearched_objects, values_outside, without_gradients
from .surroundings import (
    Starts,
    call_defaults,
    computed_buffers,
    forward_codes,
    gradient_hooks,
    module_parts,
    output_structure,
    own_hooks,
    own_state,
    shared_memory,
    tied_parameters,
)
from .written import facts_beside, facts_of_code, json_errors, write_inputs, write_left, write_outside, write_weights

FORMAT = "mindferry golden 3"  # 2: no structure of the outputs, no initial buffers, no random numbers but dropout's
Tensor = Any  # torch.Tensor
Note = Callable[[str], None]
FAILURES = (RuntimeError, TypeError, ValueError, NotImplementedError)


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
    reach: Reach
    is_quick: bool = False  # outputs alone
    is_watching: bool = True  # which lines run
    errors: dict[str, dict[str, float]] = field(default_factory=dict)
    sums: dict[str, float] = field(default_factory=dict)  # module path -> what arrives at its outputs, added up
    reference: str = "float64"
    why: str = ""
    is_lifted: bool = True
    takes_gradients: bool = True  # whether the inputs may require a gradient
    is_rough: bool = False  # with MindSpore's own kernels where they are known to be rough
    rough: set[str] = field(default_factory=set)  # functions that ran and are such
    jitter: int = 0
    is_typed: bool = False  # the inputs are of a type that was chosen
    is_measuring: bool = False  # how far off a run is; nothing is written

    def mode(self, mode: str, gradients: bool) -> dict[str, Any]:
        """Record one mode; see the module's docstring for its runs."""
        import torch

        self.model.train(mode == "train")
        wanted = "float64" if self.inside else "float32"
        facts = self._write(mode, gradients, wanted)
        find_columns(self, mode, facts)
        facts |= {"runs": self.runs[mode], "reference": "float64" if wanted == self.reference else "float32"}
        for which in self.runs[mode]:
            for turn in self._turns(which):
                self.jitter = turn
                with same_state(self.model):
                    self._run(mode, which, gradients and which == "own", torch.float32, facts)
            self.jitter = 0
        if mode == "train" and not self.is_quick:
            record_second_step(self, mode, facts)
        return facts

    def _turns(self, which: str) -> tuple[int, ...]:
        """Without jitter, and with. What went through the whole network is a sample of few, so it is taken three times."""
        if not self.inside:
            return ()
        if which == "whole" or self.is_rough:
            return (0, 1, 2) if not self.is_rough else (0, 1, 2, 3)
        return (0, 1) if self.reference == "float64" else (1, 2)

    def _write(self, mode: str, gradients: bool, wanted: str) -> dict[str, Any]:
        """In float64 as far as the model's code lets it; with a gradient of the inputs, if it stands that."""
        import torch

        mark = self.writer.mark()
        while True:
            is_double = self.reference == wanted == "float64"
            double = in_double(self.model, self.is_lifted) if is_double else contextlib.nullcontext()
            try:
                with same_state(self.model):
                    with double, self.reach if self.is_watching else contextlib.nullcontext():
                        facts = self._run(mode, "write", gradients, torch.float64 if is_double else torch.float32)
                    if not self.inside and "whole" in self.runs[mode]:
                        self._copy_whole(mode, facts)
                    return facts
            except FAILURES as error:
                self.writer.rewind(mark)
                self.sums.clear()
                if is_double and self.is_lifted:
                    self.is_lifted = False
                elif is_double:
                    self.reference, self.why, self.is_lifted = "float32", one_line(error), True
                elif gradients and self.takes_gradients:
                    self.takes_gradients = False
                    self.reference = "float64" if wanted == "float64" else self.reference
                else:
                    raise

    def _copy_whole(self, mode: str, facts: dict[str, Any]) -> None:
        """The run that was written was in float32 already. Of a network that keeps nothing, a second call tells nothing new."""
        for index, key in enumerate(facts["outputs"]):
            self.writer.write(f"{mode}/float32.{index}", self.writer.read(key))
        if facts["is_stateful"] and not self.is_quick:
            self._second_call(mode, facts)

    def _run(
        self, mode: str, which: str, gradients: bool, dtype: Any, facts: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        import torch

        self.reach.pause()  # but while code of the network's own runs
        self.note(f"the {mode} run" + ("" if which == "write" else " in float32"))
        # What is random then shows as an error of the reference itself.
        torch.manual_seed(self.seed + {"write": 0, "own": 1, "whole": 2}[which] + 3 * self.jitter)
        positional, named, watched = self.given(dtype, gradients)
        found: dict[str, list[Any]] = {"masks": [], "draws": [], "reshaped": []}
        fork = partial(self._fork, which) if self.inside and which != "whole" else None
        visit = partial(self._visit, which, written_keys(mode, facts) if which == "whole" else {})
        capture = Capture(self.model, mode, visit, fork, self.is_quick)
        watch = Watch(self.model, self.is_quick) if not (self.jitter or self.is_measuring) and which != "own" else None
        try:
            jitter = jittering()(self.jitter * 10**6, self.is_rough) if self.jitter else contextlib.nullcontext()
            kernels = as_mindspore()() if self.is_rough else contextlib.nullcontext()
            shared = self._shared(mode, which, found)
            with torch.set_grad_enabled(gradients), seeded(self.seed), jitter, kernels, shared:
                before, host = torch.get_rng_state(), host_state()
                with self.reach.resumed():
                    output = call(self.model, positional, named, found["reshaped"])
                is_random = not torch.equal(before, torch.get_rng_state())
                draws_outside = host != host_state()
        finally:
            capture.stop()
        outputs = leaves(output, is_tensor, objects=True)
        if facts is not None and dtype == torch.float32:
            facts["structure"] = output_structure(output)
        if which == "whole":
            measure_columns(self, which, outputs, facts or {})
            if watch is not None:
                self._write_whole(mode, outputs, facts or {}, watch)
            return {}
        if facts is None:
            facts = {"calls": capture.calls, "outputs": capture.calls[-1]["outputs"], "gradients": gradients}
            facts |= {"cotangents": [], "parameters": {}, "buffers": {}, "loss": "", "random": is_random, **found}
            facts |= {"structure": output_structure(output), "input_gradients": [], "second": 0, "is_stateful": False}
            facts["draws_outside"] = draws_outside
            facts |= {"columns": [], "kept": [], "moved": []}
            facts["overwritten"] = overwritten(self.inputs, positional, named)
            if watch is not None:
                changed = watch.changed()
                facts |= {"kept": watch.changed(with_buffers=False), "moved": own_state(self.model, changed)}
                facts["moved"] += watch.written()
                facts["is_stateful"] = bool(changed)
                facts["left"] = write_left(self.model, facts["kept"], self.writer, mode)
                if not self.is_quick:
                    facts["handed_out"] = torchs(self.model, output, outputs)
                    facts["outside"] = write_outside(watch.outside, values_outside(self.model), self.writer, mode)
        if gradients and facts["gradients"]:
            total = self._total(mode, which, output, outputs, facts, dtype)
            facts["gradients"] = total is not None
            if total is not None:
                self._backward(mode, which, total, facts, watched)
        written = [(name, each) for name, each in self.model.named_parameters() if name in facts["moved"]]
        for name, buffer in (*self.model.named_buffers(), *written):
            key = f"{mode}/buffer/{name}"
            if which == "write" and (mode == "train" or name in facts["moved"]):
                facts["buffers"][name] = key
            if name in facts["buffers"]:
                self.keep(which, key, buffer)
        return facts

    def measure(self, mode: str, facts: dict[str, Any]) -> None:
        """How far torch's own float32 is off, in a mode that was written in float32: against float64, and with jitter."""
        import torch

        self.is_measuring = True
        self.model.train(mode == "train")
        for turn in (0, 1):
            self.jitter, is_double = turn, not turn
            double = in_double(self.model, True) if is_double else contextlib.nullcontext()
            with same_state(self.model), double:
                self._run(mode, "whole", False, torch.float64 if is_double else torch.float32, facts)

    def _write_whole(self, mode: str, outputs: list[Tensor], facts: dict[str, Any], watch: Watch) -> None:
        """What the network returns in float32, and then on other inputs."""
        for index, tensor in enumerate(outputs):
            self.writer.write(f"{mode}/float32.{index}", tensor)
        facts["is_stateful"] = bool(watch.changed())
        self._second_call(mode, facts)

    def _second_call(self, mode: str, facts: dict[str, Any]) -> None:
        if mode == "eval" and not (facts["masks"] or facts["draws"] or facts["random"]):
            record_second_call(self, mode, facts)

    def given(self, dtype: Any, gradients: bool) -> tuple[list[Any], dict[str, Any], dict[int, Tensor]]:
        """Positional and keyword arguments, and the tensors whose gradient is looked at."""
        positional: list[Any] = []
        named: dict[str, Any] = {}
        watched: dict[int, Tensor] = {}
        for index, (name, value) in enumerate(self.inputs):
            value = value if self.is_typed else as_type(value, dtype)
            if is_tensor(value):
                value = value.clone()  # a network may write into what it is given
                if gradients and self.takes_gradients and value.is_floating_point():
                    watched[index] = value.requires_grad_()
                    value = alias(value)
            if name:
                named[name] = value
            else:
                positional.append(value)
        return positional, named, watched

    def _shared(self, mode: str, which: str, found: dict[str, list[Any]]) -> contextlib.AbstractContextManager[None]:
        def keep_mask(place: str, rate: float, mask: Tensor) -> None:
            if which == "write":
                self.writer.write(f"{mode}/mask/{place}", mask)
                found["masks"].append([place.rpartition("#")[0], f"{mode}/mask/{place}", rate])

        def keep_draw(place: str, family: str, numbers: Tensor) -> None:
            if which == "write":
                self.writer.write(f"{mode}/draw/{place}", numbers)
                found["draws"].append([place.rpartition("#")[0], f"{mode}/draw/{place}", family])

        return shared_randomness(self.model, self.seed, keep_mask, keep_draw, self._note_function)

    def _note_function(self, name: str) -> None:
        if name in ROUGH or name in COARSE:
            self.rough.add(name.rstrip("_"))

    def _total(
        self, mode: str, which: str, output: Any, outputs: list[Tensor], facts: dict[str, Any], dtype: Any
    ) -> Tensor | None:
        """What the gradients are of: the loss, or the sum of all outputs, each times a fixed random number."""
        import torch

        if self.loss is not None:
            targets = [as_type(value, dtype) for _, value in self.targets]
            with self.reach.resumed():
                total = self.loss(output, *targets)
            facts["loss"] = f"{mode}/loss"
            self.keep(which, facts["loss"], total)
            return total
        generator = torch.Generator().manual_seed(self.seed)
        weighted: Any = None
        for index, tensor in enumerate(map(in_parts, outputs)):
            if not (tensor.is_floating_point() and tensor.requires_grad):
                continue
            cotangent = torch.randn(tensor.shape, generator=generator, dtype=torch.float32)
            if which == "write":
                facts["cotangents"].append([index, f"{mode}/cotangent.{index}"])
                self.writer.write(f"{mode}/cotangent.{index}", cotangent)
            finite = torch.where(torch.isfinite(tensor), tensor, torch.zeros_like(tensor))  # -inf times a number
            term = (finite * cotangent.to(tensor)).sum()
            weighted = term if weighted is None else weighted + term
        return weighted

    def _backward(
        self, mode: str, which: str, total: Tensor, facts: dict[str, Any], watched: dict[int, Tensor]
    ) -> None:
        with self.reach.resumed():
            total.backward()
        for name, parameter in self.model.named_parameters():
            if parameter.grad is not None:
                key = f"{mode}/parameter/{name}"
                if which == "write":
                    facts["parameters"][name] = key
                self.keep(which, key, parameter.grad)
                owner = name.rpartition(".")[0]
                if which == "write" and parameter.ndim <= 1 and self._is_layer(owner):
                    self.errors[key]["sum"] = self.sums.get(owner, 0.0) / max(1, parameter.numel())
                parameter.grad = None
        for index, tensor in watched.items():
            if tensor.grad is None and which == "write":  # and none may arrive in the conversion
                facts["input_gradients"].append([index, ""])
            elif tensor.grad is not None:
                key = f"{mode}/input gradient/{index}"
                if which == "write":
                    facts["input_gradients"].append([index, key])
                self.keep(which, key, tensor.grad)

    def _is_layer(self, path: str) -> bool:
        """One of torch's own: what arrives at its output is what is added up for its bias."""
        return type(self.model.get_submodule(path)).__module__.startswith("torch.nn.")

    def _visit(self, which: str, written: Mapping[str, str], key: str, tensor: Tensor) -> Tensor:
        key = written.get(key, key)
        with self.reach.paused():
            self.keep(which, key, tensor)
            tensor = self._pinned(which, key, tensor)
        if tensor.requires_grad and which != "whole" and not tensor.is_complex():
            tensor.register_hook(partial(self._visit_gradient, which, f"{key}~"))
        return tensor

    def _fork(self, which: str, key: str, tensor: Tensor, is_new: bool) -> Tensor:
        if is_new:
            self.keep(which, key, tensor)
            tensor = self._pinned(which, key, tensor)
        if not tensor.requires_grad or tensor.is_complex():  # the frameworks disagree on which conjugate
            return tensor
        branch = tensor.view_as(tensor)
        branch.register_hook(partial(self._visit_gradient, which, f"{key}~"))
        return branch

    def _pinned(self, which: str, key: str, tensor: Tensor) -> Tensor:
        """In the `own` run, the right value with this tensor's gradient."""
        import torch

        if which != "own" or key not in self.writer.entries:
            return tensor
        right = self._jittered(self.writer.read(key).to(tensor))
        if not has_fraction(tensor):
            return right
        with torch.no_grad():
            off = right - tensor
            off[right == tensor] = 0.0  # the same infinity
        return tensor + off

    def _jittered(self, right: Tensor) -> Tensor:
        if not self.jitter or not has_fraction(right):
            return right
        return jittered(right, self.jitter + right.numel())

    def _visit_gradient(self, which: str, key: str, gradient: Tensor | None) -> Tensor | None:
        import torch

        if gradient is None:  # cuDNN's LSTM hands out none for an output that nobody used
            return None
        with self.reach.paused():
            self.keep(which, key, gradient)
        if which == "write" and "<" not in key:
            path = key.partition("/")[2].rpartition("#")[0]
            self.sums[path] = self.sums.get(path, 0.0) + float(torch.linalg.vector_norm(gradient, 1))
        is_pinned = which == "own" and key in self.writer.entries
        return self._jittered(self.writer.read(key).to(gradient)) if is_pinned else gradient

    def keep(self, which: str, key: str, tensor: Tensor) -> None:
        """Write a reference value, or note how far this run is from the one written."""
        tensor = tensor.detach()
        if which == "write":
            self._keep_right(key, tensor)
        elif key in self.errors:
            right = self.writer.read(key).to(tensor.device)
            found = apart(right, tensor, self.errors[key]) if right.shape == tensor.shape else float("inf")
            self.errors[key][which] = max(found, self.errors[key].get(which, 0.0))

    def _keep_right(self, key: str, tensor: Tensor) -> None:
        import torch

        with torch._C.DisableTorchFunction():  # what is done here, the network does not do
            kept = as_kept(tensor)
            measure = scale_of(kept)
            if measure["scale"] != measure["scale"]:
                raise RecordError(f"the reference gives NaN in {describe(key)}; choose other inputs or weights")
            self.writer.write_kept(key, kept)
        self.errors[key] = measure


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
    starts: Starts | None = None,
    remake: Callable[[], Any] | None = None,
    is_quick: bool = False,
    has_weights: bool = True,
    is_rough: bool = False,
    is_watched: bool = False,
    is_typed: bool = False,
    note: Note = lambda text: None,
) -> None:
    """Write the golden file of `model` on `inputs` to `path`. Gradients are taken in the last of `modes`.

    They are those of `loss(output, *targets)`, or of a fixed random weighting of all outputs. `optimizer(model)` makes
    an optimizer, whose steps on made-up gradients are recorded as well; with `steps`, so are the losses of as many real ones.
    To see that a conversion is right, it is mostly enough to run the first mode whole and the last one module by
    module, both without float64. `is_quick` is less: outputs alone. Without `has_weights`, for a conversion that has them already. With `inside`, every mode runs in all the ways above, and every module's inputs
    are kept: they tell a module that is wrong from one that is called wrongly; `remake` makes the model again, to see how far
    the tables that its constructor computes may be off. `is_rough` computes as MindSpore's kernels do,
    see kernels.py. `is_watched`: lines that run are noted also where `is_quick`.
    """
    import torch

    device = next((str(parameter.device) for parameter in model.parameters()), "cpu")
    inputs, targets = ([(n, v.to(device) if is_tensor(v) else v) for n, v in given] for given in (inputs, targets))
    writer = GoldenWriter(path, 4096 + 1500 * len(modes) * len(list(model.modules())))
    metadata: dict[str, Any] = {"format": FORMAT, "title": title, "torch": torch.__version__, "device": device}
    metadata |= {"seed": seed, "was_training": model.training}
    metadata["weights"] = write_weights(model, writer) if has_weights else {}
    metadata |= {"inputs": write_inputs("input", inputs, writer), "targets": write_inputs("target", targets, writer)}
    modules = () if is_quick else tuple(model.named_modules())  # on other inputs, what the network is was told before
    metadata["attributes"] = {path: plain_settings(module) for path, module in modules}
    plain = [mode for mode in modes if mode != "amp"] or ["eval"]
    starts = starts or Starts(computed_buffers(model), {}, {}, {})
    metadata |= facts_beside(model, starts, writer, is_quick, has_weights)
    metadata |= {"tied": tied_parameters(model), "parts": module_parts(model), "modal": is_modal(model)}
    metadata |= {"asks_mode": asks_mode(model), "hooks": own_hooks(model), "gradient_hooks": gradient_hooks(model)}
    metadata["defaults"] = {} if is_quick else call_defaults(model)
    metadata |= {"shared": shared_memory(model), "asked": surroundings_asked(model)}
    metadata["trainable"] = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    reach = Reach(forward_codes(model))
    takes_gradients = plain if metadata["asks_mode"] else plain[-1:]
    runs = {mode: ["whole"] for mode in plain} if is_quick else runs_of(plain, inside, takes_gradients)
    recorder = Recorder(model, inputs, writer, seed, note, inside, runs, loss, targets, reach, is_quick)
    recorder.is_rough, recorder.is_watching = is_rough, is_watched or not is_quick
    recorder.is_typed = is_typed
    was_training = model.training
    with full_precision(), without_gradients(model), unsearched_objects(), without_recomputing():
        metadata["modes"] = {mode: recorder.mode(mode, mode in takes_gradients and not is_quick) for mode in plain}
        has_gradients = any(facts["gradients"] for facts in metadata["modes"].values())
        for mode in takes_gradients:  # where none arrives, none may arrive in the conversion
            metadata["modes"][mode]["gradients"] = has_gradients
        metadata |= record_updates(recorder, reach.noting(optimizer, Reach())) if optimizer else {"step": {}}
        if "amp" in modes:
            metadata["modes"]["amp"] = record_mixed(recorder, device)
        metadata["steps"] = (
            record_training(recorder, optimizer, steps) if optimizer is not None and loss is not None else []
        )
    model.train(was_training)
    kinds = set() if is_quick else {type(each) for each in model.modules()}
    metadata |= facts_of_code(reach, not recorder.is_watching, kinds) | {"is_watched": is_watched}
    metadata |= {"rough": sorted(recorder.rough), "is_rough": is_rough}
    if inside and remake is not None:
        for name, error in initial_errors(remake, starts.buffers, seed).items():
            recorder.errors[f"initial/{name}"] = {"scale": 0.0, "own": error}
    metadata |= {"complete": inside, "why": recorder.why, "errors": json_errors(recorder.errors)}
    writer.finish(metadata)
