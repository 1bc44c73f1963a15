"""Ten more small networks written twice, in styles that the first two sets lack; see twins.py.

A recurrent cell by hand, a spectral block with complex modules, experts with top-k routing, a student with a moving teacher, a tied
autoencoder, a quantizer with straight-through gradients, a function with its own backward, a streaming cache, a flow with
log-determinants, a hypernetwork, a detection head with empty targets, attention over the edges of a graph.
"""

from __future__ import annotations

if __package__:
    from .twins import Twin
else:  # run as a script
    from twins import Twin

RECURRENT = Twin(
    "recurrent",
    """
class Cell(nn.Module):
    def __init__(self, i, d):
        super().__init__()
        self.gates = nn.Linear(i + d, 3 * d)
        self.peep = nn.Parameter(torch.randn(2, d) * 0.3)
        self.norm = nn.LayerNorm(d)
    def forward(self, x, state):
        h, c = state
        f, o, g = self.gates(torch.cat([x, h], -1)).chunk(3, -1)
        f = torch.sigmoid(f + 1.0 + self.peep[0] * c)
        c = f * c + (1 - f) * torch.tanh(g)
        h = torch.sigmoid(o + self.peep[1] * c) * torch.tanh(self.norm(c))
        return h, (h, c)

class Net(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.forth, self.back = Cell(5, d), Cell(5, d)
        self.start = nn.Parameter(torch.randn(2, d) * 0.2)
        self.head = nn.Linear(2 * d, 4)
    def forward(self, x, lengths):
        b, t, _ = x.shape
        live = torch.arange(t)[None] < lengths[:, None]
        both = []
        for cell, order in ((self.forth, range(t)), (self.back, range(t - 1, -1, -1))):
            state = (self.start[0].expand(b, -1), self.start[1].expand(b, -1))
            for i in order:
                _, new = cell(x[:, i], state)
                keep = live[:, i, None]
                state = tuple(torch.where(keep, n, o) for n, o in zip(new, state))
            both.append(state[0])
        return self.head(torch.cat(both, -1)), state[1]
""",
    """
def tanh(x):  # MindSpore's own is off by 3e-5 on a CPU
    return 2 * ops.sigmoid(2 * x) - 1

class Cell(nn.Cell):
    def __init__(self, i, d):
        super().__init__()
        self.gates = nn.Dense(i + d, 3 * d)
        self.peep = Parameter(ops.ones((2, d)), name="peep")
        self.norm = nn.LayerNorm((d,), epsilon=1e-5)
    def construct(self, x, state):
        h, c = state
        f, o, g = ops.chunk(self.gates(ops.cat([x, h], -1)), 3, -1)
        f = ops.sigmoid(f + 1.0 + self.peep[0] * c)
        c = f * c + (1 - f) * tanh(g)
        h = ops.sigmoid(o + self.peep[1] * c) * tanh(self.norm(c))
        return h, (h, c)

class Net(nn.Cell):
    def __init__(self, d=8):
        super().__init__()
        self.forth, self.back = Cell(5, d), Cell(5, d)
        self.start = Parameter(ops.ones((2, d)), name="start")
        self.head = nn.Dense(2 * d, 4)
    def construct(self, x, lengths):
        b, t, _ = x.shape
        live = ops.arange(t)[None] < lengths[:, None]
        both = []
        for cell, order in ((self.forth, range(t)), (self.back, range(t - 1, -1, -1))):
            state = (ops.broadcast_to(self.start[0], (b, -1)), ops.broadcast_to(self.start[1], (b, -1)))
            for i in order:
                _, new = cell(x[:, i], state)
                keep = live[:, i, None]
                state = tuple(ops.where(keep, n, o) for n, o in zip(new, state))
            both.append(state[0])
        return self.head(ops.cat(both, -1)), state[1]
""",
    ("float32[3,5,5]", "int64[3]@1..6"),
)

