"""Record a Keras network on TensorFlow in one golden file, as recorder.py does for torch.

Each mode runs in float64, in a second network made by the same factory; in float32 with every layer's output and gradient replaced by
the float64 value ("own"), twice, the second time with these values off by a rounding; and in float32 as it is ("whole").
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

from .array_golden import ArrayWriter, apart, as_kept, size_of
from .array_inputs import is_array, rolled
from .golden import FORMAT
from .goldenfile import RecordError, describe
from .jitter import JITTER
from .keras_kernels import watched_kernels
from .keras_network import Network, precision
from .keras_steps import record_training, record_updates
from .keras_watch import Watched, children, is_network, is_of_keras, is_tensor
from .named import one_line, plain_settings
from .nesting import Opaque, containers, leaves, parts
from .reach import Reach
from .seeding import host_state, seeded

Tensor = Any  # tf.Tensor
Array = Any
PLAIN = (bool, int, float, str)


@dataclass(slots=True)
class KerasRecorder:
    """One network, one set of inputs, one golden file in the making."""

    single: Network
    double: Network | None  # the same in float64
    inputs: list[tuple[str, Any]]
    writer: ArrayWriter
    seed: int
    note: Callable[[str], None]
    loss: Callable[..., Tensor] | None
    targets: list[tuple[str, Any]]
    reach: Reach
    is_quick: bool = False
    why: str = ""
    errors: dict[str, dict[str, float]] = field(default_factory=dict)
    sums: dict[str, float] = field(default_factory=dict)
    jitter: int = 0
    is_rough: bool = False  # with MindSpore's own tanh and exp
    rough: set[str] = field(default_factory=set)  # of them, those that ran

    def mode(self, mode: str) -> dict[str, Any]:
        facts = self._write(mode)
        facts |= {"runs": ["whole"] if self.is_quick else ["own", "whole"]}
        facts["reference"] = "float64" if self.double is not None else "float32"
        alone = () if self.is_quick else (0, 1) if self.double is not None else (1, 2)
        whole = (0,) if self.is_quick else (0, 1)
        for which, jitter in (*(("own", each) for each in alone), *(("whole", each) for each in whole)):
            self.jitter = jitter
            self._run(mode, which, self.single, facts)
        self.jitter = 0
        return facts

    def _write(self, mode: str) -> dict[str, Any]:
        """In float64 as far as the network's code lets it."""
        mark = self.writer.mark()
        if self.double is not None and not self.is_quick:
            try:
                return self._run(mode, "write", self.double)
            except RecordError:
                raise
            except Exception as error:  # whatever the user's code makes of float64
                self.writer.rewind(mark)
                self.errors = {key: value for key, value in self.errors.items() if key in self.writer.entries}
                self.sums.clear()
                self.double, self.why = None, one_line(error)
        return self._run(mode, "write", self.single)

    def _run(self, mode: str, which: str, chosen: Network, facts: dict[str, Any] | None = None) -> dict[str, Any]:
        import tensorflow as tf

        self.note(f"the {mode} run" + ("" if which == "write" else " in float32"))
        is_double = chosen is self.double
        before = chosen.values()
        tf.random.set_seed(self.seed + {"write": 0, "own": 1, "whole": 2}[which] + 3 * self.jitter)
        kept = _plain_state(chosen)
        watched = Watched(chosen.tree, mode, partial(self._visit, which), self.seed, self.is_quick)
        places = {i: self._tensor(v, is_double) for i, (_, v) in enumerate(self.inputs) if is_array(v)}
        floats = {index: value for index, value in places.items() if value.dtype.is_floating}
        has_gradients = which != "whole" and not self.is_quick
        try:
            kernels = watched_kernels(self.rough, self.is_rough)
            with precision(is_double), seeded(self.seed), self.reach, watched, kernels:
                host = host_state()
                with contextlib.ExitStack() as stack:
                    tape = stack.enter_context(tf.GradientTape()) if has_gradients else None
                    if tape is not None:
                        tape.watch(list(floats.values()))
                    output = self._call(chosen, places, mode, watched)
                    draws_outside = host != host_state()
                    outputs = leaves(output, is_tensor, objects=True)
                    facts = self._facts(facts, watched, outputs, chosen, kept)
                    total = self._total(mode, which, output, outputs, facts, chosen) if has_gradients else None
                facts["draws_outside"] = draws_outside
                if which == "whole":
                    facts["structure"] = structure_of(output)
                    if not self.jitter:
                        self._write_whole(mode, outputs, facts, chosen)
                if total is not None and tape is not None:
                    trained = chosen.trainable
                    sources = [*(each.value if hasattr(each, "path") else each for each in trained.values())]
                    found = tape.gradient(total, [*sources, *floats.values()])
                    self._gradients(mode, which, facts, trained, dict(zip(trained, found, strict=False)))
                    self._input_gradients(mode, which, facts, dict(zip(floats, found[len(sources) :], strict=True)))
                self._buffers(mode, which, facts, chosen, before)
        finally:
            chosen.assign(before)
        return facts

    def _tensor(self, value: Array, is_double: bool) -> Tensor:
        import numpy as np
        import tensorflow as tf

        if value.dtype.kind == "f":
            value = value.astype(np.float64 if is_double else np.float32)
            if self.jitter:
                value = (value * self._noise(value)).astype(value.dtype)
        return tf.constant(value)

    def _call(self, chosen: Network, places: Mapping[int, Tensor], mode: str, watched: Watched) -> Any:
        values = [(name, places.get(index, value)) for index, (name, value) in enumerate(self.inputs)]
        positional, named = [v for n, v in values if not n], {n: v for n, v in values if n}
        run = partial(chosen.call, positional, named, mode == "train")
        return run() if is_network(chosen.model) else watched.call("", chosen.model, run)

    def loss_of(self, chosen: Network) -> Tensor:
        """The loss of one training step."""
        import tensorflow as tf

        assert self.loss is not None
        is_double = chosen is self.double
        places = {i: self._tensor(v, is_double) for i, (_, v) in enumerate(self.inputs) if is_array(v)}
        values = [(name, places.get(index, value)) for index, (name, value) in enumerate(self.inputs)]
        output = chosen.call([v for n, v in values if not n], {n: v for n, v in values if n}, True)
        targets = [self._tensor(v, is_double) if is_array(v) else v for _, v in self.targets]
        added = [tf.reduce_sum(each) for each in chosen.penalties]
        whole = tf.reduce_sum(self.loss(output, *targets))
        return tf.add_n([whole, *(tf.cast(each, whole.dtype) for each in added)])

    def _facts(
        self,
        facts: dict[str, Any] | None,
        watched: Watched,
        outputs: list[Tensor],
        chosen: Network,
        kept: dict[str, Any],
    ) -> dict[str, Any]:
        if facts is not None:
            return facts
        made: dict[str, Any] = {"calls": watched.calls, "outputs": watched.calls[-1]["outputs"], "gradients": False}
        made |= {
            "cotangents": [],
            "parameters": {},
            "buffers": {},
            "loss": "",
            "random": False,
            "masks": [],
            "draws": [],
        }
        made |= {"structure": [], "input_gradients": [], "second": 0, "is_stateful": False, "columns": [], "moved": []}
        now = _plain_state(chosen)
        made["kept"] = [name for name in {**kept, **now} if kept.get(name) != now.get(name)]
        made |= {
            "overwritten": [],
            "penalties": "",
            "drawn": [[path, list(shape)] for path, shape in watched.draws.drawn],
        }
        return made

    def _total(
        self, mode: str, which: str, output: Any, outputs: list[Tensor], facts: dict[str, Any], chosen: Network
    ) -> Tensor | None:
        """What the gradients are of: the loss, or all outputs, each times a fixed random number; and what layers add to a loss."""
        import numpy as np
        import tensorflow as tf

        is_double = chosen is self.double
        terms: list[Tensor] = []
        if self.loss is not None:
            terms.append(
                self.loss(output, *(self._tensor(v, is_double) if is_array(v) else v for _, v in self.targets))
            )
            terms[0] = tf.reduce_sum(terms[0])
            facts["loss"] = f"{mode}/loss"
            self.keep(which, facts["loss"], terms[0])
        else:
            generator = np.random.default_rng(self.seed)
            for index, tensor in enumerate(outputs):
                if not tensor.dtype.is_floating:
                    continue
                cotangent = generator.standard_normal(tensor.shape).astype(np.float32)
                if which == "write":
                    facts["cotangents"].append([index, f"{mode}/cotangent.{index}"])
                    self.writer.write(f"{mode}/cotangent.{index}", cotangent)
                finite = tf.where(tf.math.is_finite(tensor), tensor, tf.zeros_like(tensor))
                terms.append(tf.reduce_sum(finite * tf.cast(cotangent, tensor.dtype)))
        added = [tf.reduce_sum(each) for each in chosen.penalties]
        if added:
            facts["penalties"] = f"{mode}/penalties"
            whole = tf.add_n([tf.cast(each, added[0].dtype) for each in added])
            self.keep(which, facts["penalties"], whole)
            terms.append(whole)
        if not terms:
            return None
        facts["gradients"] = True
        return tf.add_n([tf.cast(each, terms[0].dtype) for each in terms])

    def _gradients(
        self, mode: str, which: str, facts: dict[str, Any], trained: Mapping[str, Any], gradients: Mapping[str, Any]
    ) -> None:
        import tensorflow as tf

        for name, gradient in gradients.items():
            if gradient is None:
                continue
            key = f"{mode}/parameter/{name}"
            if which == "write":
                facts["parameters"][name] = key
            self.keep(which, key, tf.convert_to_tensor(gradient))
            arriving = self.sums.get(name.rpartition(".")[0], 0.0)
            is_added = len(trained[name].shape) <= 1 or "bias" in name.rpartition(".")[2]
            if which == "write" and is_added and arriving:  # a bias that cancels, such as that of an attention's keys
                self.errors[key]["sum"] = arriving / max(1, int(tf.size(gradient)))

    def _input_gradients(self, mode: str, which: str, facts: dict[str, Any], gradients: Mapping[int, Any]) -> None:
        for index, gradient in gradients.items():
            if gradient is not None:
                key = f"{mode}/input gradient/{index}"
                if which == "write":
                    facts["input_gradients"].append([index, key])
                self.keep(which, key, gradient)

    def _buffers(
        self, mode: str, which: str, facts: dict[str, Any], chosen: Network, before: Mapping[str, Array]
    ) -> None:
        """What training leaves in weights that take no gradient; in eval mode, those that change there."""
        if which == "whole":
            return
        trained = chosen.trainable
        for name, variable in chosen.weights.items():
            if name in trained:
                continue
            value, key = variable.numpy(), f"{mode}/buffer/{name}"
            if which == "write" and (mode == "train" or not (value == before[name]).all()):
                facts["buffers"][name] = key
            if name in facts["buffers"]:
                self.keep(which, key, value)

    def _write_whole(self, mode: str, outputs: list[Tensor], facts: dict[str, Any], chosen: Network) -> None:
        """What the network returns in float32, and then on other inputs."""
        for index, tensor in enumerate(outputs):
            self.writer.write(f"{mode}/float32.{index}", tensor.numpy())
        if mode == "eval" and not facts["drawn"] and not self.is_quick:
            moved = {i: self._tensor(rolled(v), False) for i, (_, v) in enumerate(self.inputs) if is_array(v)}
            quiet = Watched({"": chosen.model}, "second", lambda key, tensor: tensor, self.seed, True)
            try:
                again = leaves(self._call(chosen, moved, mode, quiet), is_tensor, objects=True)
            except Exception:  # whatever the user's code makes of inputs that were shifted
                return
            facts["second"], facts["is_stateful"] = len(again), bool(facts["buffers"] or facts["kept"])
            for index, tensor in enumerate(again):
                self.writer.write(f"{mode}/second.{index}", tensor.numpy())

    def _visit(self, which: str, key: str, tensor: Tensor) -> Tensor:
        import tensorflow as tf

        self.keep(which, key, tensor)
        if not tensor.dtype.is_floating or which == "whole":
            return tf.identity(self._jittered(tensor)) if tensor.dtype.is_floating else tf.identity(tensor)
        right = self._pinned(which, key, tensor)

        @tf.custom_gradient  # type: ignore[misc,untyped-decorator,unused-ignore]
        def passed(given: Tensor) -> Any:
            return tf.identity(given if right is None else right), partial(self._visit_gradient, which, f"{key}~")

        return passed(tensor)

    def _pinned(self, which: str, key: str, tensor: Tensor) -> Tensor | None:
        import tensorflow as tf

        if which != "own" or key not in self.writer.entries:
            return None
        right = self.writer.read(key)
        return self._jittered(tf.cast(right, tensor.dtype)) if right.shape == tuple(tensor.shape) else None

    def _jittered(self, tensor: Tensor) -> Tensor:
        import tensorflow as tf

        return tensor * tf.cast(self._noise(tensor.numpy()), tensor.dtype) if self.jitter else tensor

    def _noise(self, values: Array) -> Array:
        """Numbers within a rounding of 1, of the values themselves: what is equal stays so, and a maximum where it was."""
        import numpy as np

        mixed = np.abs(np.nan_to_num(values.astype(np.float64), posinf=1.0, neginf=1.0)) * (1e4 + 77.7 * self.jitter)
        return 1 + JITTER * (2 * (mixed - np.floor(mixed)) - 1)

    def _visit_gradient(self, which: str, key: str, gradient: Tensor) -> Tensor:
        import tensorflow as tf

        gradient = tf.convert_to_tensor(gradient)
        self.keep(which, key, gradient)
        if which == "write":
            path = key.partition("/")[2].rpartition("#")[0]
            self.sums[path] = self.sums.get(path, 0.0) + float(tf.reduce_sum(tf.abs(gradient)))
        if which == "own" and key in self.writer.entries:
            right = self.writer.read(key)
            if right.shape == tuple(gradient.shape):
                return self._jittered(tf.cast(right, gradient.dtype))
        return gradient

    def keep(self, which: str, key: str, tensor: Any) -> None:
        """Write a reference value, or note how far this run is from the one written."""
        value = as_kept(tensor.numpy() if hasattr(tensor, "numpy") else tensor)
        if which == "write":
            measure = size_of(value)
            if measure["scale"] != measure["scale"]:
                raise RecordError(f"the reference gives NaN in {describe(key)}; choose other inputs or weights")
            self.writer.write(key, value)
            self.errors[key] = measure
        elif key in self.errors:
            self.errors[key][which] = max(apart(self.writer.read(key), value), self.errors[key].get(which, 0.0))


