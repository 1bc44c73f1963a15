"""torch.nn.init: a layer's weight is set from one of MindSpore's initializers; other tensors take a helper."""

import ast
import re
from collections.abc import Callable

from ... import Case, rule
from ..._call import Call
from ._context import parameters_in_turn
from ._initializer import HOME, bound_on_both_sides, filled, is_looked_up, is_path

LINEAR = "for m in [nn.Linear(3, 4)]]"
DENSE = "for m in [nn.Dense(3, 4)]]"
GAINS = ("relu", "leaky_relu", "tanh", "sigmoid", "linear", "conv1d", "conv2d", "conv3d")


PARAMETER = re.compile(r"(?:weight|bias)(?:_[ih]h_l\d+(?:_reverse)?)?\Z")  # of any layer


def _write(call: Call, build: str | None) -> None:
    """`weight.set_data(initializer(build, shape, dtype))` where the tensor is a layer's parameter for certain."""
    node = call.given.get("tensor")
    if isinstance(node, ast.Attribute) and node.attr == "data":
        node = node.value
    if build is None or node is None or not _is_parameter(call, node) or call.has("generator"):
        call.use_like()
        return
    target = call.of(node)
    if is_looked_up(target):  # of any layer: to look it up three times is no shorter
        call.use_like()
    else:
        call.replace(f"{target}.set_data({filled(call, build, target)})")


def _is_parameter(call: Call, node: ast.expr) -> bool:
    if isinstance(node, ast.Name):
        return node.id in call.reading.once(parameters_in_turn)
    return isinstance(node, ast.Attribute) and PARAMETER.match(node.attr) is not None and is_path(node)


def _named(call: Call, kind: str, **arguments: tuple[str, str]) -> str:
    """An initializer with those of its arguments that differ from its defaults: torch's name -> (MindSpore's, torch's default)."""
    given = [
        f"{ours}={call.text(theirs, default)}"
        for theirs, (ours, default) in arguments.items()
        if call.has(theirs) or default
    ]
    return f"{call.name(f'{HOME}.{kind}')}({', '.join(given)})"


def _init(name: str, args: str, build: Callable[[Call], str | None], *cases: tuple[str, str]) -> None:
    """`cases` are argument texts after the tensor, and the initializer that they become ('' for the helper)."""
    target = f"compat.init_{name}"
    for spelled in (f"{name}_", name) if name not in ("zeros", "ones", "trunc_normal") else (f"{name}_",):
        written = [
            Case(
                f"[nn.init.{spelled}(m.weight{text}) {LINEAR}",
                f"[m.weight.set_data(initializer.initializer({after}, m.weight.shape, m.weight.dtype)) {DENSE}"
                if after
                else f"[ms_compat.init_{name}(m.weight{text}) {DENSE}",
                random=True,
            )
            for text, after in cases
        ]
        written.append(
            Case(
                f"nn.init.{spelled}(x{cases[0][0]})",
                f"ms_compat.init_{name}(x{cases[0][0]})",
                shapes=((3, 4),),
                random=True,
            )
        )
        rule(f"torch.nn.init.{spelled}", to=target, args=f"tensor {args}".strip(), like=target, cases=written)(
            lambda call: _write(call, build(call))
        )


def _kaiming(call: Call, kind: str) -> str | None:
    if call.literal("nonlinearity", "relu") not in GAINS or call.literal("mode", "fan_in") not in ("fan_in", "fan_out"):
        return None
    return _named(call, kind, a=("negative_slope", ""), mode=("mode", ""), nonlinearity=("nonlinearity", ""))


