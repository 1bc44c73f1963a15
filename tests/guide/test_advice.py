"""What a finding tells a person to write: every name in it exists, every command can be given, every line of code runs."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from advice_texts import advices

from mindferry import findings
from mindferry.analyze import dynamic, features, special, variable_sizes
from mindferry.apis import table
from mindferry.apis.tensorflow._options import options_of
from mindferry.apis.torch._packages import packages
from mindferry.convert.fixers import torch_modules
from mindferry.convert.fixers.training import derivatives, graph_across_iterations, graph_from_caller, steps

HOMES = {
    "ms": "mindspore",
    "mindspore": "mindspore",
    "ops": "mindspore.ops",
    "nn": "mindspore.nn",
    "amp": "mindspore.amp",
    "communication": "mindspore.communication",
    "concurrent": "concurrent",
    "urllib": "urllib",
}
NAME = re.compile(rf"(?<![\w.`'])(?:{'|'.join(HOMES)})(?:\.[A-Za-z_]\w*)+")
CODE = re.compile(r"`([^`]+)`")
COMMAND = re.compile(r"`(mindferry [^`]*)`")
# Lines of advice that stand for something: what to put in for it, so that the line is a program.
PROGRAMS = {
    "loss, grads = ms.value_and_grad(forward_fn, None, optimizer.parameters)(...)": (
        "loss, grads = ms.value_and_grad(forward_fn, None, optimizer.parameters)(x, y)"
    ),
    "loss, grads = mindspore.value_and_grad(forward_fn, None, optimizer.parameters)(...)": (
        "loss, grads = mindspore.value_and_grad(forward_fn, None, optimizer.parameters)(x, y)"
    ),
    "ms.grad(fn, position)(inputs)": "ms.grad(fn, position)(inputs)",
    "def f(x): return model(x).sum()": "f = lambda x: model(x).sum()",
    "ms.jit(ms.grad(f))(x)": "f = model\nassert ms.jit(ms.grad(f))(x).shape == x.shape",
    "ms.grad(f)(x)": "f = lambda x: model(x).sum()\nassert ms.grad(f)(x).shape == x.shape",
    "def forward_fn(x): y = model(x); return (y * g).sum()": "",
    "_, grads = ms.value_and_grad(forward_fn, None, model.trainable_params())(x)": (
        "def forward_fn(x): y = model(x); return (y * g).sum()\n"
        "_, grads = ms.value_and_grad(forward_fn, None, model.trainable_params())(x)\n"
        "assert len(grads) == 2"
    ),
    "(y * g).sum()": "assert (y * g).sum().shape == ()",
    "y.backward(g)": "",  # what the project has, not what it should have
    "def forward_fn(x, y): out = model(x); return criterion(out, y)": "",
    "loss, grads = ms.value_and_grad(forward_fn, None, optimizer.parameters)(x, y)": (
        "def forward_fn(x, y): out = model(x); return criterion(out, y)\n"
        "loss, grads = ms.value_and_grad(forward_fn, None, optimizer.parameters)(x, y)"
    ),
    "h = h.detach()": "",  # of the torch project, which is converted again
    "def forward_fn(xs, h): for x in xs: out, h = model(x, h); loss = loss + criterion(out, y)": "",
    "(loss, h), grads = ms.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)(xs, h)": (
        "def forward_fn(xs, h):\n    loss = 0\n    for x in xs:\n        out = model(x) + h\n        h = out\n"
        "        loss = loss + criterion(out, y)\n    return loss, h\n"
        "xs, h = [x, x], g\n"
        "(loss, h), grads = ms.value_and_grad(forward_fn, None, optimizer.parameters, has_aux=True)(xs, h)"
    ),
    "optimizer(grads)": "loss, grads = ms.value_and_grad(forward_fn, None, optimizer.parameters)(x, y)\noptimizer(grads)",
    "x = x.add(1)": "x = x.add(1)",
    "amp.auto_mixed_precision(net, 'O2')": "amp.auto_mixed_precision(net, 'O2')",
    "'GELU': nn.GELU": "{'GELU': nn.GELU}",
    "print(net)": "print(net)",
}
# Not Python to run here, with the reason.
OTHER = {
    "--record-graphs": "an option of mindferry's",
    "table.assign(tf.tensor_scatter_nd_update(table, [[0, 1]], [5.0]))": "of the Keras project",
    "model.load_weights(path)": "of the Keras project",
    "save": "a word of the Keras project",
    "with torch.no_grad():": "of the torch project",
    "detach()": "of the torch project",
    "x.name(...)": "of the torch project",
    "y = ...": "of the torch project",
    "from transformers import BertConfig": "of the torch project",
    "tf_upgrade_v2": "a command of TensorFlow's",
    "assert name in ('ReLU', 'GELU')": "of the torch project",
    "optimizer.step(closure)": "of the converted project, whose optimizers take one",
    "mindspore.communication.get_rank()": "needs several processes",
    "init()": "needs several processes",
    "mindspore.nn.SyncBatchNorm": "needs several devices",
    "num_workers": "a setting",
    "ms.jit": "a name: a note on tf.function says what it is for",
    "--target ascend": "an option",
    "--prefer native": "an option",
    "--try": "an option",
    "--style model": "an option",
    ".mindferry/plain.json": "a file",
    "y": "a name",
    "bprop": "a method",
    "construct": "a method",
    "self": "a name",
}


# Advice that a function gets and hands on, also as `entry.advice`: it is read where it is made.
HANDED_ON = {"advice", "_advice", "said"}


@functools.cache
def every_advice() -> tuple[tuple[str, str], ...]:
    return tuple(read_advice())


def read_advice() -> Iterator[tuple[str, str]]:
    for source in ("torch", "tensorflow"):
        yield from ((entry.api, entry.advice) for entry in table(source) if entry.advice)
    yield from ((str(code), code.advice) for code in findings.CODES.values())
    for module in (dynamic, special, variable_sizes):
        yield from ((name, value) for name, value in vars(module).items() if name.isupper() and isinstance(value, str))
    yield from ((feature, advice) for _, feature, advice in features.CALLS)
    yield from (
        ("MF201", each)
        for each in (steps.PATTERN, steps.ALONG, graph_across_iterations.ADVICE, graph_from_caller.ADVICE)
    )
    yield from (("MF205", derivatives.PATTERN), ("MF102", torch_modules.CHOICE_ADVICE))
    yield from packages().items()
    for entry in table("tensorflow"):
        yield from ((entry.api, option.advice) for option in options_of(entry.api).values())
    yield from ((each.place, text) for each in advices() for text in each.texts)


def test_no_advice_escapes_these_tests() -> None:
    unread = {each.expression for each in advices() if each.expression and not each.expression.endswith(".advice")}
    assert unread <= HANDED_ON
    assert len({text for each in advices() for text in each.texts}) > 100
    told = {text for _, text in every_advice()}
    assert {code.advice for code in findings.CODES.values()} <= told


def resolve(name: str) -> Any:
    first, *rest = name.split(".")
    value: Any = importlib.import_module(HOMES[first])
    for index, part in enumerate(rest):
        if not hasattr(value, part):
            importlib.import_module(".".join([HOMES[first], *rest[: index + 1]]))
        value = getattr(value, part)
    return value


def test_every_name_of_mindspore_that_is_recommended_exists() -> None:
    wrong = []
    for api, advice in every_advice():
        for name in NAME.findall(advice):
            try:
                resolve(name)
            except (AttributeError, ImportError) as error:
                wrong.append((api, name, str(error)))
    assert wrong == []


def test_every_call_of_mindspore_that_is_recommended_takes_these_arguments() -> None:
    wrong = []
    for api, advice in every_advice():
        for call in calls_in(advice):
            name = ast.unparse(call.func)
            if not NAME.fullmatch(name):
                continue
            try:
                signature = inspect.signature(resolve(name))
            except ValueError:
                continue  # written in C; the call is made below
            try:
                signature.bind(*call.args, **{each.arg: None for each in call.keywords if each.arg})
            except TypeError as error:
                wrong.append((api, ast.unparse(call), str(error)))
    assert wrong == []


def calls_in(advice: str) -> list[ast.Call]:
    found = []
    for start in (match.start() for match in NAME.finditer(advice)):
        for end in (match.end() for match in re.finditer(r"\)", advice[start:])):
            try:
                node = ast.parse(advice[start : start + end], mode="eval").body
            except SyntaxError:
                continue
            found += [
                each for each in ast.walk(node) if isinstance(each, ast.Call) and each.args != [ast.Constant(...)]
            ]
            break
    return [each for each in found if not any(isinstance(a, ast.Constant) and a.value is ... for a in each.args)]


def test_every_command_that_is_recommended_can_be_given() -> None:
    import click

    from mindferry.cli import cli

    for api, advice in every_advice():
        for text in COMMAND.findall(advice):
            words = shlex.split(text.replace("…", "x"))[1:]
            group: Any = cli
            while words and hasattr(group, "get_command"):
                group = group.get_command(click.Context(group), words.pop(0))
                assert group is not None, (api, text)


def test_every_line_of_code_that_is_recommended_is_known_here() -> None:
    snippets = {
        text for _, advice in every_advice() for text in CODE.findall(advice) if not text.startswith("mindferry ")
    }
    assert sorted(snippets - set(PROGRAMS) - set(OTHER)) == []


def surroundings() -> dict[str, Any]:
    """What the names in an advice stand for."""
    import mindspore
    from mindspore import amp, nn, ops

    random = np.random.default_rng(2)
    model = nn.Dense(4, 3)
    x = mindspore.Tensor(random.standard_normal((5, 4)).astype("float32"))
    known: dict[str, Any] = {
        "__name__": "advice",  # MindSpore asks a function for its module
        "ms": mindspore,
        "mindspore": mindspore,
        "nn": nn,
        "ops": ops,
        "amp": amp,
        "model": model,
        "net": model,
        "x": x,
        "y": mindspore.Tensor(random.standard_normal((5, 3)).astype("float32")),
        "g": mindspore.Tensor(random.standard_normal((5, 3)).astype("float32")),
        "criterion": nn.MSELoss(),
        "optimizer": nn.SGD(model.trainable_params(), 0.1),
        "parameters": model.trainable_params(),
        "fn": lambda value: (value**2).sum(),
        "f": lambda value: (value**2).sum(),
        "position": 0,
        "inputs": x,
        "shape": (3, 4),
        "data": [1.0, 2.0],
        "indices": mindspore.Tensor([[0, 1], [2, 3]]),
        "values": mindspore.Tensor([1.0, 2.0]),
        "path": "exported.mindir",
    }
    known["forward_fn"] = lambda x, y: known["criterion"](model(x), y)
    return known


@pytest.mark.parametrize("line", [line for line, program in PROGRAMS.items() if program])
def test_the_line_runs(line: str) -> None:
    exec(PROGRAMS[line], surroundings())


# Calls that stand in a sentence, and can't be made here, with the reason.
NOT_MADE = {
    "mindspore.communication.get_rank()": "needs several processes",
    "ops.Custom('kernel.so:name', func_type='aot')": "needs the kernel that a person writes",
    "ms.export(net, x, file_name=..., file_format='ONNX')": "leaves a name to a person",
}


def recommended_calls() -> list[str]:
    found = (ast.unparse(call) for _, advice in every_advice() for call in calls_in(advice))
    return sorted({text for text in found if NAME.match(text)})


def test_every_call_in_a_sentence_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import mindspore

    monkeypatch.chdir(tmp_path)
    known = surroundings()
    mindspore.export(known["net"], known["x"], file_name=Path(known["path"]).stem, file_format="MINDIR")
    wrong = []
    for text in recommended_calls():
        if text not in NOT_MADE:
            try:
                eval(text, surroundings())
            except Exception as error:
                wrong.append((text, error))
    assert wrong == []


def test_what_is_not_called_here_is_still_recommended() -> None:
    assert set(NOT_MADE) <= set(recommended_calls())


def test_what_was_wrong_once_is_gone() -> None:
    said = dict(every_advice())
    assert "mindspore_hub" not in said["torch.hub.load"] and "mindferry" in said["torch.hub.load"]
    assert not [api for api, advice in said.items() if "mshub" in advice]