def _plain_state(chosen: Network) -> dict[str, Any]:
    """Numbers and texts in which the project's own classes may keep a state."""
    return {
        f"{path}.{name}".lstrip("."): value
        for path, layer in chosen.tree.items()
        if is_network(layer) and not is_of_keras(layer)
        for name, value in vars(layer).items()
        if isinstance(value, PLAIN) and not name.startswith("_") and name != "built"
    }


def structure_of(output: Any) -> list[dict[str, Any]]:
    """The way to each part of the output, its type, and its value if it is a plain one."""
    found: list[dict[str, Any]] = []
    for way, leaf in parts(output, is_tensor, objects=True):
        if is_tensor(leaf):
            found.append({"way": way, "dtype": leaf.dtype.name})
        elif isinstance(leaf, Opaque):
            found.append({"way": way, "dtype": "", "opaque": leaf.kind})
        else:
            found.append({"way": way, "dtype": "", "value": leaf if not isinstance(leaf, complex) else str(leaf)})
    around = [{"way": way, "dtype": "", "container": kind} for way, kind in containers(output, is_tensor)]
    return [*found, *around]


def record(
    single: Network,
    double: Network | None,
    inputs: list[tuple[str, Any]],
    path: Path,
    *,
    modes: Sequence[str],
    seed: int,
    title: str,
    why: str = "",
    loss: Callable[..., Tensor] | None = None,
    targets: Sequence[tuple[str, Any]] = (),
    optimizer: Callable[[Any], Any] | None = None,
    steps: int = 0,
    is_quick: bool = False,
    is_rough: bool = False,
    has_weights: bool = True,
    note: Callable[[str], None] = lambda text: None,
) -> None:
    """Write the golden file of the network on `inputs` to `path`, see recorder.record."""
    import keras
    import tensorflow as tf

    writer = ArrayWriter(path, 4096 + 1500 * len(modes) * len(single.tree))
    reach = Reach(_call_codes(single))
    recorder = KerasRecorder(
        single, double, inputs, writer, seed, note, loss, list(targets), reach, is_quick, "" if is_quick else why
    )
    recorder.is_rough = is_rough
    metadata: dict[str, Any] = {"format": FORMAT, "source": "tensorflow", "title": title, "device": "cpu", "seed": seed}
    metadata["torch"] = f"TensorFlow {tf.__version__}, Keras {keras.__version__}"
    metadata["weights"] = _write_arrays("weights", single.values() if has_weights else {}, writer)
    metadata["inputs"] = _write_given("input", inputs, writer)
    metadata["targets"] = _write_given("target", list(targets), writer)
    metadata |= {"attributes": _settings(single), "initial": {}, "loose": {}, "tied": [], "parts": _parts(single)}
    metadata |= {"modal": True, "asks_mode": True, "trainable": list(single.trainable), "step": {}, "steps": []}
    metadata["modes"] = {mode: recorder.mode(mode) for mode in modes}
    if optimizer is not None:
        metadata["step"] = record_updates(recorder, optimizer)
        metadata["steps"] = record_training(recorder, optimizer, steps) if loss is not None else []
    metadata |= {
        "unrun": [asdict(each) for each in reach.unreached()],
        "rough": sorted(recorder.rough),
        "is_rough": is_rough,
    }
    metadata |= {"complete": True, "why": recorder.why, "errors": recorder.errors}
    writer.finish(metadata)


