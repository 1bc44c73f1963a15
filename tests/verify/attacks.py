"""Attacks on the word "same": conversions that are wrong, or not compared, in a way that a verdict might overlook. None may be called same.

An attack is a tiny network in both frameworks with something that differs, or that no input reaches. `right=True` marks the
harmless twin of an attack: that one must not be called different.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mindferry.artifacts import Comparison

if __package__:
    from .twins import Twin, compare_twin
else:  # run as a script
    from twins import Twin, compare_twin


@dataclass(frozen=True)
class Attack:
    name: str
    torch: str
    mindspore: str
    inputs: tuple[str, ...] = ("float32[4,6]",)
    options: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def linear(forward_t: str, forward_m: str, init_t: str = "", init_m: str = "") -> tuple[str, str]:
    """A network of one layer, `self.fc`, with more lines in its constructor and the given body."""
    both = []
    for base, layer, method, init, body in (
        ("nn.Module", "nn.Linear(6, 6)", "forward", init_t, forward_t),
        ("nn.Cell", "nn.Dense(6, 6)", "construct", init_m, forward_m),
    ):
        lines = [
            f"class Net({base}):",
            "    def __init__(self):",
            "        super().__init__()",
            f"        self.fc = {layer}",
        ]
        lines += [f"        {line}" for line in init.splitlines()]
        lines += [f"    def {method}(self, x, *more):"] + [f"        {line}" for line in body.splitlines()]
        both.append("\n".join(lines) + "\n")
    return both[0], both[1]


def attack(name: str, forward_t: str, forward_m: str, init_t: str = "", init_m: str = "", **options: Any) -> Attack:
    inputs = options.pop("inputs", ("float32[4,6]",))
    return Attack(name, *linear(forward_t, forward_m, init_t, init_m), inputs, options)


SAME = "return self.fc(x)"
AUX_T, AUX_M = "self.aux = nn.Linear(6, 6)", "self.aux = nn.Dense(6, 6)"
DROP_T, DROP_M = "self.drop = nn.Dropout(0.3)", "self.drop = nn.Dropout(p=0.3)"
BUFFER_T = "self.register_buffer('b', torch.arange(6).float())"
BUFFER_M = "self.b = Parameter(Tensor(np.arange(6), ms.float32), name='b', requires_grad=False)"

ATTACKS = (
    # what no input reaches
    attack("a module that is never called", SAME, SAME, AUX_T, AUX_M),
    attack(
        "a branch for masks that never runs",
        "x = self.fc(x)\nif more:\n    x = x * more[0]\nreturn x",
        "x = self.fc(x)\nif more:\n    x = x / more[0]\nreturn x",
    ),
    attack(
        "a branch for long inputs",
        "x = self.fc(x)\nif x.shape[0] > 100:\n    x = x * 2\nreturn x",
        "x = self.fc(x)\nif x.shape[0] > 100:\n    x = x * 3\nreturn x",
    ),
    attack("a branch of the conversion alone", SAME, "x = self.fc(x)\nif x.shape[0] > 100:\n    x = x * 3\nreturn x"),
    attack(
        "code after an early return",
        "x = self.fc(x)\nif x.shape[0] < 100:\n    return x\nreturn x * 2",
        "x = self.fc(x)\nif x.shape[0] < 100:\n    return x\nreturn x * 3",
    ),
    attack(
        "a parameter that no output depends on",
        SAME,
        SAME,
        "self.w = nn.Parameter(torch.randn(6))",
        "self.w = Parameter(ops.ones(6), name='w')",
    ),
    attack(
        "a layer whose gradient is zero here",
        "return self.fc(x) + F.relu(self.aux(x) - 1e4)",
        "return self.fc(x) + ops.relu(self.aux(x) - 1e4) * 2",
        AUX_T,
        AUX_M,
    ),
    attack(
        "train mode that was not asked for",
        "x = self.fc(x)\nreturn x * 2 if self.training else x",
        "x = self.fc(x)\nreturn x * 3 if self.training else x",
        modes=("eval",),
    ),
    attack(
        "eval mode that was not asked for",
        "x = self.fc(x)\nreturn x if self.training else x * 2",
        "x = self.fc(x)\nreturn x if self.training else x * 3",
        modes=("train",),
    ),
    attack("an output that is zero here", "return F.relu(self.fc(x) - 1e4)", "return ops.relu(self.fc(x) - 1e4) * 2"),
    attack(
        "a loop that never turns",
        "x = self.fc(x)\nfor each in more:\n    x = x * each\nreturn x",
        "x = self.fc(x)\nfor each in more:\n    x = x + each\nreturn x",
    ),
    # parameters
    attack(
        "weights that are tied in torch alone",
        "return self.fc(self.aux(x))",
        "return self.fc(self.aux(x))",
        "self.aux = nn.Linear(6, 6)\nself.aux.weight = self.fc.weight",
        AUX_M,
    ),
    attack(
        "a gradient cut to a tiny parameter",
        "return self.fc(x) + self.w * x.sum()",
        "return self.fc(x) + ops.stop_gradient(self.w) * x.sum()",
        "self.w = nn.Parameter(torch.randn(6) * 1e-7)",
        "self.w = Parameter(ops.ones(6), name='w')",
    ),
    attack(
        "a tiny gradient that is doubled",
        "return self.fc(x) * 1000 + self.w * 1e-6",
        "return self.fc(x) * 1000 + self.w * 2e-6 - ops.stop_gradient(self.w) * 1e-6",
        "self.w = nn.Parameter(torch.randn(6))",
        "self.w = Parameter(ops.ones(6), name='w')",
    ),
    attack("the gradient of the input", SAME, "return self.fc(ops.stop_gradient(x))"),
    attack(
        "the gradient of the input, doubled",
        "return self.fc(x) + x * 0.1",
        "return self.fc(x) + x * 0.2 - ops.stop_gradient(x) * 0.1",
    ),
    attack("a parameter frozen in the conversion", SAME, SAME, "", "self.fc.bias.requires_grad = False"),
    attack("a parameter trained in the conversion alone", SAME, SAME, "self.fc.bias.requires_grad = False"),
    attack(
        "two parameters of one name",
        "return self.fc(x) * self.w + self.v",
        "return self.fc(x) * self.w + self.v",
        "self.w = nn.Parameter(torch.ones(6)); self.v = nn.Parameter(torch.ones(6))",
        "self.w = Parameter(ops.ones(6), name='w'); self.v = Parameter(ops.ones(6), name='v')\nself.v.name = 'w'",
    ),
    # buffers
    attack(
        "an index that is computed wrongly",
        "return self.fc(x)[:, self.i]",
        "return self.fc(x)[:, self.i]",
        "self.register_buffer('i', torch.arange(5, -1, -1))",
        "self.i = Parameter(Tensor(np.arange(6), ms.int64), name='i', requires_grad=False)",
    ),
    attack(
        "a table that is computed wrongly",
        "return self.fc(x) + self.b",
        "return self.fc(x) + self.b",
        BUFFER_T,
        BUFFER_M.replace("np.arange(6)", "np.arange(1, 7)"),
    ),
    attack(
        "a table that no checkpoint holds",
        "return self.fc(x) + self.b[:3].sum()",
        "return self.fc(x) + self.b[:3].sum()",
        "self.register_buffer('b', torch.arange(6).float(), persistent=False)",
        "self.b = Tensor([0., 1, 2, 3, 4, 6])",
    ),
    attack(
        "a buffer of zeros that is left out",
        "return self.fc(x) + self.b",
        SAME,
        "self.register_buffer('b', torch.zeros(6))",
        "self.b = Parameter(ops.zeros(6), name='b', requires_grad=False)",
    ),
    attack(
        "a counter that counts otherwise",
        "self.n += 1\nreturn self.fc(x)",
        "ops.assign(self.n, self.n + 2)\nreturn self.fc(x)",
        "self.register_buffer('n', torch.tensor([3]))",
        "self.n = Parameter(Tensor([3], ms.int64), name='n', requires_grad=False)",
    ),
    attack(
        "a buffer that moves at another pace",
        "x = self.fc(x)\nif self.training:\n    self.b.mul_(0.9).add_(0.1 * x.detach().mean(0))\nreturn x",
        "x = self.fc(x)\nif self.training:\n    ops.assign(self.b, 0.8 * self.b + 0.2 * ops.stop_gradient(x).mean(0))\nreturn x",
        BUFFER_T,
        BUFFER_M,
    ),
    # outputs
    attack("another key", "return {'logits': self.fc(x)}", "return {'scores': self.fc(x)}"),
    attack("two outputs exchanged", "y = self.fc(x)\nreturn y, y * 2", "y = self.fc(x)\nreturn y * 2, y"),
    attack(
        "two keys exchanged",
        "y = self.fc(x)\nreturn {'a': y, 'b': y * 2}",
        "y = self.fc(x)\nreturn {'b': y, 'a': y * 2}",
    ),
    attack("one output more", "return self.fc(x)", "return self.fc(x), x"),
    attack("a tuple of one", SAME, "return (self.fc(x),)"),
    attack("half precision", SAME, "return self.fc(x).astype(ms.float16)"),
    attack("another kind of number", "return self.fc(x), (x > 0).float()", "return self.fc(x), x > 0"),
    attack("a Python number", "y = self.fc(x)\nreturn y, 0.5", "y = self.fc(x)\nreturn y, 0.25"),
    attack(
        "a Python number that was computed",
        "y = self.fc(x)\nreturn y, y.mean().item()",
        "y = self.fc(x)\nreturn y, float(y.sum().asnumpy())",
    ),
    attack("a text", "return self.fc(x), 'mean'", "return self.fc(x), 'sum'"),
    attack("None for an output", "y = self.fc(x)\nreturn y, y * 2", "return self.fc(x), None"),
    attack(
        "an integer off by one", "y = self.fc(x)\nreturn y, y.argmax(-1)", "y = self.fc(x)\nreturn y, y.argmax(-1) + 1"
    ),
    attack(
        "an integer that is wrong in one place",
        "y = self.fc(x)\nreturn y, (y > 0).sum(-1)",
        "y = self.fc(x)\nn = (y > 0).astype(ms.int64).sum(-1)\nreturn y, n + Tensor([0, 0, 0, 1], ms.int64)[:n.shape[0]]",
    ),
    attack("a truth value turned round", "y = self.fc(x)\nreturn y, y > 0", "y = self.fc(x)\nreturn y, y <= 0"),
    attack(
        "an offset beside a mask",
        "y = self.fc(x)\nreturn y.masked_fill(y > 1, -1e9)",
        "y = self.fc(x)\nreturn y.masked_fill(y > 1, -1e9) + 1e-3",
    ),
    attack(
        "an offset beside an infinity",
        "y = self.fc(x)\nreturn y.masked_fill(y > 0.5, float('-inf'))",
        "y = self.fc(x)\nreturn y.masked_fill(y > 0.5, float('-inf')) + 1e-2",
    ),
    attack(
        "another mask",
        "y = self.fc(x)\nreturn y.masked_fill(y > 1, -1e9)",
        "y = self.fc(x)\nreturn y.masked_fill(y > 1, -1e4)",
    ),
    attack(
        "an object's tensors",
        "return Out(self.fc(x))",
        "return Out(self.fc(x) * 1.5)",
        "global Out\nclass Out:\n    def __init__(self, y): self.y = y",
        "global Out\nclass Out:\n    def __init__(self, y): self.y = y",
    ),
    attack("nothing that is returned", "self.fc(x)", "self.fc(x)"),
    # randomness
    attack(
        "dropout that is active in eval",
        "return self.drop(self.fc(x))",
        "return ops.dropout(self.fc(x), 0.3, True)",
        DROP_T,
        DROP_M,
    ),
    attack("dropout that is missing", "return self.drop(self.fc(x))", SAME, DROP_T, DROP_M),
    attack(
        "dropout of another rate",
        "return self.drop(self.fc(x))",
        "return self.drop(self.fc(x))",
        DROP_T,
        DROP_M.replace("0.3", "0.4"),
    ),
    attack("dropout before the layer", "return self.drop(self.fc(x))", "return self.fc(self.drop(x))", DROP_T, DROP_M),
    attack(
        "dropout that does not scale",
        "return F.dropout(self.fc(x), 0.3, self.training)",
        "y = self.fc(x)\nreturn y * (ops.rand(y.shape) > 0.3).astype(ms.float32) if self.training else y",
    ),
    attack(
        "noise of another size", "return self.fc(x) + torch.randn_like(x)", "return self.fc(x) + 2 * ops.randn_like(x)"
    ),
    attack("noise that is missing", "return self.fc(x) + torch.randn_like(x)", SAME),
    attack("noise in the conversion alone", SAME, "return self.fc(x) + 1e-3 * ops.randn_like(x)"),
    attack(
        "a permutation that can't be shared",
        "y = self.fc(x)\nreturn y[torch.randperm(4)[:len(y)].clamp(max=len(y) - 1)]",
        "y = self.fc(x)\nreturn y[Tensor(np.random.permutation(4)[:len(y)].clip(max=len(y) - 1))]",
    ),
    attack(
        "another chance",
        "y = self.fc(x)\nreturn y * torch.bernoulli(torch.full_like(y, 0.7))",
        "y = self.fc(x)\nreturn y * (ops.rand(y.shape) < 0.5).astype(ms.float32)",
    ),
    # sizes, state, arithmetic
    attack("a batch of one", SAME, "y = self.fc(x)\nreturn y - y[:1] + y[0]*1.1", inputs=("float32[1,6]",)),
    attack(
        "a size that is written down", "return self.fc(x).reshape(x.shape[0], -1)", "return self.fc(x).reshape(4, -1)"
    ),
    attack(
        "a norm over the batch",
        "y = self.fc(x)\nreturn y - y.mean(-1, keepdim=True)",
        "y = self.fc(x)\nreturn y - (y.mean(-1, keep_dims=True) if x.shape[0] > 1 else y.mean(0, keep_dims=True))",
    ),
    attack(
        "a cache that is kept",
        "if self.c is None:\n    self.c = self.fc(x).detach()\nreturn self.fc(x) + self.c",
        "if self.c is None:\n    self.c = self.fc(x) * 0\nreturn self.fc(x) + self.c",
        "self.c = None",
        "self.c = None",
    ),
    attack(
        "a crash in train mode",
        "x = self.fc(x)\nreturn x",
        "x = self.fc(x)\nif self.training:\n    raise ValueError('not here')\nreturn x",
        DROP_T,
        DROP_M,
    ),
    attack("a slight offset", "return torch.tanh(self.fc(x))", "return ops.tanh(self.fc(x)) * 1.00005"),
    attack("no parameters at all", "return x * 2", "return x * 2.001", "del self.fc", "del self.fc"),
    attack(
        "a matrix that is symmetric by chance",
        "y = self.fc(x)\nreturn y.T @ y * 0 + (y.T @ y)[:3].sum()",
        "y = self.fc(x)\nreturn (y.T @ y * 0 + (y.T @ y)[:, :2].sum())",
    ),
    attack(
        "another activation that agrees here",
        "return self.act(self.fc(x))",
        "return self.act(self.fc(x))",
        "self.act = nn.ReLU()",
        "self.act = nn.ReLU6()",
    ),
)


def said_of(attack: Attack, folder: Path, seed: int = 0) -> str:
    """The outcome, or the sentence with which the comparison was refused."""
    return outcome_of(attack, folder, seed)[0]


def outcome_of(attack: Attack, folder: Path, seed: int = 0) -> tuple[str, bool]:
    """The same, and whether the conversion came to an error."""
    twin = Twin(attack.name, attack.torch, attack.mindspore, attack.inputs)
    try:
        comparison = compare_twin(twin, folder, seed, **attack.options)
    except Exception as error:
        return f"refused: {' '.join(str(error).split())[:150]}", True
    return str(comparison.outcome), has_failed(comparison)


def has_failed(comparison: Comparison) -> bool:
    """Whether some mode, or some size of the inputs, came to an error in the conversion."""
    return any(gap.subject in ("mode", "inputs") and gap.state == "not comparable" for gap in comparison.coverage.gaps)
