"""Runs value_cases.tsv in one framework, as run_layers.py does layers: losses, optimizers, schedules and metrics."""

import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
WHICH, OUT = sys.argv[1], Path(sys.argv[2])
ROWS = [line.split("\t") for line in (HERE / "value_cases.tsv").read_text().splitlines() if not line.startswith("#")]
STEPS = 20


def arrays(text: str, seed: int) -> list[np.ndarray]:
    """p: between 0.05 and 0.95, b: 0 or 1, i: whole numbers below 4, o: one of them, s: shares that make one, l: labels 1 to 3, then zeros."""
    rng, made = np.random.default_rng(seed), []
    for part in text.split():
        shape = tuple(int(size) for size in part.lstrip("pbiosl").split(","))
        match part[0]:
            case "p":
                made.append(rng.uniform(0.05, 0.95, shape).astype("float32"))
            case "b":
                made.append(rng.integers(0, 2, shape).astype("float32"))
            case "i":
                made.append(rng.integers(0, 4, shape))
            case "o":
                made.append(np.eye(shape[-1], dtype="float32")[rng.integers(0, shape[-1], shape[:-1])])
            case "l":
                count = rng.integers(1, shape[1] + 1, (shape[0], 1))
                made.append(np.where(np.arange(shape[1]) < count, rng.integers(1, 4, shape), 0))
            case "s":
                raw = rng.uniform(0.1, 1, shape)
                made.append((raw / raw.sum(-1, keepdims=True)).astype("float32"))
            case _:
                made.append(rng.normal(size=shape).astype("float32"))
    return made


class Keras:
    def __init__(self) -> None:
        import keras
        import tensorflow as tf

        self.tf, self.keras = tf, keras
        self.homes = {
            "loss": keras.losses,
            "optimizer": keras.optimizers,
            "schedule": keras.optimizers.schedules,
            "metric": keras.metrics,
            "activation": keras.activations,
            "initializer": keras.initializers,
        }

    def make(self, what: str, text: str):
        return eval(text, vars(self.homes[what]))

    def loss(self, loss, y_true, y_pred):
        prediction = self.tf.constant(y_pred)
        with self.tf.GradientTape() as tape:
            tape.watch(prediction)
            value = loss(y_true, prediction)
        weight = np.linspace(0.5, 2, len(y_true)).astype("float32")
        return (
            value.numpy(),
            tape.gradient(value, prediction).numpy(),
            loss(y_true, prediction, sample_weight=weight).numpy(),
        )

    def function(self, function, x):
        given = self.tf.constant(x)
        with self.tf.GradientTape() as tape:
            tape.watch(given)
            value = function(given)
        return value.numpy(), tape.gradient(value, given).numpy()

    def variable(self, value, name):
        return self.keras.Variable(value, name=name)

    def tensor(self, value):
        return self.tf.constant(value)

    def number(self, value):
        return np.asarray(value)


class MindSpore:
    def __init__(self) -> None:
        import mindspore as ms
        import ms_keras

        self.ms, self.helpers = ms, ms_keras

    def make(self, what: str, text: str):
        name = text.partition("(")[0]
        if what == "metric" and hasattr(self.helpers, f"{name}Metric"):
            text = text.replace(name, f"{name}Metric", 1)
        if what == "initializer" and name == "Identity":
            text = "IdentityInitializer()"
        return eval(text, vars(self.helpers))

    def loss(self, loss, y_true, y_pred):
        value, gradient = self.helpers.value_and_gradients(lambda x: loss(y_true, x), self.ms.Tensor(y_pred))
        weight = np.linspace(0.5, 2, len(y_true)).astype("float32")
        weighed = loss(y_true, self.ms.Tensor(y_pred), sample_weight=weight)
        return value.asnumpy(), gradient.asnumpy(), weighed.asnumpy()

    def function(self, function, x):
        value, gradient = self.helpers.value_and_gradients(function, self.ms.Tensor(x))
        return value.asnumpy(), gradient.asnumpy()

    def variable(self, value, name):
        self.helpers.Names.clear()  # as in Keras, which does not tell variables apart by their names
        return self.helpers.Variable(value, name=name)

    def tensor(self, value):
        return self.ms.Tensor(value)

    def number(self, value):
        return value.asnumpy() if isinstance(value, self.ms.Tensor) else np.asarray(value)


def steps(framework, optimizer, seed: int) -> np.ndarray:
    """Where twenty given gradients bring three variables."""
    rng = np.random.default_rng(seed)
    shapes = {"first": (3, 2), "second": (4,), "embedding": (2, 3)}
    variables = [framework.variable(rng.normal(size=shapes[name]).astype("float32"), name) for name in shapes]
    if not hasattr(optimizer, "apply_gradients"):
        optimizer = framework.make("optimizer", "MultiOptimizer")(optimizer)
    for _ in range(STEPS):
        gradients = [framework.tensor(rng.normal(size=tuple(each.shape)).astype("float32")) for each in variables]
        optimizer.apply_gradients(list(zip(gradients, variables, strict=True)))
    if hasattr(optimizer, "finalize_variable_values"):
        optimizer.finalize_variable_values(variables)
    return np.concatenate([framework.number(each).reshape(-1) for each in variables])


def results_of(framework, what: str, text: str, given: list[np.ndarray], seed: int) -> dict[str, np.ndarray]:
    made = framework.make(what, text)
    if what == "loss":
        return dict(zip(("value", "gradient", "weighed"), framework.loss(made, *given), strict=True))
    if what == "optimizer":
        return {"value": steps(framework, made, seed)}
    if what == "schedule":
        return {"value": np.array([float(framework.number(made(step))) for step in range(STEPS)])}
    if what == "activation":
        return dict(zip(("value", "gradient"), framework.function(made, given[0]), strict=True))
    if what == "initializer" and given:
        return {"value": framework.number(made(given[0].shape))}
    if what == "initializer":
        values = framework.number(made((300, 400)))
        return {"moments": np.array([values.mean(), values.std(), np.abs(values).mean()])}
    made.update_state(*(each[: len(each) // 2] for each in given))
    made.update_state(*(each[len(each) // 2 :] for each in given))
    return {"value": framework.number(made.result())}


if WHICH != "keras":
    sys.path.insert(0, WHICH)
framework = Keras() if WHICH == "keras" else MindSpore()
results: dict[str, np.ndarray] = {}
for number, (what, text, *shapes) in enumerate(ROWS):
    try:
        found = results_of(framework, what, text, arrays(shapes[0], number) if shapes else [], number)
    except Exception as error:
        found = {"error": np.array(f"{type(error).__name__}: {str(error)[:300]}")}
    results.update({f"{number}/{name}": value for name, value in found.items()})
np.savez(OUT, **results)
