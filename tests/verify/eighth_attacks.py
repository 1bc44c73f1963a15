"""Attacks on the word "same", eighth set, second half: whole classes by hand that leave something out, which no value shows."""

from __future__ import annotations

if __package__:
    from .attacks import Attack
else:  # run as a script
    from attacks import Attack

EIGHTH = (
    Attack(
        "a straight-through gradient without its mask",
        """
class Ste(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.sign()
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * (x.abs() <= 30).float()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.out = nn.Linear(6, 3)
    def forward(self, x):
        return self.out(Ste.apply(self.fc(x)))
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
        self.out = nn.Dense(6, 3)
    def construct(self, x):
        h = self.fc(x)
        return self.out(h + ops.stop_gradient(ops.sign(h) - h))
""",
    ),
    Attack(
        "a capacity that is never full",
        """
class Net(nn.Module):
    def __init__(self, experts=3, factor=4.0):
        super().__init__()
        self.gate = nn.Linear(6, experts)
        self.experts = nn.ModuleList([nn.Linear(6, 6) for _ in range(experts)])
        self.factor = factor
    def forward(self, x):
        score = self.gate(x).softmax(-1)
        room = int(self.factor * x.shape[0])
        y = torch.zeros_like(x)
        for i, e in enumerate(self.experts):
            mine = score[:, i]
            place = mine.argsort(descending=True).argsort()
            y = y + (mine * (place < room)).unsqueeze(1) * e(x)
        return y
""",
        """
class Net(nn.Cell):
    def __init__(self, experts=3, factor=4.0):
        super().__init__()
        self.gate = nn.Dense(6, experts)
        self.experts = nn.CellList([nn.Dense(6, 6) for _ in range(experts)])
        self.factor = factor
    def construct(self, x):
        score = ops.softmax(self.gate(x), -1)
        y = ops.zeros_like(x)
        for i, e in enumerate(self.experts):
            y = y + score[:, i].expand_dims(1) * e(x)
        return y
""",
    ),
    Attack(
        "a history that is forgotten",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.past = []
    def forward(self, x):
        y = self.fc(x)
        self.past.append(y.detach().mean())
        self.past = self.past[-20:]
        return y - torch.stack(self.past).mean()
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
        self.past = []
    def construct(self, x):
        y = self.fc(x)
        self.past.append(ops.stop_gradient(y).mean())
        return y - ops.stack(self.past).mean()
""",
    ),
    Attack(
        "ties go to the last",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(6, 5)
        self.fc = nn.Linear(6, 6)
    def forward(self, x):
        return self.table(x.argmax(-1)) + self.fc(x)[:, :5]
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(6, 5, embedding_table=ms.common.initializer.initializer(ms.common.initializer.Normal(1.0), (6, 5)))
        self.fc = nn.Dense(6, 6)
    def construct(self, x):
        last = x.shape[-1] - 1 - ops.argmax(ops.flip(x, (-1,)), -1)
        return self.table(last) + self.fc(x)[:, :5]
""",
    ),
    Attack(
        "a hash of ids in 32 bits",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(97, 5)
    def forward(self, ids):
        return self.table((ids * 31) % 97)
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(97, 5, embedding_table=ms.common.initializer.initializer(ms.common.initializer.Normal(1.0), (97, 5)))
    def construct(self, ids):
        return self.table((ids.astype(ms.int32) * 31) % 97)
""",
        ("int64[4,5]@0..50",),
    ),
    Attack(
        "a table in single precision whatever comes in",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
    def forward(self, x):
        w = torch.arange(6, dtype=x.dtype, device=x.device) / 6
        return self.fc(x.float()) , x * w
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
    def construct(self, x):
        w = ops.arange(6).astype(ms.float32) / 6
        return self.fc(x.astype(ms.float32)), x * w
""",
    ),
    Attack(
        "the state itself is handed out",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.register_buffer('total', torch.zeros(6))
    def forward(self, x):
        self.total += x.sum(0)
        return self.fc(x) + self.total, self.total.clone()
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
        self.total = Parameter(Tensor(np.zeros(6), ms.float32), name='total', requires_grad=False)
    def construct(self, x):
        ops.assign_add(self.total, x.sum(0))
        return self.fc(x) + self.total, self.total
""",
    ),
    Attack(
        "a sum of exponentials that is not safe",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
    def forward(self, x):
        return torch.logsumexp(torch.tanh(self.fc(x)) * 90, -1)
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
    def construct(self, x):
        return ops.log(ops.exp(ops.tanh(self.fc(x)) * 90).sum(-1))
""",
    ),
    Attack(
        "a block that is shared in torch and copied here",
        """
class Net(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        block = nn.Linear(6, 6)
        self.blocks = nn.ModuleList([block] * depth)
    def forward(self, x):
        for b in self.blocks:
            x = torch.relu(b(x)) + x
        return x
""",
        """
class Net(nn.Cell):
    def __init__(self, depth=3):
        super().__init__()
        self.blocks = nn.CellList([nn.Dense(6, 6) for _ in range(depth)])
    def construct(self, x):
        for b in self.blocks:
            x = ops.relu(b(x)) + x
        return x
""",
    ),
    Attack(
        "a warm-up that ends otherwise",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.register_buffer('step', torch.zeros((), dtype=torch.long))
    def forward(self, x):
        if self.training:
            self.step += 1
        return self.fc(x) + torch.clamp(self.step.float() / 5000, max=1.0)
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
        self.step = Parameter(Tensor(0, ms.int64), name='step', requires_grad=False)
    def construct(self, x):
        if self.training:
            ops.assign_add(self.step, Tensor(1, ms.int64))
        return self.fc(x) + (self.step.astype(ms.float32) / 5000)
""",
    ),
    Attack(
        "a number that scripts ask for",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
    @property
    def num_features(self):
        return self.fc.out_features
    def output_size(self, n):
        return n // 2 + 1
    def forward(self, x):
        return self.fc(x)
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
    @property
    def num_features(self):
        return self.fc.in_channels
    def output_size(self, n):
        return (n + 1) // 2
    def construct(self, x):
        return self.fc(x)
""",
    ),
    Attack(
        "second derivatives",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
    def forward(self, x):
        return self.fc(x) ** 2
""",
        """
class Square(nn.Cell):
    def construct(self, x):
        return x * x
    def bprop(self, x, out, dout):
        return (ops.stop_gradient(2 * x) * dout,)
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
        self.square = Square()
    def construct(self, x):
        return self.square(self.fc(x))
""",
    ),
    Attack(
        "a dropout of channels",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.drop = nn.Dropout2d(0.3)
    def forward(self, x):
        return self.drop(self.fc(x)[:, :, None, None]).mean((2, 3))
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
        self.drop = nn.Dropout(p=0.3)
    def construct(self, x):
        return self.drop(self.fc(x)[:, :, None, None]).mean((2, 3))
""",
    ),
    Attack(
        "an embedding without its largest norm",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 6, max_norm=50.0)
        self.fc = nn.Linear(6, 3)
    def forward(self, ids):
        return self.fc(self.table(ids))
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(10, 6, embedding_table=ms.common.initializer.initializer(ms.common.initializer.Normal(1.0), (10, 6)))
        self.fc = nn.Dense(6, 3)
    def construct(self, ids):
        return self.fc(self.table(ids))
""",
        ("int64[4,7]@0..10",),
    ),
    Attack(
        "a start that is learned and one that is not",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRUCell(6, 6)
        self.h0 = nn.Parameter(torch.zeros(6))
    def forward(self, x):
        h = self.h0.expand(x.shape[0], -1)
        for _ in range(2):
            h = self.gru(x, h)
        return h
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRUCell(6, 6)
        self.h0 = Parameter(ops.zeros(6), name='h0', requires_grad=False)
    def construct(self, x):
        h = self.h0.expand_dims(0).broadcast_to((x.shape[0], 6))
        for _ in range(2):
            h = self.gru(x, h)
        return h
""",
    ),
    Attack(
        "a count that leaves out what is negative",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
    def forward(self, x, kind):
        return self.fc(x) * F.one_hot(kind.clamp(min=0), 6).float() * (kind >= 0).float().unsqueeze(1)
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
    def construct(self, x, kind):
        return self.fc(x) * ops.one_hot(kind, 6, Tensor(1.0), Tensor(0.0))
""",
        ("float32[4,6]", "int64[4]@0..6"),
    ),
    Attack(
        "an epsilon made of other numbers",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
    def forward(self, x):
        y = self.fc(x)
        return y / (y.std(-1, keepdim=True) + 2 ** -20)
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
    def construct(self, x):
        y = self.fc(x)
        return y / (ops.sqrt(((y - y.mean(-1, keep_dims=True)) ** 2).sum(-1, keepdims=True) / (y.shape[-1] - 1)) + 2 ** -30)
""",
    ),
)