def _write_arrays(kind: str, arrays: Mapping[str, Array], writer: ArrayWriter) -> dict[str, str]:
    for name, array in arrays.items():
        writer.write(f"{kind}/{name}", array)
    return {name: f"{kind}/{name}" for name in arrays}


def _write_given(kind: str, given: list[tuple[str, Any]], writer: ArrayWriter) -> list[dict[str, Any]]:
    facts: list[dict[str, Any]] = []
    for index, (name, value) in enumerate(given):
        if is_array(value):
            writer.write(f"{kind}/{index}", value)
            facts.append({"name": name, "key": f"{kind}/{index}"})
        else:
            facts.append({"name": name, "literal": value})
    return facts


def _settings(single: Network) -> dict[str, dict[str, Any]]:
    """Of each layer, under the names by which small settings are compared."""
    found = {}
    for path, layer in single.tree.items():
        held = plain_settings(layer)
        small = {"eps": held.get("epsilon"), "negative_slope": held.get("negative_slope")}
        found[path] = {**held, **{name: value for name, value in small.items() if value is not None}}
    return found


def _parts(single: Network) -> dict[str, dict[str, Any]]:
    return {
        path: {
            "kind": type(layer).__name__,
            "home": type(layer).__module__,
            "parameters": len(getattr(layer, "weights", ())) if not children(layer)[0] else 0,
            "children": len(children(layer)[0]),
        }
        for path, layer in single.tree.items()
    }


def _call_codes(single: Network) -> set[CodeType]:
    """The `call` methods of the project's own classes, wherever they are from."""
    own = [type(layer) for layer in single.tree.values() if not is_of_keras(layer)]
    codes = [getattr(getattr(kind, "call", None), "__code__", None) for kind in own]
    return {code for code in codes if isinstance(code, CodeType)}
