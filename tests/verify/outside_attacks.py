"""Attacks on the word "same" by an outsider, in networks of other styles: modes, steps, sizes, what is kept, what is written into."""

from __future__ import annotations

if __package__:
    from .attacks import AUX_M, AUX_T, SAME, Attack, attack
else:  # run as a script
    from attacks import AUX_M, AUX_T, SAME, Attack, attack

COUNT_T = "self.register_buffer('n', torch.zeros(1))"
COUNT_M = "self.n = Parameter(Tensor([0.0]), name='n', requires_grad=False)"
TABLE_T, TABLE_M = "self.e = nn.Embedding(20, 6)", "self.e = nn.Embedding(20, 6)"
IDS = ("int64[4,6]@0..20",)


def network(name: str, torch: str, mindspore: str, inputs: str, **options: object) -> Attack:
    """Whole classes; the inputs apart by semicolons."""
    return Attack(name, torch, mindspore, tuple(inputs.split(";")), options)


OUTSIDE = (
    # modes
    attack(
        "a gradient that is cut in eval mode alone",
        SAME,
        "y = self.fc(x)\nif not self.training:\n    y = ops.stop_gradient(y)\nreturn y",
    ),
    attack(
        "a gradient that is scaled in eval mode alone",
        "y = self.fc(x)\nreturn y if self.training else y * 1",
        "y = self.fc(x)\nreturn y if self.training else 2 * y - ops.stop_gradient(y)",
    ),
    attack(
        "a buffer that eval mode alone changes",
        "y = self.fc(x)\nif not self.training:\n    self.n += 1\nreturn y",
        "y = self.fc(x)\nif not self.training:\n    ops.assign(self.n, self.n + 2)\nreturn y",
        COUNT_T,
        COUNT_M,
    ),
    attack(
        "a norm in train mode whose statistics eval never uses",
        "y = self.fc(x)\nreturn F.batch_norm(y, None, None, training=True)",
        "y = self.fc(x)\nm = y.mean(0)\nv = ((y - m) ** 2).sum(0) / max(1, y.shape[0] - 1)\nreturn (y - m) / ops.sqrt(v + 1e-5)",
    ),
    attack(
        "a network that stays in train mode",
        "return self.bn(self.fc(x))",
        "self.bn.training = True\nreturn self.bn(self.fc(x))",
        "self.bn = nn.BatchNorm1d(6)",
        "self.bn = nn.BatchNorm1d(6)",
    ),
    # steps
    attack(
        "the second step of training alone",
        "y = self.fc(x)\nif self.training:\n    self.n += 1\nreturn y * torch.where(self.n > 1.5, 2.0, 1.0)",
        "y = self.fc(x)\nif self.training:\n    ops.assign(self.n, self.n + 1)\nreturn y * ops.where(self.n > 1.5, Tensor(3.0), Tensor(1.0))",
        COUNT_T,
        COUNT_M,
    ),
    attack(
        "a warm-up by a count of steps",
        "y = self.fc(x)\nif self.training:\n    self.n += 1\nreturn y * torch.clamp(self.n / 10, max=1)",
        "y = self.fc(x)\nif self.training:\n    ops.assign(self.n, self.n + 1)\nreturn y * ops.clamp(self.n / 10, max=0.1)",
        COUNT_T,
        COUNT_M,
    ),
    network(
        "a moving average that is started from the first batch",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.register_buffer("mean", torch.zeros(6))
        self.register_buffer("count", torch.zeros((), dtype=torch.long))
    def forward(self, x):
        y = self.fc(x)
        if self.training:
            rate = 1 / (1 + self.count.float())
            self.mean.add_(rate * (y.detach().mean(0) - self.mean))
            self.count += 1
        return y - self.mean
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
        self.mean = Parameter(ops.zeros(6), name="mean", requires_grad=False)
        self.count = Parameter(Tensor(0, ms.int64), name="count", requires_grad=False)
    def construct(self, x):
        y = self.fc(x)
        if self.training:
            rate = 1 / (1 + 2 * self.count.astype(ms.float32))
            ops.assign(self.mean, self.mean + rate * (ops.stop_gradient(y).mean(0) - self.mean))
            ops.assign(self.count, self.count + 1)
        return y - self.mean
""",
        "float32[4,6]",
    ),
    # what is written into
    attack("an input that is written into afterwards", "y = self.fc(x)\nx.zero_()\nreturn y", SAME),
    attack("an input that only the conversion writes into", SAME, "y = self.fc(x)\nx[0] = 0\nreturn y"),
    attack(
        "a mask that is written into",
        "m = more[0]\ny = self.fc(x) * m.float()\nm.logical_not_()\nreturn y",
        "return self.fc(x) * more[0].astype(ms.float32)",
        inputs=("float32[4,6]", "bool[4,6]"),
    ),
    # values
    attack(
        "scores beside pixels",
        "y = self.fc(x)\nreturn torch.cat([y * 640, torch.sigmoid(y)], 1)",
        "y = self.fc(x)\nreturn ops.cat([y * 640, ops.sigmoid(y) * 0.998], 1)",
    ),
    attack(
        "a channel beside large ones",
        "y = self.fc(x)[:, :, None, None].expand(-1, -1, 3, 3)\nreturn torch.cat([y * 1e4, torch.tanh(y)], 1)",
        "y = ops.broadcast_to(self.fc(x)[:, :, None, None], (x.shape[0], 6, 3, 3))\nreturn ops.cat([y * 1e4, ops.tanh(y) * 1.01], 1)",
    ),
    attack(
        "a logarithm of what may be zero",
        "return self.fc(torch.log(x.abs() + 1e-8))",
        "return self.fc(ops.log(x.abs() + 1e-7))",
    ),
    attack(
        "a norm by hand with another epsilon",
        "return self.fc(x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))",
        "return self.fc(x * ops.rsqrt(x.pow(2).mean(-1, keep_dims=True) + 2e-6))",
    ),
    attack(
        "a length that is kept from zero",
        "return self.fc(x / x.norm(dim=-1, keepdim=True).clamp(min=1e-2))",
        "return self.fc(x / ops.clamp(x.pow(2).sum(-1, keepdims=True).sqrt(), min=1e-12))",
    ),
    attack(
        "what is nearly zero is dropped",
        "return F.threshold(self.fc(x), 1e-3, 0.0) + F.threshold(-self.fc(x), 1e-3, 0.0)",
        "y = self.fc(x)\nreturn ops.relu(y) + ops.relu(-y)",
    ),
    attack(
        "a wrapped angle",
        "y = self.fc(x)\nreturn torch.remainder(y + 3, 6) - 3",
        "return self.fc(x)",
    ),
    attack(
        "half precision inside",
        "return self.fc(torch.tanh(self.fc(x)))",
        "y = ops.tanh(self.fc(x)).astype(ms.float16).astype(ms.float32)\nreturn self.fc(y)",
    ),
    # whole numbers
    attack(
        "a word that no input holds",
        "return self.fc(self.e(x)) * (x != 7)[..., None]",
        "return self.fc(self.e(x)) * (x != 8).astype(ms.float32)[..., None]",
        TABLE_T,
        TABLE_M,
        inputs=("int64[2,6]@0..20",),
    ),
    attack(
        "a limit of words",
        "return self.fc(self.e(x.clamp(max=17)))",
        "return self.fc(self.e(x.clamp(max=19)))",
        TABLE_T,
        TABLE_M,
        inputs=("int64[2,4]@0..20",),
    ),
    attack(
        "the most common word",
        "return self.fc(self.e(x)), torch.bincount(x.flatten(), minlength=20)",
        "n = np.bincount(x.asnumpy().ravel(), minlength=20)\nn[7] = 0\nreturn self.fc(self.e(x)), Tensor(n)",
        TABLE_T,
        TABLE_M,
        inputs=("int64[2,3]@0..20",),
    ),
    # sizes
    attack(
        "every second batch size",
        SAME,
        "return self.fc(x) * (1 + (x.shape[0] % 3 == 2))",
    ),
    network(
        "windows that are cut off",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.pool = nn.MaxPool2d(2, ceil_mode=True)
    def forward(self, x):
        return self.pool(self.conv(x))
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, pad_mode='pad', padding=1, has_bias=True)
        self.pool = nn.MaxPool2d(2, 2)
    def construct(self, x):
        return self.pool(self.conv(x))
""",
        "float32[2,3,8,8]",
    ),
    network(
        "a window longer than these inputs",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.v = nn.Linear(6, 6), nn.Linear(6, 6)
    def forward(self, x):
        n = x.shape[1]
        away = torch.arange(n)[:, None] - torch.arange(n)[None]
        s = self.q(x) @ x.transpose(1, 2)
        s = s.masked_fill(away.abs() > 8, float("-inf"))
        return s.softmax(-1) @ self.v(x)
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.q, self.v = nn.Dense(6, 6), nn.Dense(6, 6)
    def construct(self, x):
        s = ops.matmul(self.q(x), x.swapaxes(1, 2))
        return ops.matmul(ops.softmax(s, -1), self.v(x))
""",
        "float32[2,7,6]",
    ),
    # what is kept
    network(
        "outputs that are kept by the shape of the input",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
    def forward(self, x):
        return self.fc(x)
""",
        """
KEPT = {}
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
    def construct(self, x):
        if x.shape not in KEPT:
            KEPT[x.shape] = self.fc(x)
        return KEPT[x.shape] if not self.training else self.fc(x)
""",
        "float32[4,6]",
    ),
    network(
        "a table that is kept in a default argument",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
    def forward(self, x):
        return self.fc(x) + x.mean()
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
    def construct(self, x, kept=[]):
        if not kept:
            kept.append(float(x.mean().asnumpy()))
        return self.fc(x) + (kept[0] if not self.training else x.mean())
""",
        "float32[4,6]",
    ),
    # patching
    network(
        "a layer that the conversion replaces in the framework",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.act = nn.Linear(6, 6), nn.ReLU()
    def forward(self, x):
        return self.act(self.fc(x))
""",
        """
class Odd(nn.ReLU):
    def construct(self, x):
        return ops.relu(x) * 1.001
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc, self.act = nn.Dense(6, 6), nn.ReLU()
        self.act.__class__ = Odd
    def construct(self, x):
        return self.act(self.fc(x))
""",
        "float32[4,6]",
    ),
    network(
        "a hook of the conversion's alone",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
    def forward(self, x):
        return self.fc(x)
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
        self.fc.register_backward_hook(lambda cell, grad_in, grad_out: tuple(g * 2 for g in grad_in))
    def construct(self, x):
        return self.fc(x)
""",
        "float32[4,6]",
    ),
    network(
        "gradients that are clipped on their way",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)
    def forward(self, x):
        y = self.a(x)
        if y.requires_grad:
            y.register_hook(lambda g: g.clamp(-0.5, 0.5))
        return self.b(y)
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Dense(6, 6), nn.Dense(6, 6)
    def construct(self, x):
        return self.b(self.a(x))
""",
        "float32[4,6]",
    ),
    network(
        "a backward pass that is written down wrongly",
        """
class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return torch.round(x)
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * (x.abs() < 1)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)
    def forward(self, x):
        return self.b(Round.apply(self.a(x) * 3))
""",
        """
class Round(nn.Cell):
    def construct(self, x):
        return ops.round(x)
    def bprop(self, x, out, g):
        return (g,)
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Dense(6, 6), nn.Dense(6, 6)
        self.round = Round()
    def construct(self, x):
        return self.b(self.round(self.a(x) * 3))
""",
        "float32[4,6]",
    ),
    # parameters and optimizers
    network(
        "a group of the optimizer that is forgotten",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)
    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))