SPECTRAL = Twin(
    "spectral",
    """
class Transform(nn.Module):
    def forward(self, x):
        return torch.fft.rfft(x, norm="ortho")

class Filter(nn.Module):
    def __init__(self, c, modes):
        super().__init__()
        self.modes = modes
        self.transform = Transform()
        self.real, self.imag = nn.Parameter(torch.randn(c, modes) * 0.5), nn.Parameter(torch.randn(c, modes) * 0.5)
    def forward(self, x):
        z = self.transform(x)
        a, b = z.real[..., : self.modes], z.imag[..., : self.modes]
        low = torch.complex(a * self.real - b * self.imag, a * self.imag + b * self.real)
        rest = torch.zeros_like(z[..., self.modes :])
        return torch.fft.irfft(torch.cat([low, rest], -1), n=x.shape[-1], norm="ortho")

class Net(nn.Module):
    def __init__(self, c=6):
        super().__init__()
        self.lift = nn.Conv1d(2, c, 1)
        self.filters = nn.ModuleList([Filter(c, 3), Filter(c, 3)])
        self.skips = nn.ModuleList([nn.Conv1d(c, c, 1), nn.Conv1d(c, c, 1)])
        self.out = nn.Conv1d(c, 1, 1)
    def forward(self, x):
        grid = torch.linspace(0, 1, x.shape[-1]).expand(x.shape[0], 1, -1)
        x = self.lift(torch.cat([x, grid], 1))
        for one, skip in zip(self.filters, self.skips):
            x = F.gelu(one(x) + skip(x))
        return self.out(x), torch.fft.rfft(x.mean(1)).abs()
""",
    """
class Transform(nn.Cell):
    def construct(self, x):
        return ops.rfft(x, norm="ortho")

class Filter(nn.Cell):
    def __init__(self, c, modes):
        super().__init__()
        self.modes = modes
        self.transform = Transform()
        self.real, self.imag = Parameter(ops.ones((c, modes)), name="real"), Parameter(ops.ones((c, modes)), name="imag")
    def construct(self, x):
        z = self.transform(x)
        real, imag = ops.real(z), ops.imag(z)
        a, b = real[..., : self.modes], imag[..., : self.modes]
        low = [a * self.real - b * self.imag, a * self.imag + b * self.real]
        rest = ops.zeros_like(real[..., self.modes :])
        whole = ops.Complex()(ops.cat([low[0], rest], -1), ops.cat([low[1], rest], -1))
        return ops.irfft(whole, n=x.shape[-1], norm="ortho")

class Net(nn.Cell):
    def __init__(self, c=6):
        super().__init__()
        self.lift = nn.Conv1d(2, c, 1, pad_mode='pad', has_bias=True)
        self.filters = nn.CellList([Filter(c, 3), Filter(c, 3)])
        self.skips = nn.CellList([nn.Conv1d(c, c, 1, has_bias=True), nn.Conv1d(c, c, 1, has_bias=True)])
        self.out = nn.Conv1d(c, 1, 1, has_bias=True)
    def construct(self, x):
        grid = ops.broadcast_to(ops.linspace(Tensor(0.0), Tensor(1.0), x.shape[-1]), (x.shape[0], 1, -1))
        x = self.lift(ops.cat([x, grid], 1))
        for one, skip in zip(self.filters, self.skips):
            x = ops.gelu(one(x) + skip(x), approximate='none')
        z = ops.rfft(x.mean(1))
        return self.out(x), ops.sqrt(ops.real(z) ** 2 + ops.imag(z) ** 2)
""",
    ("float32[3,1,9]",),
)