_init("zeros", "", lambda call: "'zeros'", ("", "'zeros'"))
_init("ones", "", lambda call: "'ones'", ("", "'ones'"))
_init(
    "constant",
    "val",
    lambda call: f"{call.name(f'{HOME}.Constant')}({call.text('val')})",
    (", 0.5", "initializer.Constant(0.5)"),
)
_init(
    "normal",
    "mean std generator",
    lambda call: _named(call, "Normal", std=("sigma", "1.0"), mean=("mean", "")),
    ("", "initializer.Normal(sigma=1.0)"),
    (", std=0.02", "initializer.Normal(sigma=0.02)"),
    (", 0.5, 0.01", "initializer.Normal(sigma=0.01, mean=0.5)"),
)
_init(
    "trunc_normal",
    "mean std a b generator",
    lambda call: _named(call, "TruncatedNormal", std=("sigma", "1.0"), mean=("mean", ""), a=("a", ""), b=("b", "")),
    (", std=0.02", "initializer.TruncatedNormal(sigma=0.02)"),
    (", mean=0.1, std=0.5, a=-1, b=1", "initializer.TruncatedNormal(sigma=0.5, mean=0.1, a=-1, b=1)"),
)
_init(
    "uniform",
    "a b generator",
    lambda call: bound_on_both_sides(call, "a", "b"),
    (", -0.1, 0.3", ""),
    (", -0.1, 0.1", "initializer.Uniform(0.1)"),
)
_init(
    "xavier_uniform",
    "gain generator",
    lambda call: _named(call, "XavierUniform", gain=("gain", "")),
    ("", "initializer.XavierUniform()"),
    (", gain=0.5", "initializer.XavierUniform(gain=0.5)"),
)
_init(
    "xavier_normal",
    "gain generator",
    lambda call: _named(call, "XavierNormal", gain=("gain", "")),
    ("", "initializer.XavierNormal()"),
)
_init(
    "kaiming_uniform",
    "a mode nonlinearity generator",
    lambda call: _kaiming(call, "HeUniform"),
    ("", "initializer.HeUniform()"),
    (", a=1", "initializer.HeUniform(negative_slope=1)"),
    (", nonlinearity='selu'", ""),
)
_init(
    "kaiming_normal",
    "a mode nonlinearity generator",
    lambda call: _kaiming(call, "HeNormal"),
    ("", "initializer.HeNormal()"),
    (", mode='fan_out', nonlinearity='relu'", "initializer.HeNormal(mode='fan_out', nonlinearity='relu')"),
)
_init(
    "orthogonal",
    "gain generator",
    lambda call: _named(call, "Orthogonal", gain=("gain", "")),
    ("", "initializer.Orthogonal()"),
)
_init("eye", "", lambda call: None, ("", ""))
_init("sparse", "sparsity std generator", lambda call: None, (", 0.3", ""))

for spelled in ("dirac_", "dirac"):
    rule(
        f"torch.nn.init.{spelled}",
        to="compat.init_dirac",
        args="tensor groups",
        like="compat.init_dirac",
        cases=[
            Case(
                f"nn.init.{spelled}(torch.empty(4, 3, 3)) * x",
                "ms_compat.init_dirac(ops.zeros((4, 3, 3))) * x",
                shapes=((4, 3, 3),),
                runs=False,
                why="the spelling of torch.empty is another rule's",
            ),
        ],
    )
rule(
    "torch.nn.init.calculate_gain",
    to="compat.calculate_gain",
    args="nonlinearity param",
    like="compat.calculate_gain",
    cases=[
        Case(
            "nn.init.calculate_gain('leaky_relu', 0.2) * x",
            "ms_compat.calculate_gain('leaky_relu', 0.2) * x",
            shapes=((2, 3),),
        ),
        Case("nn.init.calculate_gain('tanh') * x", "ms_compat.calculate_gain('tanh') * x", shapes=((2, 3),)),
    ],
)
rule(
    "torch.nn.init._calculate_fan_in_and_fan_out",
    to="compat.fan_in_and_out",
    args="tensor",
    like="compat.fan_in_and_out",
    cases=[
        Case(
            "nn.init._calculate_fan_in_and_fan_out(x)[1] * x", "ms_compat.fan_in_and_out(x)[1] * x", shapes=((2, 3, 4),)
        ),
    ],
)
rule(
    "torch.nn.init._calculate_correct_fan",
    to="compat.correct_fan",
    args="tensor mode",
    like="compat.correct_fan",
    cases=[
        Case(
            "nn.init._calculate_correct_fan(x, 'fan_out') * x",
            "ms_compat.correct_fan(x, 'fan_out') * x",
            shapes=((2, 3, 4),),
        ),
    ],
)
rule(
    "torch.nn.init._no_grad_trunc_normal_",
    to="compat.init_trunc_normal",
    args="tensor mean std a b generator",
    like="compat.init_trunc_normal",
    cases=[
        Case(
            "nn.init._no_grad_trunc_normal_(x, 0.0, 1.0, -2.0, 2.0)",
            "ms_compat.init_trunc_normal(x, 0.0, 1.0, -2.0, 2.0)",
            shapes=((3, 4),),
            random=True,
        ),
    ],
)