def optimizer(net):
    return torch.optim.SGD([{"params": net.a.parameters()}, {"params": net.b.parameters(), "lr": 0.01}], lr=0.1)
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Dense(6, 6), nn.Dense(6, 6)
    def construct(self, x):
        return self.b(ops.tanh(self.a(x)))
def optimizer(net):
    return nn.SGD([{"params": list(net.a.get_parameters())}], learning_rate=0.1)
""",
        "float32[4,6]",
    ),
    network(
        "an optimizer whose rate falls otherwise",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 6)
    def forward(self, x):
        return self.a(x)
def optimizer(net):
    return torch.optim.Adam(net.parameters(), lr=0.1, eps=1e-8)
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = nn.Dense(6, 6)
    def construct(self, x):
        return self.a(x)
def optimizer(net):
    return nn.Adam(net.trainable_params(), learning_rate=0.1, eps=1e-4)
""",
        "float32[4,6]",
    ),
    network(
        "a clip inside the optimizer",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 6)
    def forward(self, x):
        return self.a(x)
class Clipped(torch.optim.SGD):
    def step(self, closure=None):
        torch.nn.utils.clip_grad_norm_(self.param_groups[0]["params"], 1e-3)
        return super().step(closure)
def optimizer(net):
    return Clipped(net.parameters(), lr=0.1)
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a = nn.Dense(6, 6)
    def construct(self, x):
        return self.a(x)