EXPERTS = Twin(
    "experts",
    """
class Expert(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.w1, self.w2, self.w3 = nn.Linear(d, 2 * d, bias=False), nn.Linear(2 * d, d, bias=False), nn.Linear(d, 2 * d, bias=False)
    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))

class Net(nn.Module):
    def __init__(self, d=8, n=4):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.gate = nn.Linear(d, n, bias=False)
        self.experts = nn.ModuleList([Expert(d) for _ in range(n)])
        self.register_buffer("bias", torch.linspace(-0.1, 0.1, n))
    def forward(self, x):
        y = self.norm(x).reshape(-1, x.shape[-1])
        scores = torch.sigmoid(self.gate(y))
        chosen = (scores + self.bias).topk(2, dim=-1)[1]
        weight = scores.gather(1, chosen)
        weight = weight / weight.sum(-1, keepdim=True)
        total = torch.zeros_like(y)
        for i, expert in enumerate(self.experts):
            share = (weight * (chosen == i)).sum(-1, keepdim=True)
            total = total + share * expert(y)
        load = F.one_hot(chosen, len(self.experts)).float().mean((0, 1))
        balance = (load * scores.softmax(-1).mean(0)).sum() * len(self.experts)
        return x + total.reshape(x.shape), balance, chosen
""",
    """
class Expert(nn.Cell):
    def __init__(self, d):
        super().__init__()
        self.w1, self.w2, self.w3 = nn.Dense(d, 2 * d, has_bias=False), nn.Dense(2 * d, d, has_bias=False), nn.Dense(d, 2 * d, has_bias=False)
    def construct(self, x):
        return self.w2(ops.silu(self.w1(x)) * self.w3(x))

class Net(nn.Cell):
    def __init__(self, d=8, n=4):
        super().__init__()
        self.norm = nn.LayerNorm((d,), epsilon=1e-5)
        self.gate = nn.Dense(d, n, has_bias=False)
        self.experts = nn.CellList([Expert(d) for _ in range(n)])
        self.bias = Parameter(Tensor(np.linspace(-0.1, 0.1, n), ms.float32), name="bias", requires_grad=False)
    def construct(self, x):
        y = self.norm(x).reshape(-1, x.shape[-1])
        scores = ops.sigmoid(self.gate(y))
        chosen = ops.topk(scores + self.bias, 2, dim=-1)[1].astype(ms.int64)
        weight = ops.gather_elements(scores, 1, chosen)
        weight = weight / weight.sum(-1, keepdims=True)
        total = ops.zeros_like(y)
        for i, expert in enumerate(self.experts):
            share = (weight * (chosen == i)).sum(-1, keepdims=True)
            total = total + share * expert(y)
        load = ops.one_hot(chosen, len(self.experts)).astype(ms.float32).mean((0, 1))
        balance = (load * ops.softmax(scores, -1).mean(0)).sum() * len(self.experts)
        return x + total.reshape(x.shape), balance, chosen
""",
    ("float32[3,4,8]",),
)

TEACHER = Twin(
    "teacher",
    """
class Net(nn.Module):
    def __init__(self, d=6):
        super().__init__()
        self.student = nn.Sequential(nn.Linear(d, 10), nn.ReLU(), nn.Linear(10, d))
        self.predict = nn.Linear(d, d)
        self.register_buffer("first", torch.randn(10, d) * 0.3)
        self.register_buffer("last", torch.randn(d, 10) * 0.3)
        self.register_buffer("centre", torch.zeros(1, d))
    def forward(self, x, other):
        ours = F.log_softmax(self.predict(self.student(x)) / 0.5, -1)
        with torch.no_grad():
            raw = F.linear(torch.relu(F.linear(other, self.first)), self.last)
            theirs = F.softmax((raw - self.centre) / 0.2, -1)
            if self.training:
                self.first.mul_(0.9).add_(self.student[0].weight, alpha=0.1)
                self.last.mul_(0.9).add_(self.student[2].weight, alpha=0.1)
                self.centre.mul_(0.8).add_(raw.mean(0, keepdim=True), alpha=0.2)
        return -(theirs * ours).sum(-1).mean(), ours, theirs
""",
    """
class Net(nn.Cell):
    def __init__(self, d=6):
        super().__init__()
        self.student = nn.SequentialCell(nn.Dense(d, 10), nn.ReLU(), nn.Dense(10, d))
        self.predict = nn.Dense(d, d)
        self.first = Parameter(ops.ones((10, d)), name="first", requires_grad=False)
        self.last = Parameter(ops.ones((d, 10)), name="last", requires_grad=False)
        self.centre = Parameter(ops.zeros((1, d)), name="centre", requires_grad=False)
    def construct(self, x, other):
        ours = ops.log_softmax(self.predict(self.student(x)) / 0.5, -1)
        raw = ops.matmul(ops.relu(ops.matmul(other, self.first.T)), self.last.T)
        theirs = ops.stop_gradient(ops.softmax((raw - self.centre) / 0.2, -1))
        if self.training:
            ops.assign(self.first, self.first * 0.9 + self.student[0].weight * 0.1)
            ops.assign(self.last, self.last * 0.9 + self.student[2].weight * 0.1)
            ops.assign(self.centre, self.centre * 0.8 + raw.mean(0, keep_dims=True) * 0.2)
        return -(theirs * ours).sum(-1).mean(), ours, theirs
""",
    ("float32[4,6]", "float32[4,6]"),
)

