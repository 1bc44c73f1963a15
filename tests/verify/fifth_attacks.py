"""Attacks on the word "same", fifth set: how weights start, methods beside forward, numbers that are computed, draws, groups, borders."""

from __future__ import annotations

if __package__:
    from .attacks import SAME, Attack, attack
    from .behaviour_attacks import headed, optimized, returned
    from .outside_attacks import network
else:  # run as a script
    from attacks import SAME, Attack, attack
    from behaviour_attacks import headed, optimized, returned
    from outside_attacks import network

BIG_T, BIG_M = "self.big = nn.Linear(6, 64)", "self.big = nn.Dense(6, 64)"
THROUGH_T, THROUGH_M = "return self.big(self.fc(x))", "return self.big(self.fc(x))"
LABELS = ("float32[4,6]", "int64[4]@0..6")
STEPPED = "self.epoch = 0"
BUFFER_T = "self.register_buffer('n', torch.zeros(()))"
BUFFER_M = "self.n = Parameter(Tensor(0.0), name='n', requires_grad=False)"


def started(name: str, theirs: str, ours: str) -> Attack:
    """A wider layer that starts otherwise."""
    head = "from mindspore.common.initializer import initializer, Normal, Uniform, XavierUniform, HeNormal\n"
    plain = attack(name, THROUGH_T, THROUGH_M, f"{BIG_T}\n{theirs}", f"{BIG_M}\n{ours}")
    return Attack(name, plain.torch, head + plain.mindspore)


def set_data(value: str) -> str:
    return f"self.big.weight.set_data(initializer({value}, (64, 6), ms.float32))"


def with_method(name: str, theirs: str, ours: str, forward: str = SAME, **rest: str) -> Attack:
    """A method beside forward."""
    plain = attack(name, forward, forward, rest.get("init_t", ""), rest.get("init_m", ""))
    return Attack(name, plain.torch + theirs, plain.mindspore + ours)


