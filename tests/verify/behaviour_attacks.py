"""Attacks on the word "same" by how a network behaves beside its numbers: optimizers, kinds of outputs, hooks, caches, errors, side effects."""

from __future__ import annotations

if __package__:
    from .attacks import SAME, Attack, attack
else:  # run as a script
    from attacks import SAME, Attack, attack

FC_T = FC_M = "y = self.fc(x)\n"
IDS = ("int64[4,6]@0..20",)
RECORD = "from dataclasses import dataclass\n@dataclass\nclass Out:\n    y: object\n    kind: object = None\n"
NAMED = "from collections import namedtuple\nOut = namedtuple('Out', '{}')\n"
NUMBERED_T = "self.register_buffer('n', torch.zeros(1))\nself.register_buffer('kept', torch.zeros(6))\n"
NUMBERED_M = (
    "self.n = Parameter(Tensor([0.0]), name='n', requires_grad=False)\n"
    "self.kept = Parameter(ops.zeros(6), name='kept', requires_grad=False)\n"
)
TICK_T = "y = self.fc(x)\nif self.training:\n    self.n += 1\n    if int(self.n) % self.{} == 0:\n        self.kept += 1\nreturn y"
TICK_M = "y = self.fc(x)\nif self.training:\n    ops.assign(self.n, self.n + 1)\n    if int(self.n) % self.{} == 0:\n        ops.assign(self.kept, self.kept + 1)\nreturn y"


def optimized(name: str, torch: str, mindspore: str) -> Attack:
    """One layer, and an optimizer of its own on each side."""
    plain = attack(name, SAME, SAME)
    made = "\ndef optimizer(model):\n    return {}\n"
    theirs, ours = f"torch.optim.{torch}", f"nn.{mindspore}"
    return Attack(name, plain.torch + made.format(theirs), plain.mindspore + made.format(ours))


def headed(name: str, head: str, forward_t: str, forward_m: str, other_head: str = "", **rest: str) -> Attack:
    """With lines before the class, the same on both sides unless there are others for the conversion."""
    plain = attack(name, forward_t, forward_m, **rest)
    return Attack(name, head + plain.torch, (other_head or head) + plain.mindspore)


def returned(name: str, theirs: str, ours: str, head: str = "", other_head: str = "") -> Attack:
    """What comes with the numbers in the output."""
    return headed(name, head, f"{FC_T}return {theirs}", f"{FC_M}return {ours}", other_head)