TIED = Twin(
    "tied",
    """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(15, 8)
        self.code = nn.Linear(8, 5)
        self.back = nn.Parameter(torch.zeros(8))
        self.bias = nn.Parameter(torch.zeros(15))
    def forward(self, ids, noise):
        x = self.embed(ids).sum(1) / ids.shape[1] ** 0.5
        h = torch.tanh(self.code(x + 0.1 * noise))
        again = F.linear(h, self.code.weight.t(), self.back)
        logits = F.linear(again, self.embed.weight, self.bias)
        penalty = (h * (1 - h * h)).abs().mean()
        return logits, (again - x.detach()).pow(2).mean() + 0.1 * penalty
""",
    """
def tanh(x):  # MindSpore's own is off by 3e-5 on a CPU
    return 2 * ops.sigmoid(2 * x) - 1

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(15, 8)
        self.code = nn.Dense(8, 5)
        self.back = Parameter(ops.zeros(8), name="back")
        self.bias = Parameter(ops.zeros(15), name="bias")
    def construct(self, ids, noise):
        x = self.embed(ids).sum(1) / ids.shape[1] ** 0.5
        h = tanh(self.code(x + 0.1 * noise))
        again = ops.matmul(h, self.code.weight) + self.back
        logits = ops.matmul(again, self.embed.embedding_table.T) + self.bias
        penalty = ops.abs(h * (1 - h * h)).mean()
        return logits, (again - ops.stop_gradient(x)).pow(2).mean() + 0.1 * penalty
""",
    ("int64[4,3]@0..15", "float32[4,8]"),
)

QUANTIZER = Twin(
    "quantizer",
    """
class Codes(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.book = nn.Parameter(torch.randn(n, d))
    def forward(self, z):
        flat = z.reshape(-1, z.shape[-1])
        away = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ self.book.t() + self.book.pow(2).sum(1)
        near = away.argmin(1)
        q = self.book[near].reshape(z.shape)
        loss = (q - z.detach()).pow(2).mean() + 0.25 * (q.detach() - z).pow(2).mean()
        return z + (q - z).detach(), loss, near

class Net(nn.Module):
    def __init__(self, d=6):
        super().__init__()
        self.enc, self.codes, self.dec = nn.Linear(5, d), Codes(9, d), nn.Linear(d, 5)
        self.step = nn.Parameter(torch.tensor(0.3))
    def forward(self, x):
        z, loss, near = self.codes(self.enc(x))
        y = self.dec(z)
        scaled = (y / self.step).clamp(-7, 7)
        fake = (scaled + (scaled.round() - scaled).detach()) * self.step
        used = F.one_hot(near, 9).float().mean(0)
        return fake, loss, torch.exp(-(used * torch.log(used + 1e-10)).sum())
""",
    """
class Codes(nn.Cell):
    def __init__(self, n, d):
        super().__init__()
        self.book = Parameter(ops.ones((n, d)), name="book")
    def construct(self, z):
        flat = z.reshape(-1, z.shape[-1])
        away = flat.pow(2).sum(1, keepdims=True) - 2 * ops.matmul(flat, self.book.T) + self.book.pow(2).sum(1)
        near = ops.argmin(away, 1).astype(ms.int64)
        q = ops.gather(self.book, near, 0).reshape(z.shape)
        loss = (q - ops.stop_gradient(z)).pow(2).mean() + 0.25 * (ops.stop_gradient(q) - z).pow(2).mean()
        return z + ops.stop_gradient(q - z), loss, near

class Net(nn.Cell):
    def __init__(self, d=6):
        super().__init__()
        self.enc, self.codes, self.dec = nn.Dense(5, d), Codes(9, d), nn.Dense(d, 5)
        self.step = Parameter(Tensor(0.3), name="step")
    def construct(self, x):
        z, loss, near = self.codes(self.enc(x))
        y = self.dec(z)
        scaled = ops.clamp(y / self.step, -7, 7)
        fake = (scaled + ops.stop_gradient(ops.round(scaled) - scaled)) * self.step
        used = ops.one_hot(near, 9).astype(ms.float32).mean(0)
        return fake, loss, ops.exp(-(used * ops.log(used + 1e-10)).sum())
""",
    ("float32[4,3,5]",),
)
