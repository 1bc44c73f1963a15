"""Attacks on the word "same" by places where nobody looks: defaults, closures, globals, containers of other kinds, modes, memory."""

from __future__ import annotations

if __package__:
    from .attacks import AUX_M, AUX_T, SAME, attack
    from .outside_attacks import network
else:  # run as a script
    from attacks import AUX_M, AUX_T, SAME, attack
    from outside_attacks import network

SLOTS = (
    "class Box:\n    __slots__ = ('value',)\n    def __init__(self, value):\n        self.value = value\nself.box = Box"
)
PAIR = "class Pair(tuple):\n    pass\nself.pair = Pair"
NAMED = "class Named(dict):\n    pass\nself.named = Named"
COUNTER = "def counter():\n    n = 0\n    def times():\n        nonlocal n\n        n += 1\n        return 1 + 0.1 * (n // 40)\n    return times\nself.times = counter()"
W_M = "self.w = Parameter(ops.ones(6), name='w')"

HIDDEN = (
    # counts
    attack(
        "a count in a default argument",
        SAME,
        "return self.scaled(self.fc(x))",
        "",
        "def scaled(y, seen=[0]):\n    seen[0] += 1\n    return y * (1 + 0.1 * (seen[0] // 40))\nself.scaled = scaled",
    ),
    attack("a count in a closure", SAME, "return self.fc(x) * self.times()", "", COUNTER),
    attack(
        "a count in an iterator",
        SAME,
        "return self.fc(x) * (1 + 0.1 * (next(self.n) // 40))",
        "",
        "import itertools\nself.n = itertools.count()",
    ),
    attack(
        "a count in the environment",
        SAME,
        "import os\nn = int(os.environ.get('CALLS', '0')) + 1\nos.environ['CALLS'] = str(n)\nreturn self.fc(x) * (1 + 0.1 * (n // 40))",
    ),
    # results that are not returned, or not as tensors
    attack(
        "a result in a global",
        "global LAST\ny = self.fc(x)\nLAST = y * 2\nreturn y",
        "global LAST\ny = self.fc(x)\nLAST = y * 3\nreturn y",
    ),
    attack(
        "a result on the class",
        "y = self.fc(x)\ntype(self).last = y * 2\nreturn y",
        "y = self.fc(x)\ntype(self).last = y * 3\nreturn y",
    ),
    attack(
        "a generator",
        "y = self.fc(x)\nreturn (y * n for n in (1, 2))",
        "y = self.fc(x)\nreturn (y * n for n in (1, 3))",
    ),
    attack("an iterator", "y = self.fc(x)\nreturn iter([y, y * 2])", "y = self.fc(x)\nreturn iter([y, y * 3])"),
    attack(
        "an object with slots",
        "y = self.fc(x)\nreturn y, self.box(y * 2)",
        "y = self.fc(x)\nreturn y, self.box(y * 3)",
        SLOTS,
        SLOTS,
    ),
    attack(
        "a tuple with an attribute",
        "y = self.fc(x)\nout = self.pair([y])\nout.more = y * 2\nreturn out",
        "y = self.fc(x)\nout = self.pair([y])\nout.more = y * 3\nreturn out",
        PAIR,
        PAIR,
    ),
    attack(
        "a dictionary with an attribute",
        "y = self.fc(x)\nout = self.named(y=y)\nout.more = y * 2\nreturn out",
        "y = self.fc(x)\nout = self.named(y=y)\nout.more = y * 3\nreturn out",
        NAMED,
        NAMED,
    ),
    attack("keys that are texts", "return {0: self.fc(x), 1: x}", "return {'0': self.fc(x), '1': x}"),
    attack(
        "a queue of results",
        "from collections import deque\ny = self.fc(x)\nreturn deque([y, y * 2])",
        "from collections import deque\ny = self.fc(x)\nreturn deque([y, y * 3])",
    ),
    attack(
        "a mapping that is read only",
        "from types import MappingProxyType\ny = self.fc(x)\nreturn MappingProxyType({'a': y, 'b': y * 2})",
        "from types import MappingProxyType\ny = self.fc(x)\nreturn MappingProxyType({'a': y, 'b': y * 3})",
    ),
    # modes and types
    attack(
        "a loss that training alone leaves in an attribute",
        "y = self.fc(x)\nif self.training:\n    self.extra = self.aux(x).square().mean()\nreturn y",
        "y = self.fc(x)\nif self.training:\n    self.extra = ops.square(self.aux(x)).sum()\nreturn y",
        AUX_T + "\nself.extra = None",
        AUX_M + "\nself.extra = None",
    ),
    network(
        "a merge that train mode does not undo",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.low = nn.Linear(6, 6), nn.Parameter(torch.randn(6, 6) * 0.1)
        self.is_merged = False
    def train(self, mode=True):
        super().train(mode)
        if self.is_merged == mode:
            self.fc.weight.data.add_(self.low.data, alpha=-1.0 if mode else 1.0)
            self.is_merged = not mode
        return self
    def forward(self, x):
        y = self.fc(x)
        return y if self.is_merged else y + x @ self.low.T
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc, self.low = nn.Dense(6, 6), Parameter(ops.zeros((6, 6)), name='low')
        self.is_merged = False
    def set_train(self, mode=True):
        super().set_train(mode)
        if not mode and not self.is_merged:
            self.fc.weight.set_data(self.fc.weight + self.low)
            self.is_merged = True
        return self
    def construct(self, x):
        y = self.fc(x)
        return y if self.is_merged else y + ops.matmul(x, self.low.T)
""",
        "float32[4,6]",
    ),
    attack("odd lengths", SAME, "return self.fc(x) * (1 + 0.1 * (x.shape[1] % 2))", inputs=("float32[4,6,6]",)),
    attack("another type of the input", SAME, "return self.fc(x) * (1 + 0.1 * (x.dtype == ms.float16))"),
    attack(
        "results that a list collects",
        "y = self.fc(x)\nself.log.append(y.detach() * 2)\nreturn y",
        "y = self.fc(x)\nself.log.append(ops.stop_gradient(y) * 3)\nreturn y",
        "self.log = []",
        "self.log = []",
    ),
    # parameters
    attack(
        "a parameter of the first call that is never trained",
        "if not hasattr(self, 'late'):\n    self.late = nn.Parameter(torch.ones(6) * 0.5)\nreturn self.fc(x) * self.late",
        "if not hasattr(self, 'late'):\n    self.late = ops.ones(6) * 0.5\nreturn self.fc(x) * self.late",
    ),
    attack(
        "a parameter that starts otherwise",
        "return self.fc(x) * self.w",
        "return self.fc(x) * self.w",
        "self.w = nn.Parameter(torch.full((6,), 1e-4))",
        W_M,
    ),
    attack(
        "weights that share their memory",
        "return self.aux(torch.tanh(self.fc(x)))",
        "return self.aux(2 * ops.sigmoid(2 * self.fc(x)) - 1)",
        AUX_T + "\nself.aux.weight.data = self.fc.weight.data",
        AUX_M,
    ),
    attack(
        "weights that the reference alone writes into",
        "with torch.no_grad():\n    self.w.clamp_(-0.1, 0.1)\nreturn self.fc(x) * self.w",
        "return self.fc(x) * ops.clamp(self.w, -0.1, 0.1)",
        "self.w = nn.Parameter(torch.randn(6))",
        W_M,
    ),
    attack(
        "a count in an array of numpy's",
        SAME,
        "self.seen[0] += 1\nreturn self.fc(x) * (1 if self.seen[0] < 100 else 2)",
        "",
        "import numpy as np\nself.seen = np.zeros(1)",
    ),
    attack(
        "a count in bytes",
        SAME,
        "self.seen[0] = min(self.seen[0] + 1, 200)\nreturn self.fc(x) * (1 if self.seen[0] < 100 else 2)",
        "",
        "self.seen = bytearray(1)",
    ),
    attack(
        "what is done after an error",
        "try:\n    return self.fc(x)\nexcept ValueError:\n    return x",
        "try:\n    return self.fc(x)\nexcept ValueError:\n    return x * 2",
    ),
    attack(
        "a second condition that is never asked",
        "big = x.shape[0] > 64 and x.shape[1] > 3\nreturn self.fc(x) * (1 + big)",
        "big = x.shape[0] > 64 and x.shape[1] > 30\nreturn self.fc(x) * (1 + big)",
    ),
    attack(
        "a count that is not set back",
        "self.n = 0\nfor _ in range(3):\n    self.n += 1\nreturn self.fc(x)",
        "for _ in range(3):\n    self.n += 1\nreturn self.fc(x)",
        "self.n = 0",
        "self.n = 0",
    ),
    attack(
        "a part of a parameter that starts otherwise",
        "return self.fc(x) * self.w",
        "return self.fc(x) * self.w",
        "self.w = nn.Parameter(torch.tensor([1., 0., 0., 0., 1., 0.]))",
        W_M,
    ),
    attack(
        "a hook on a layer's gradient", SAME, SAME, "self.fc.register_full_backward_hook(lambda m, i, o: (i[0] * 0.5,))"
    ),
)