BEHAVIOUR = (
    # optimizers
    optimized(
        "an epsilon of RMSprop",
        "RMSprop(model.parameters(), lr=1e-3, alpha=0.9)",
        "RMSProp(model.trainable_params(), learning_rate=1e-3, decay=0.9, epsilon=1e-10)",
    ),
    optimized(
        "the largest square that an optimizer has seen",
        "Adam(model.parameters(), lr=1e-3, amsgrad=True)",
        "Adam(model.trainable_params(), learning_rate=1e-3)",
    ),
    optimized(
        "a momentum with damping",
        "SGD(model.parameters(), lr=0.1, momentum=0.9, dampening=0.1)",
        "SGD(model.trainable_params(), learning_rate=0.1, momentum=0.9)",
    ),
    optimized(
        "a rate that falls after many steps",
        "SGD(model.parameters(), lr=0.1)",
        "SGD(model.trainable_params(), learning_rate=[0.1] * 10 + [0.01] * 100)",
    ),
    optimized(
        "an optimizer that leaves the bias out",
        "SGD(model.parameters(), lr=0.1)",
        "SGD([p for p in model.trainable_params() if 'bias' not in p.name], learning_rate=0.1)",
    ),
    # what every so many steps happens
    attack(
        "a buffer that moves every fifth step",
        TICK_T.format("every"),
        TICK_M.format("period"),
        NUMBERED_T + "self.every = 5",
        NUMBERED_M + "self.period = 6",
    ),
    attack(
        "a buffer that moves every twentieth step",
        TICK_T.format("every"),
        TICK_M.format("period"),
        NUMBERED_T + "self.every = 20",
        NUMBERED_M + "self.period = 30",
    ),
    # outputs
    returned("names of a tuple", "Out(y, 1)", "Out(y, 1)", NAMED.format("y n"), NAMED.format("y m")),
    returned("a tuple without its names", "Out(y, 1)", "(y, 1)", NAMED.format("y n"), "import numpy\n"),
    returned("a text in a record", "Out(y, 'sum')", "Out(y, 'mean')", RECORD),
    returned("a field of a record", "Out(y, 1)", "Out(y, None)", RECORD),
    returned("a field that is a list of texts", "Out(y, ['a', 'b'])", "Out(y, ['b', 'a'])", RECORD),
    returned("a whole number for a truth value", "(y, True)", "(y, 1)"),
    returned("a number for a whole one", "(y, 1)", "(y, 1.0)"),
    returned("a text for its bytes", "(y, 'a')", "(y, b'a')"),
    returned("an error as a value", "(y, ValueError('few'))", "(y, ValueError('many'))"),
    returned("a class as a value", "(y, int)", "(y, float)"),
    returned("a key that is a text", "{1: y}", "{'1': y}"),
    returned("a map", "map(torch.relu, [y])", "map(ops.sigmoid, [y])"),
    returned("a number without a tensor", "(y, x.sum())", "(y, float(x.sum()))"),
    returned("a path", "(y, Path('a'))", "(y, Path('b'))", "from pathlib import Path\n"),
    returned("a fraction", "(y, Fraction(1, 3))", "(y, Fraction(1, 4))", "from fractions import Fraction\n"),
    returned("an enumeration", "(y, Kind.A)", "(y, Kind.B)", "import enum\nKind = enum.Enum('Kind', 'A B')\n"),
    returned("a slice", "(y, slice(0, 3))", "(y, slice(0, 4))"),
    returned("a range", "(y, range(3))", "(y, range(4))"),
    returned("a set of texts", "(y, {'a'})", "(y, {'b'})"),
    returned("a frozen set", "(y, frozenset({1}))", "(y, frozenset({2}))"),
    returned("numbers of a complex kind", "(y, 1 + 2j)", "(y, 1 - 2j)"),
    returned("a date", "(y, date(2020, 1, 1))", "(y, date(2020, 1, 2))", "from datetime import date\n"),
    returned("a type of numbers", "(y, np.float32(1))", "(y, np.float64(1))", "import numpy as np\n"),
    returned("an array of texts", "(y, np.array(['a']))", "(y, np.array(['b']))", "import numpy as np\n"),
    returned("places", "y.argmax(-1)", "y.argmax(-1).astype(ms.int32)"),
    returned("a short type of an output", "y > 0", "(y > 0).astype(ms.uint8)"),
    returned("a half of an output", "(y, y.half())", "(y, y)"),
    returned("an axis of one", "y.sum(-1, keepdim=True)", "y.sum(-1)"),
    returned("a scalar with an axis", "y.sum()", "y.sum().reshape(1)"),
    returned("no output", "y, None", "y, ()"),
    # hooks
    attack(
        "a hook on a gradient of a weight",
        SAME,
        SAME,
        "self.fc.weight.register_hook(lambda g: g.clamp(-1e6, 1e6))",
    ),
    attack(
        "a hook on the gradients of a module",
        SAME,
        SAME,
        "self.fc.register_full_backward_hook(lambda m, i, o: (i[0].clamp(-1e6, 1e6),))",
    ),
    attack(
        "a hook behind the gradient of a weight",
        SAME,
        SAME,
        "self.fc.weight.register_post_accumulate_grad_hook(lambda p: [p.grad.clamp_(-1e6, 1e6), None][1])",
    ),
    # caches
    attack(
        "a weight that is kept from the first call",
        "return x @ (self.fc.weight.T * 2) + self.fc.bias",
        "if self.w is None:\n    self.w = self.fc.weight.T * 2\nreturn ops.matmul(x, self.w) + self.fc.bias",
        "",
        "self.w = None",
    ),
    headed(
        "a weight in a cache of functools",
        "import functools\n",
        "return self.fc(x) * self.fc.weight.mean()",
        "return self.fc(x) * scale_of(self)",
        other_head="import functools\n@functools.lru_cache(None)\ndef scale_of(net):\n    return net.fc.weight.mean()\n",
    ),
    headed(
        "an input in a cache of functools",
        "import functools\n",
        "return self.fc(x) * x.mean()",
        "return self.fc(x) * self.mean_of(x.shape, x)",
        init_m="seen = functools.lru_cache(None)(lambda shape: [])\n"
        "self.mean_of = lambda shape, x: (seen(shape) or seen(shape).append(x.mean()) or seen(shape))[0]",
    ),
    headed(
        "a property that is computed once",
        "import functools\n",
        "return self.fc(x) * self.fc.weight.mean()",
        "return self.fc(x) * self.scale",
        init_m="type(self).scale = functools.cached_property(lambda net: net.fc.weight.mean())\n"
        "type(self).scale.__set_name__(type(self), 'scale')",
    ),
    # whole numbers
    attack(
        "whole numbers that a float can't hold",
        "return self.fc(x.float()) * ((x + 2 ** 30).sum() % 3)",
        "return self.fc(x.astype(ms.float32)) * ((x + 2 ** 30).astype(ms.float32).sum() % 3)",
        inputs=IDS,
    ),
    # errors
    attack(
        "an error that the conversion alone raises",
        SAME,
        "if x.shape[0] > self.most:\n    raise ValueError('too many')\nreturn self.fc(x)",
        "",
        "self.most = 64",
    ),
    attack(
        "an error that the reference alone raises",
        "if x.shape[0] > self.most:\n    raise ValueError('too many')\nreturn self.fc(x)",
        SAME,
        "self.most = 64",
    ),
    attack(
        "an error on values",
        "if bool((x > self.most).any()):\n    raise ValueError('too large')\nreturn self.fc(x)",
        SAME,
        "self.most = 1e6",
    ),
    attack(
        "an assertion that the conversion alone makes",
        SAME,
        "assert x.shape[0] < self.most\nreturn self.fc(x)",
        "",
        "self.most = 64",
    ),
    attack(
        "another kind of error",
        "if x.shape[0] > self.most:\n    raise ValueError('too many')\nreturn self.fc(x)",
        "if x.shape[0] > self.most:\n    raise KeyError('too many')\nreturn self.fc(x)",
        "self.most = 64",
        "self.most = 64",
    ),
    # side effects
    attack("a seed that every call sets", SAME, "np.random.seed(0)\nreturn self.fc(x)"),
    attack("a seed of MindSpore's", SAME, "ms.set_seed(0)\nreturn self.fc(x)"),
    attack("a seed of Python's", SAME, "import random\nrandom.seed(0)\nreturn self.fc(x)"),
    attack("how numpy treats errors", SAME, "np.seterr(all='ignore')\nreturn self.fc(x)"),
    attack(
        "a warning that is switched off", SAME, "import warnings\nwarnings.simplefilter('ignore')\nreturn self.fc(x)"
    ),
    attack(
        "the gradient of an input that is a number",
        "return self.fc(x) * more[0]",
        "return self.fc(x) * ops.stop_gradient(more[0])",
        inputs=("float32[4,6]", "float32[4,1]"),
    ),
    attack(
        "an input in a dictionary that one side writes into",
        "x['b'].mul_(2)\nreturn self.fc(x['a'])",
        "return self.fc(x['a'])",
        inputs=("x{'a'}=float32[4,6]", "x{'b'}=int64[4]@1..9"),
    ),
    attack(
        "an entry that one side adds to a dictionary",
        "x['b'] = x['a']\nreturn self.fc(x['a'])",
        "return self.fc(x['a'])",
        inputs=("x{'a'}=float32[4,6]",),
    ),
    attack(
        "an entry that the conversion takes out of a dictionary",
        "return self.fc(x['a'])",
        "return self.fc(x.pop('a'))",
        inputs=("x{'a'}=float32[4,6]",),
    ),
    attack(
        "a list that the conversion adds to",
        "return self.fc(x[0])",
        "y = self.fc(x[0])\nx.append(y)\nreturn y",
        inputs=("x[0]=float32[4,6]",),
    ),
    # modes
    attack(
        "the mode of a part",
        "y = self.fc(x)\nreturn y * 2 if self.part.training else y",
        "y = self.fc(x)\nreturn y * 2 if self.training else y",
        "self.part = nn.Dropout(0.0)\nself.part.eval()\nself.part.train = lambda mode=True: self.part",
        "self.part = nn.Dropout(p=0.0)",
    ),
    attack(
        "a part that is kept in eval mode",
        "return self.bn(self.fc(x))",
        "return self.bn(self.fc(x))",
        "self.bn = nn.BatchNorm1d(6)\nself.bn.eval()\nself.bn.train = lambda mode=True: self.bn",
        "self.bn = nn.BatchNorm1d(6)",
    ),
    attack(
        "an output that is cut off in eval mode",
        "y = self.fc(x)\nreturn y if self.training else y.detach()",
        "return self.fc(x)",
    ),
)