def method(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


FIFTH = (
    # how weights start
    started(
        "a spread of the first weights", "nn.init.normal_(self.big.weight, std=0.02)", set_data("Normal(sigma=0.2)")
    ),
    started(
        "fan out for fan in",
        "nn.init.kaiming_normal_(self.big.weight, mode='fan_out')",
        set_data("HeNormal(mode='fan_in')"),
    ),
    started(
        "a gain of the first weights",
        "nn.init.xavier_uniform_(self.big.weight, gain=1.0)",
        set_data("XavierUniform(gain=1.6)"),
    ),
    started("evenly drawn for normally", "nn.init.normal_(self.big.weight, std=0.1)", set_data("Uniform(0.1732)")),
    started(
        "a mean of the first weights",
        "nn.init.normal_(self.big.weight, mean=0.0, std=0.1)",
        set_data("Normal(sigma=0.1, mean=0.1)"),
    ),
    started("weights that all start alike", "nn.init.normal_(self.big.weight, std=0.1)", set_data("'ones'")),
    started(
        "zeros for what is drawn", "nn.init.uniform_(self.big.bias, -0.1, 0.1)", "self.big.bias.set_data(ops.zeros(64))"
    ),
    # methods beside forward
    with_method(
        "a method that encodes",
        method("def encode(self, x):\n    return torch.relu(self.fc(x))"),
        method("def encode(self, x):\n    return ops.tanh(self.fc(x))"),
    ),
    with_method(
        "a method that samples",
        method(
            "@torch.no_grad()\ndef generate(self, x, steps=3):\n    for _ in range(steps):\n        x = self(x)\n    return x"
        ),
        method("def generate(self, x, steps=3):\n    for _ in range(steps + 1):\n        x = self(x)\n    return x"),
    ),
    with_method(
        "a method for the loss",
        method("def loss(self, x, y):\n    return F.mse_loss(self(x), y)"),
        method("def loss(self, x, y):\n    return ops.square(self(x) - y).sum()"),
    ),
    with_method(
        "a method that freezes",
        method("def freeze(self):\n    self.fc.weight.requires_grad_(False)"),
        method("def freeze(self):\n    self.fc.bias.requires_grad = False"),
    ),
    attack(
        "an attribute that a loop sets",
        "y = self.fc(x)\nreturn y * 2 if self.epoch > 3 else y",
        "y = self.fc(x)\nreturn y * 4 if self.epoch > 3 else y",
        STEPPED,
        STEPPED,
    ),
    with_method(
        "a property that callers read",
        method("@property\ndef width(self):\n    return self.fc.out_features * 2"),
        method("@property\ndef width(self):\n    return self.fc.out_channels * 3"),
    ),
    # numbers that are computed
    attack(
        "a limit that is computed", "return self.fc(x).clamp(max=2 ** 30)", "return ops.clamp(self.fc(x), max=2 ** 13)"
    ),
    attack(
        "an epsilon that is computed",
        "y = self.fc(x)\nreturn y / (y.norm(dim=-1, keepdim=True) + 10 ** -12)",
        "y = self.fc(x)\nreturn y / (ops.sqrt((y * y).sum(-1, keepdims=True)) + 10 ** -7)",
    ),
    attack(
        "an epsilon that is a text",
        "y = self.fc(x)\nreturn y.clamp(min=float('-1e9'))",
        "y = self.fc(x)\nreturn ops.clamp(y, min=float('-1e3'))",
    ),
    headed(
        "an epsilon in a table of settings",
        "CFG = {'eps': 1e-12}\n",
        "y = self.fc(x)\nreturn y / (y.norm(dim=-1, keepdim=True) + CFG['eps'])",
        "y = self.fc(x)\nreturn y / (ops.sqrt((y * y).sum(-1, keepdims=True)) + CFG['eps'])",
        "CFG = {'eps': 1e-7}\n",
    ),
    headed(
        "an epsilon in a default of a function",
        "def unit(y, eps=1e-12):\n    return y / (y.norm(dim=-1, keepdim=True) + eps)\n",
        "return unit(self.fc(x))",
        "return unit(self.fc(x))",
        "def unit(y, eps=1e-7):\n    return y / (ops.sqrt((y * y).sum(-1, keepdims=True)) + eps)\n",
    ),
    headed(
        "a limit of a class",
        "class Limits:\n    most = 1e8\n",
        "return self.fc(x).clamp(max=Limits.most)",
        "return ops.clamp(self.fc(x), max=Limits.most)",
        "class Limits:\n    most = 9e3\n",
    ),
    headed(
        "a limit in a record",
        "from types import SimpleNamespace\nOPTIONS = SimpleNamespace(most=1e8)\n",
        "return self.fc(x).clamp(max=OPTIONS.most)",
        "return ops.clamp(self.fc(x), max=OPTIONS.most)",
        "from types import SimpleNamespace\nOPTIONS = SimpleNamespace(most=9e3)\n",
    ),
    # attributes that are used in part
    attack(
        "rows of a plain tensor that no input needs",
        "return self.fc(x) + self.table[: x.shape[0], None]",
        "return self.fc(x) + self.table[: x.shape[0], None]",
        "self.table = torch.arange(500.0)",
        "self.table = Tensor(np.minimum(np.arange(500), 300), ms.float32)",
    ),
    attack(
        "rows of an array that no input needs",
        "return self.fc(x) + float(self.table[x.shape[0]])",
        "return self.fc(x) + float(self.table[x.shape[0]])",
        "import numpy as np\nself.table = np.arange(500.0)",
        "self.table = np.minimum(np.arange(500.0), 300)",
    ),
    attack(
        "entries of a list that no input needs",
        "return self.fc(x) * self.rates[min(x.shape[0] // 50, 2)]",
        "return self.fc(x) * self.rates[min(x.shape[0] // 50, 2)]",
        "self.rates = [1.0, 0.5, 0.25]",
        "self.rates = [1.0, 0.5, 0.125]",
    ),
    # borders and what no input holds
    attack(
        "a border that belongs to the other side",
        "return self.fc(x) * (x > 0.5).float()",
        "return self.fc(x) * (x >= 0.5).astype(ms.float32)",
    ),
    attack(
        "a batch without a sample",
        "return self.fc(x).sum(0) / x.shape[0]",
        "return self.fc(x).sum(0) / max(1, x.shape[0])",
    ),
    attack(
        "a label that is ignored",
        "return F.cross_entropy(self.fc(x), more[0])",
        "p = ops.log_softmax(self.fc(x), -1)\nreturn -ops.gather_elements(p, 1, more[0][:, None]).mean()",
        inputs=LABELS,
    ),
    attack(
        "a mean over the labels that count",
        "return F.cross_entropy(self.fc(x), more[0], ignore_index=-1)",
        "y = more[0]\np = ops.log_softmax(self.fc(x), -1)\nm = (y != -1).astype(ms.float32)\n"
        "return -(ops.gather_elements(p, 1, ops.relu(y)[:, None])[:, 0] * m).mean()",
        inputs=LABELS,
    ),
    attack(
        "infinite inputs",
        "return self.fc(torch.nan_to_num(x, posinf=1.0))",
        "return self.fc(ops.nan_to_num(x, 0.0, 2.0, -3.4028235e38))",
    ),
    attack(
        "the remainder of negative numbers",
        "return self.fc((x[:, :6] * 3).float() % 2)",
        "return self.fc(ops.fmod(x * 3, Tensor(2.0)))",
    ),
    # draws
    attack(
        "noise that is drawn evenly",
        "y = self.fc(x)\nreturn y + 0.1 * torch.randn_like(y) if self.training else y",
        "y = self.fc(x)\nreturn y + 0.1 * ops.rand_like(y) if self.training else y",
    ),
    attack(
        "a range of whole numbers that are drawn",
        "y = self.fc(x)\nreturn y + torch.randint(0, 5, (1,)) if self.training else y",
        "y = self.fc(x)\nreturn y + ops.randint(0, 9, (1,)) if self.training else y",
    ),
    headed(
        "a share of a mixture",
        "import numpy as np\n",
        "y = self.fc(x)\nreturn y * np.random.beta(1.0, 1.0) if self.training else y",
        "y = self.fc(x)\nreturn y * np.random.beta(0.2, 0.2) if self.training else y",
    ),
    headed(
        "a range of Python's numbers",
        "import random\n",
        "y = self.fc(x)\nreturn y * random.uniform(0.8, 1.2) if self.training else y",
        "y = self.fc(x)\nreturn y * random.uniform(0.5, 1.5) if self.training else y",
    ),
    attack(
        "draws from a generator of its own",
        "y = self.fc(x)\nreturn y + torch.randn(6, generator=self.g) * 0.1 if self.training else y",
        "y = self.fc(x)\nreturn y + Tensor(self.g.randn(6) * 0.5, ms.float32) if self.training else y",
        "self.g = torch.Generator().manual_seed(3)",
        "self.g = np.random.RandomState(3)",
    ),
    # optimizers
    optimized(
        "a rate of one group",
        "SGD([{'params': [model.fc.weight], 'lr': 0.1}, {'params': [model.fc.bias], 'lr': 0.01}], lr=0.1)",
        "SGD([{'params': [model.fc.weight], 'lr': 0.1}, {'params': [model.fc.bias], 'lr': 0.1}], learning_rate=0.1)",
    ),
    optimized(
        "gradients that are climbed",
        "SGD(model.parameters(), lr=0.1, maximize=True)",
        "SGD(model.trainable_params(), learning_rate=0.1)",
    ),
    optimized(
        "a second beta",
        "Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98))",
        "Adam(model.trainable_params(), learning_rate=1e-3)",
    ),
    optimized(
        "a small decay",
        "AdamW(model.parameters(), lr=1e-3, weight_decay=1e-4)",
        "AdamWeightDecay(model.trainable_params(), learning_rate=1e-3, weight_decay=0.0)",
    ),
    optimized(
        "an accumulator that starts otherwise",
        "Adagrad(model.parameters(), lr=0.1, initial_accumulator_value=0.0)",
        "Adagrad(model.trainable_params(), learning_rate=0.1, accum=0.1)",
    ),
    optimized(
        "a warm rate that decays inside",
        "Adagrad(model.parameters(), lr=0.1, lr_decay=0.01)",
        "Adagrad(model.trainable_params(), learning_rate=0.1, accum=1e-10)",
    ),
    # modes and the gradient's surroundings
    attack(
        "whether gradients are taken",
        "y = self.fc(x)\nreturn y * 2 if torch.is_grad_enabled() else y",
        "return self.fc(x) * 2",
    ),
    attack("an input that wants its gradient", "return self.fc(x) * (2 if x.requires_grad else 1)", SAME),
    attack(
        "a network that is not on a leaf",
        "y = self.fc(x)\nreturn y * (1 if y.is_contiguous() else 2)",
        "return self.fc(x)",
    ),
    attack(
        "a gradient that takes another way",
        "y = self.fc(x)\nreturn y * y.sum()",
        "y = self.fc(x)\nreturn 2 * ops.stop_gradient(y) * y.sum() - y * ops.stop_gradient(y.sum()) + (y - ops.stop_gradient(y)) * y.sum()",
    ),
    attack(
        "a moving share that ends later",
        "y = self.fc(x)\nif self.training:\n    self.n += 1\nreturn y * torch.clamp(self.n / 100, max=1.0)",
        "y = self.fc(x)\nif self.training:\n    ops.assign(self.n, self.n + 1)\nreturn y * self.n / 100",
        BUFFER_T,
        BUFFER_M,
    ),
    # outputs
    returned("a text of the values", "(y, f'{float(y.sum()):.4f}')", "(y, f'{float(y.sum()):.1f}')"),
    returned(
        "a method of what is returned",
        "Out(y)",
        "Out(y)",
        "class Out:\n    def __init__(self, y):\n        self.y = y\n    def loss(self):\n        return self.y.mean()\n",
        "class Out:\n    def __init__(self, y):\n        self.y = y\n    def loss(self):\n        return self.y.sum()\n",
    ),
    returned(
        "a distribution",
        "torch.distributions.Normal(y, y.exp())",
        "Normal(y, ops.exp(y))",
        "",
        "class Normal:\n    def __init__(self, loc, scale):\n        self.loc, self.scale = loc, scale\n"
        "    def log_prob(self, v):\n        return -((v - self.loc) / self.scale) ** 2\n",
    ),
    network(
        "arguments in another order",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
    def forward(self, x, mask=None, scale=None):
        y = self.fc(x)
        if mask is not None:
            y = y * mask
        if scale is not None:
            y = y + scale
        return y
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
    def construct(self, x, scale=None, mask=None):
        y = self.fc(x)
        if mask is not None:
            y = y * mask
        if scale is not None:
            y = y + scale
        return y
""",
        "x=float32[4,6];mask=float32[4,6];scale=float32[4,6]",
    ),
)


def classed(name: str, theirs: str, ours: str, forward_t: str, forward_m: str) -> Attack:
    """With a line in the body of the class."""
    plain = attack(name, forward_t, forward_m)
    texts = (
        plain.torch.replace("):\n", f"):\n    {theirs}\n", 1),
        plain.mindspore.replace("):\n", f"):\n    {ours}\n", 1),
    )
    return Attack(name, *texts)


CFG = "from dataclasses import dataclass\n@dataclass\nclass Cfg:\n    eps: float = {}\n"
UNIT_T = "y = self.fc(x)\nreturn y / (y.norm(dim=-1, keepdim=True) + {})"
UNIT_M = "y = self.fc(x)\nreturn y / (ops.sqrt((y * y).sum(-1, keepdims=True)) + {})"
KEPT = "return self.f(self.fc(x))"
LATER = (  # written when the others were mended; of twelve, these six and one more were called same
    classed(
        "a limit on the class of the network",
        "MOST = 1e8",
        "MOST = 9e3",
        "return self.fc(x).clamp(max=self.MOST)",
        "return ops.clamp(self.fc(x), max=self.MOST)",
    ),
    attack(
        "a limit in a function of an attribute",
        KEPT,
        KEPT,
        "self.f = lambda y, most=1e8: y.clamp(max=most)",
        "self.f = lambda y, most=9e3: ops.clamp(y, max=most)",
    ),
    headed(
        "a limit in a partial function",
        "from functools import partial\n",
        KEPT,
        KEPT,
        init_t="self.f = partial(torch.clamp, max=1e8)",
        init_m="self.f = partial(ops.clamp, max=9e3)",
    ),
    headed(
        "an epsilon in a record of settings",
        CFG.format("1e-12"),
        UNIT_T.format("self.cfg.eps"),
        UNIT_M.format("self.cfg.eps"),
        CFG.format("1e-7"),
        init_t="self.cfg = Cfg()",
        init_m="self.cfg = Cfg()",
    ),
    attack(
        "an epsilon in a dictionary of settings",
        UNIT_T.format("self.cfg['eps']"),
        UNIT_M.format("self.cfg['eps']"),
        "self.cfg = {'eps': 1e-12}",
        "self.cfg = {'eps': 1e-7}",
    ),
    attack("what is not equal to itself", "return self.fc(torch.where(x != x, torch.zeros_like(x), x))", SAME),
)
FIFTH = (*FIFTH, *LATER)