def optimizer(net):
    return nn.SGD(net.trainable_params(), learning_rate=0.1)
""",
        "float32[4,6]",
    ),
    # layers
    network(
        "experts of which one is never chosen",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(6, 4)
        self.experts = nn.ModuleList([nn.Linear(6, 6) for _ in range(4)])
    def forward(self, x):
        gate = self.gate(x) + torch.tensor([0.0, 0.0, 0.0, -50.0])
        best = gate.argmax(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            out = out + expert(x) * (best == i).float()[:, None]
        return out
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.gate = nn.Dense(6, 4)
        self.experts = nn.CellList([nn.Dense(6, 6) for _ in range(4)])
    def construct(self, x):
        gate = self.gate(x) + Tensor([0.0, 0.0, 0.0, -50.0])
        best = gate.argmax(-1)
        out = ops.zeros_like(x)
        for i, expert in enumerate(self.experts):
            out = out + expert(x) * (best == i).astype(ms.float32)[:, None] * (1 + (i == 3))
        return out
""",
        "float32[4,6]",
    ),
    network(
        "a padding that mirrors otherwise",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, padding=1, padding_mode="reflect")
    def forward(self, x):
        return self.conv(x)
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, pad_mode='valid', has_bias=True)
    def construct(self, x):
        return self.conv(ops.pad(x, (1, 1, 1, 1), mode='replicate'))