SLOWED_T = "self.fc.weight.register_hook(lambda g: g.clamp(-1e6, 1e6))"
SLOWED_M = "self.fc.weight.register_hook(lambda g: g.clip(-1e6, 1e6))"
CHECKED = "if x.shape[0] > self.most:\n    raise ValueError('too many')\nreturn self.fc(x)"
CACHED = "if self.w is None:\n    self.w = self.fc.weight * 2\nreturn self.fc(x) + self.w.sum()"
ADDED = "x['b'] = 1\nreturn self.fc(x['a'])"
HARMLESS = (  # the same on both sides, and to be called same
    returned("a tuple with names on both sides", "Out(y, 1)", "Out(y, 1)", NAMED.format("y n")),
    attack("a hook on a gradient on both sides", SAME, SAME, SLOWED_T, SLOWED_M),
    attack("an error on both sides", CHECKED, CHECKED, "self.most = 64", "self.most = 64"),
    attack(
        "an assertion by a function of torch's",
        "torch._assert(x.shape[0] < self.most, 'too many')\nreturn self.fc(x)",
        "assert x.shape[0] < self.most, 'too many'\nreturn self.fc(x)",
        "self.most = 64",
        "self.most = 64",
    ),
    attack("a cache on both sides", CACHED, CACHED, "self.w = None", "self.w = None"),
    attack("an entry that both sides add", ADDED, ADDED, inputs=("x{'a'}=float32[4,6]",)),
    attack("a seed on both sides", "torch.manual_seed(0)\nreturn self.fc(x)", "ms.set_seed(0)\nreturn self.fc(x)"),
    attack(
        "an output that both sides cut off in eval mode",
        "y = self.fc(x)\nreturn y if self.training else y.detach()",
        "y = self.fc(x)\nreturn y if self.training else ops.stop_gradient(y)",
    ),
)
