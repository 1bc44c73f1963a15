"""More attacks on the word "same", found by trying: what a network returns besides tensors, what it keeps between two calls, what far inputs reach."""

from __future__ import annotations

if __package__:
    from .attacks import AUX_M, AUX_T, DROP_M, DROP_T, SAME, attack
else:  # run as a script
    from attacks import AUX_M, AUX_T, DROP_M, DROP_T, SAME, attack

W_T, W_M = "self.w = nn.Parameter(torch.randn(6))", "self.w = Parameter(ops.ones(6), name='w')"
BN_T, BN_M = "self.bn = nn.BatchNorm1d(6)", "self.bn = nn.BatchNorm1d(6)"
NORMED = "return self.bn(self.fc(x))"
DROPPED = "return self.drop(self.fc(x))"
FIELDS = "global Out\nfrom collections import namedtuple\nOut = namedtuple('Out', '{}')"
HOLDER = "global Out\nclass Out:\n    {}"
TABLE = "return self.fc(self.e(x))"


def beside(theirs: str, ours: str) -> tuple[str, str]:
    """Forward methods that return the layer's output and something else."""
    return f"y = self.fc(x)\nreturn y, {theirs}", f"y = self.fc(x)\nreturn y, {ours}"


MORE = (
    # what is returned besides tensors
    attack("a number of another type", *beside("1", "1.0")),
    attack("a truth value as a number", *beside("True", "1")),
    attack("another set", *beside("{1, 2}", "{1, 3}")),
    attack("another array of numpy", *beside("y.detach().numpy() * 2", "y.asnumpy() * 3")),
    attack("another number of numpy", *beside("__import__('numpy').float32(0.5)", "np.float32(0.25)")),
    attack("a number in a dictionary", "return {'y': self.fc(x), 's': 3.0}", "return {'y': self.fc(x), 's': 3.1}"),
    attack("a list for a tuple", "y = self.fc(x)\nreturn [y, y * 2]", "y = self.fc(x)\nreturn (y, y * 2)"),
    attack("lists nested otherwise", "y = self.fc(x)\nreturn [[y], [y * 2]]", "y = self.fc(x)\nreturn [[y, y * 2]]"),
    attack("a key without a value", "return {'y': self.fc(x), 'aux': None}", "return {'y': self.fc(x)}"),
    attack("a generator", "return (y for y in (self.fc(x), x))", "return (y for y in (self.fc(x) * 2, x))"),
    attack("a function", "y = self.fc(x)\nreturn lambda: y", "y = self.fc(x) * 2\nreturn lambda: y"),
    attack(
        "an object with a property",
        "return Out(self.fc(x))",
        "return Out(self.fc(x))",
        HOLDER.format("def __init__(self, y): self._y = y\n    y = property(lambda self: self._y)"),
        HOLDER.format("def __init__(self, y): self._y = y * 2\n    y = property(lambda self: self._y)"),
    ),
    attack(
        "an object with slots",
        "return Out(self.fc(x))",
        "return Out(self.fc(x) * 2)",
        HOLDER.format("__slots__ = ('y',)\n    def __init__(self, y): self.y = y"),
        HOLDER.format("__slots__ = ('y',)\n    def __init__(self, y): self.y = y"),
    ),
    attack(
        "fields of a named tuple exchanged",
        "return Out(self.fc(x), x)",
        "return Out(x, self.fc(x))",
        FIELDS.format("a b"),
        FIELDS.format("b a"),
    ),
    attack("an input that is returned, changed", *beside("x", "x * 1.0001")),
    attack("a second output that is cut off", *beside("y * 2", "ops.stop_gradient(y) * 2")),
    attack("no elements", "return self.fc(x)[:0]", "return (self.fc(x) * 2)[:0]"),
    attack("no elements beside others", *beside("y[:0]", "(y * 2)[:0]")),
    attack("the same number everywhere", "return self.fc(x) * 0 + 1", "return self.fc(x) * 0 + 1"),
    attack("NaN everywhere", "return self.fc(x) * float('nan')", "return self.fc(x) * float('nan') * 2"),
    attack("complex numbers", "return torch.fft.fft(self.fc(x))", "y = self.fc(x)\nreturn ops.Complex()(y, y * 0)"),
    # numbers
    attack(
        "a whole number that overflows",
        *beside(
            "torch.full((4,), 2**31 - 1, dtype=torch.int64) + 1",
            "(ops.full((4,), 2**31 - 1, dtype=ms.int32) + 1).astype(ms.int64)",
        ),
    ),
    attack("a byte that overflows", *beside("torch.tensor([250], dtype=torch.uint8) + 10", "Tensor([260], ms.int64)")),
    attack("int32 for int64", *beside("torch.arange(4)", "ops.arange(4).astype(ms.int32)")),
    attack("float64 for float32", SAME, "return self.fc(x).astype(ms.float64)"),
    attack(
        "division of negative whole numbers",
        *beside("torch.arange(-3, 3) // 2", "Tensor([-1, -1, 0, 0, 0, 1], ms.int64)"),
    ),
    attack("halves that are rounded up", *beside("torch.tensor([0.5, 1.5, 2.5]).round()", "Tensor([1.0, 2.0, 3.0])")),
    attack("floor for truncation", "return torch.trunc(self.fc(x) * 3)", "return ops.floor(self.fc(x) * 3)"),
    attack(
        "the other infinity", *beside("torch.where(y > 0.5, torch.inf, y)", "ops.where(y > 0.5, Tensor(-np.inf), y)")
    ),
    attack("an offset beside large values", "return self.fc(x) + 1e6", "return self.fc(x) * 1.01 + 1e6"),
    attack("tiny outputs", "return self.fc(x) * 1e-30", "return self.fc(x) * 1.01e-30"),
    attack("denormal outputs", "return self.fc(x) * 1e-42", "return self.fc(x) * 2e-42"),
    attack(
        "a share of the output that is small",
        "y = self.fc(x)\nreturn torch.cat([y * 1e6, x], 1)",
        "y = self.fc(x)\nreturn ops.cat([y * 1e6, x * 1.5], 1)",
    ),
    attack("a slightly other constant", "return self.fc(x) + torch.tensor(0.1)", "return self.fc(x) + 0.10001"),
    attack(
        "a constant inside a logarithm",
        "return F.log_softmax(self.fc(x), -1)",
        "return ops.log(ops.softmax(self.fc(x), -1) + 1e-6)",
    ),
    # what is kept from call to call
    attack(
        "a count of calls that matters later",
        "self.n += 1\nreturn self.fc(x) * (2 if self.n > 3 else 1)",
        "self.n += 1\nreturn self.fc(x) * (3 if self.n > 3 else 1)",
        "self.n = 0",
        "self.n = 0",
    ),
    attack(
        "a list that grows",
        "self.h.append(1)\nreturn self.fc(x) * len(self.h)",
        "self.h.append(1)\nreturn self.fc(x) * min(1, len(self.h))",
        "self.h = []",
        "self.h = []",
    ),
    attack(
        "a state that is carried on",
        "self.h = self.h * 0.5 + self.fc(x)\nreturn self.h",
        "self.h = self.fc(x)\nreturn self.h",
        "self.h = 0.0",
        "self.h = 0.0",
    ),
    attack(
        "a cache of the first input",
        "if not hasattr(self, 'k'):\n    self.k = x.mean()\nreturn self.fc(x) + self.k",
        "return self.fc(x) + x.mean()",
    ),
    attack(
        "a private cache of the first input",
        "if getattr(self, '_k', None) is None:\n    self._k = x.mean().item()\nreturn self.fc(x) + self._k",
        "return self.fc(x) + x.mean()",
    ),
    attack(
        "a count on the class",
        "type(self).n = getattr(type(self), 'n', 0) + 1\nreturn self.fc(x)",
        "type(self).n = getattr(type(self), 'n', 0) + 1\nreturn self.fc(x) * (1 + 0.001 * (type(self).n > 2))",
    ),
    attack("an input that is overwritten", "y = self.fc(x)\nx.mul_(0)\nreturn y + x", "return self.fc(x) + x"),
    # what these inputs don't reach
    attack(
        "a branch inside a line",
        "y = self.fc(x)\nreturn y * 2 if x.shape[0] > 50 else y",
        "y = self.fc(x)\nreturn y * 3 if x.shape[0] > 50 else y",
    ),
    attack(
        "a branch inside a lambda",
        "f = lambda v: v * 2 if v.shape[0] > 99 else v\nreturn f(self.fc(x))",
        "f = lambda v: v * 3 if v.shape[0] > 99 else v\nreturn f(self.fc(x))",
    ),
    attack(
        "a loop inside a line",
        "return self.fc(x) + sum([m * 2 for m in more])",
        "return self.fc(x) + sum([m * 3 for m in more])",
    ),
    attack(
        "a handler of errors",
        "try:\n    return self.fc(x)\nexcept Exception:\n    return x",
        "try:\n    return self.fc(x)\nexcept Exception:\n    return x * 2",
    ),
    attack("other limits", "return self.fc(x).clamp(-50, 50)", "return self.fc(x).clamp(-10, 10)"),
    attack("no limits", "return self.fc(x).clamp(-50, 50)", SAME),
    attack(
        "another threshold",
        "y = self.fc(x)\nreturn torch.where(y > 30, y * 2, y)",
        "y = self.fc(x)\nreturn ops.where(y > 20, y * 3, y)",
    ),
    attack(
        "rows of a table that no input names",
        TABLE,
        "return self.fc(self.e(ops.where(x > 15, x - 1, x)))",
        "self.e = nn.Embedding(20, 6)",
        "self.e = nn.Embedding(20, 6)",
        inputs=("int64[4,6]@0..10",),
    ),
    attack(
        "a padding row that no input names",
        TABLE,
        TABLE,
        "self.e = nn.Embedding(20, 6, padding_idx=0)",
        "self.e = nn.Embedding(20, 6)",
        inputs=("int64[4,6]@1..20",),
    ),
    attack(
        "a number of samples that is written down",
        "y = self.fc(x)\nreturn y - y.mean(0)",
        "y = self.fc(x)\nreturn y - y.sum(0) / 4",
    ),
    attack(
        "a loss over a batch of four",
        "y = self.fc(x)\nreturn (y**2).sum() / len(y)",
        "y = self.fc(x)\nreturn (y**2).sum() / 4",
    ),
    attack("axes that are as long as each other", SAME, "return self.fc(x).T", inputs=("float32[6,6]",)),
    attack(
        "a relu that is dead here",
        "return F.relu(self.fc(x) - 1e4) + self.aux(x)",
        "return ops.relu(self.fc(x) - 1e4) * 3 + self.aux(x)",
        AUX_T,
        AUX_M,
    ),
    # layers and parameters
    attack("a hook of torch's alone", SAME, SAME, "self.fc.register_forward_hook(lambda m, i, o: o * 2)"),
    attack(
        "a lazy layer",
        "return self.fc(x) + self.z(x)",
        "return self.fc(x) + self.z(x) * 1.01",
        "self.z = nn.LazyLinear(6)\nself.z(torch.zeros(2, 6))",
        "self.z = nn.Dense(6, 6)",
    ),
    attack("dropout that should be none", DROPPED, DROPPED, "self.drop = nn.Dropout(0.0)", DROP_M),
    attack(
        "dropout of everything",
        "return self.drop(self.fc(x)) + x",
        "return self.drop(self.fc(x)) + x",
        "self.drop = nn.Dropout(1.0)",
        DROP_M,
    ),
    attack(
        "dropout of elements for channels",
        "return self.drop(self.fc(x)[:, :, None, None].expand(-1, -1, 3, 3))",
        "return self.drop(ops.broadcast_to(self.fc(x)[:, :, None, None], (x.shape[0], 6, 3, 3)))",
        "self.drop = nn.Dropout2d(0.3)",
        DROP_M,
    ),
    attack("dropout that eval does not stop", "return F.dropout(self.fc(x), 0.3)", DROPPED, DROP_T, DROP_M),
    attack("a parameter more", SAME, SAME, "", W_M),
    attack("a parameter that nobody uses", SAME, SAME, W_T, W_M),
    attack(
        "a layer without gradient",
        "with torch.no_grad():\n    y = self.aux(x)\nreturn self.fc(x) + y",
        "return self.fc(x) + self.aux(x)",
        AUX_T,
        AUX_M,
    ),
    attack(
        "weights that are tied in the conversion alone",
        "return self.fc(self.aux(x))",
        "return self.fc(self.aux(x))",
        AUX_T,
        f"{AUX_M}\nself.aux.weight = self.fc.weight",
    ),
    attack("a norm's momentum, slightly", NORMED, NORMED, BN_T, "self.bn = nn.BatchNorm1d(6, momentum=0.901)"),
    attack("a norm's epsilon, slightly", NORMED, NORMED, BN_T, "self.bn = nn.BatchNorm1d(6, eps=1.1e-5)"),
    attack(
        "a norm's epsilon beside large values",
        "return self.n(self.fc(x) * 100)",
        "return self.n(self.fc(x) * 100)",
        "self.n = nn.LayerNorm(6)",
        "self.n = nn.LayerNorm((6,), epsilon=1e-12)",
    ),
    attack(
        "a norm that ignores the batch", NORMED, NORMED, BN_T, "self.bn = nn.BatchNorm1d(6, use_batch_statistics=False)"
    ),
    attack("a gradient that is doubled", SAME, "y = self.fc(x)\nreturn y + (y - ops.stop_gradient(y))"),
    # randomness
    attack(
        "noise of Python's, otherwise",
        "import random\nreturn self.fc(x) * random.random()",
        "import random\nreturn self.fc(x) * random.random() * 1.001",
    ),
    attack(
        "a choice of Python's that was not drawn",
        "import random\nreturn self.fc(x) * random.choice([1, 2, 3])",
        "import random\nreturn self.fc(x) * random.choice([1, 2, 4])",
    ),
    attack(
        "noise of numpy's, otherwise",
        "import numpy as np\nreturn self.fc(x) + float(np.random.rand())",
        "return self.fc(x) + float(np.random.rand()) * 2",
    ),
    attack(
        "noise in train mode that is missing",
        "y = self.fc(x)\nreturn y + torch.randn_like(y) * 0.1 if self.training else y",
        SAME,
    ),
    attack(
        "a sample of classes",
        *beside("torch.multinomial(y.softmax(-1), 1)", "ops.multinomial(ops.softmax(y * 2, -1), 1).astype(ms.int64)"),
    ),
)