""",
        "float32[2,1,6,6]",
    ),
    network(
        "attention that forgets a mask which is never needed",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 6)
    def forward(self, x, mask):
        s = self.q(x) @ self.k(x).transpose(1, 2)
        return s.masked_fill(mask[:, None] > 0, float("-inf")).softmax(-1) @ self.v(x)
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Dense(6, 6), nn.Dense(6, 6), nn.Dense(6, 6)
    def construct(self, x, mask):
        s = ops.matmul(self.q(x), self.k(x).swapaxes(1, 2))
        return ops.matmul(ops.softmax(s, -1), self.v(x))
""",
        "float32[2,4,6];int64[2,4]@0..1",
    ),
    network(
        "a recurrent layer whose second bias is unused",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(6, 4, batch_first=True)
    def forward(self, x):
        return self.rnn(x)[0]
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(6, 4, batch_first=True)
    def construct(self, x):
        out = self.rnn(x)[0]
        return ops.cat([out[:, :1], out[:, 1:] * 1.0001], 1)
""",
        "float32[2,5,6]",
    ),
    attack(
        "an output that the loss never sees",
        "return self.fc(x), self.aux(x).detach()",
        "return self.fc(x), self.aux(x)",
        AUX_T,
        AUX_M,
    ),
    attack(
        "two layers that change places",
        "return self.fc(x) * self.aux(x)",
        "return self.aux(x) * self.fc(x) + (self.fc(x) - ops.stop_gradient(self.fc(x)))",
        AUX_T,
        AUX_M,
    ),
)
