"""Twelve more networks in other styles than twins.py's, written twice: six to develop on (OPEN), six that were opened once (SEALED)."""

from __future__ import annotations

if __package__:
    from .twins import Twin
else:  # run as a script
    from twins import Twin

MIXER = Twin(
    "mixer",
    """
class Mix(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.token1, self.token2 = nn.Linear(n, 2 * n), nn.Linear(2 * n, n)
        self.chan1, self.chan2 = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
        self.gamma = nn.Parameter(1e-4 * torch.randn(d))
        self.drop = nn.Dropout(0.1)
    def forward(self, x):
        y = self.norm1(x).transpose(1, 2)
        y = self.token2(F.gelu(self.token1(y))).transpose(1, 2)
        x = x + self.drop(y)
        return x + self.gamma * self.chan2(F.gelu(self.chan1(self.norm2(x))))

class Net(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.patch = nn.Conv2d(3, d, 4, stride=4)
        self.mix = nn.Sequential(Mix(16, d), Mix(16, d))
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, 5)
    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        return self.head(self.norm(self.mix(x)).mean(1))

def optimizer(net):
    return torch.optim.AdamW(net.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.05)
""",
    """
class Mix(nn.Cell):
    def __init__(self, n, d):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm((d,), epsilon=1e-5), nn.LayerNorm((d,), epsilon=1e-5)
        self.token1, self.token2 = nn.Dense(n, 2 * n), nn.Dense(2 * n, n)
        self.chan1, self.chan2 = nn.Dense(d, 2 * d), nn.Dense(2 * d, d)
        self.gamma = Parameter(1e-4 * ops.ones(d), name="gamma")
        self.drop = nn.Dropout(p=0.1)
    def construct(self, x):
        y = self.norm1(x).swapaxes(1, 2)
        y = self.token2(ops.gelu(self.token1(y), approximate='none')).swapaxes(1, 2)
        x = x + self.drop(y)
        return x + self.gamma * self.chan2(ops.gelu(self.chan1(self.norm2(x)), approximate='none'))

class Net(nn.Cell):
    def __init__(self, d=16):
        super().__init__()
        self.patch = nn.Conv2d(3, d, 4, stride=4, pad_mode='pad', has_bias=True)
        self.mix = nn.SequentialCell(Mix(16, d), Mix(16, d))
        self.norm = nn.LayerNorm((d,), epsilon=1e-5)
        self.head = nn.Dense(d, 5)
    def construct(self, x):
        x = self.patch(x).flatten(start_dim=2).swapaxes(1, 2)
        return self.head(self.norm(self.mix(x)).mean(1))

class Decayed(nn.Cell):
    def __init__(self, params, lr, b1, b2, eps, decay):
        super().__init__()
        self.parameters = params
        self.lr, self.b1, self.b2, self.eps, self.decay = lr, b1, b2, eps, decay
        self.m = [np.zeros(p.shape, np.float64) for p in params]
        self.v = [np.zeros(p.shape, np.float64) for p in params]
        self.t = 0
    def construct(self, grads):
        self.t += 1
        for i, (p, g) in enumerate(zip(self.parameters, grads)):
            g = g.asnumpy().astype(np.float64)
            w = p.asnumpy() * (1 - self.lr * self.decay)
            self.m[i] = self.b1 * self.m[i] + (1 - self.b1) * g
            self.v[i] = self.b2 * self.v[i] + (1 - self.b2) * g * g
            m, v = self.m[i] / (1 - self.b1 ** self.t), self.v[i] / (1 - self.b2 ** self.t)
            p.set_data(Tensor((w - self.lr * m / (np.sqrt(v) + self.eps)).astype(np.float32)))
        return True

def optimizer(net):
    return Decayed(list(net.trainable_params()), 1e-3, 0.9, 0.98, 1e-6, 0.05)
""",
    ("float32[4,3,16,16]",),
)

TCN = Twin(
    "tcn",
    """
class Causal(nn.Module):
    def __init__(self, i, o, dilation):
        super().__init__()
        self.left = 2 * dilation
        self.conv = nn.Conv1d(i, o, 3, dilation=dilation)
        self.norm = nn.GroupNorm(2, o)
        self.act = nn.PReLU(o)
        self.skip = nn.Conv1d(i, o, 1) if i != o else nn.Identity()
    def forward(self, x):
        y = self.conv(F.pad(x, (self.left, 0)))
        return self.act(self.norm(y)) + self.skip(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Causal(4, 8, 1), Causal(8, 8, 2), Causal(8, 8, 4)])
        self.gate = nn.Linear(8, 8)
        self.out = nn.Linear(8, 3)
    def forward(self, x):
        total = 0
        for block in self.blocks:
            x = block(x)
            total = total + x
        last = total[:, :, -1]
        return self.out(last * torch.sigmoid(self.gate(last))), x.std(dim=-1)
""",
    """
class Causal(nn.Cell):
    def __init__(self, i, o, dilation):
        super().__init__()
        self.left = 2 * dilation
        self.conv = nn.Conv1d(i, o, 3, dilation=dilation, pad_mode='pad', has_bias=True)
        self.norm = nn.GroupNorm(2, o)
        self.act = nn.PReLU(o)
        self.skip = nn.Conv1d(i, o, 1, pad_mode='pad', has_bias=True) if i != o else nn.Identity()
    def construct(self, x):
        y = self.conv(ops.pad(x, (self.left, 0)))
        return self.act(self.norm(y)) + self.skip(x)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks = nn.CellList([Causal(4, 8, 1), Causal(8, 8, 2), Causal(8, 8, 4)])
        self.gate = nn.Dense(8, 8)
        self.out = nn.Dense(8, 3)
    def construct(self, x):
        total = 0
        for block in self.blocks:
            x = block(x)
            total = total + x
        last = total[:, :, -1]
        return self.out(last * ops.sigmoid(self.gate(last))), x.std(axis=-1, ddof=1)
""",
    ("float32[3,4,20]",),
)

WINDOW = Twin(
    "window",
    """
class Window(nn.Module):
    def __init__(self, d, heads, size):
        super().__init__()
        self.heads, self.size = heads, size
        self.qkv, self.proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.table = nn.Parameter(torch.randn((2 * size - 1) ** 2, heads))
        grid = torch.stack(torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")).flatten(1)
        away = grid[:, :, None] - grid[:, None, :] + size - 1
        self.register_buffer("index", away[0] * (2 * size - 1) + away[1])
    def forward(self, x, mask):
        b, n, d = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        bias = self.table[self.index.view(-1)].view(n, n, -1).permute(2, 0, 1)
        a = q @ k.transpose(-2, -1) * (d // self.heads) ** -0.5 + bias[None]
        a = a.masked_fill(mask[None, None], -1e9).softmax(-1)
        return self.proj((a @ v).transpose(1, 2).reshape(b, n, d))

class Net(nn.Module):
    def __init__(self, d=16, size=4):
        super().__init__()
        self.size = size
        self.embed = nn.Conv2d(3, d, 2, stride=2)
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = Window(d, 2, size)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))
        self.register_buffer("mask", torch.ones(size * size, size * size).tril(-3).bool(), persistent=False)
        self.head = nn.Linear(d, 4)
    def forward(self, x):
        x = self.embed(x)
        b, d, h, w = x.shape
        s = self.size
        x = x.view(b, d, h // s, s, w // s, s).permute(0, 2, 4, 3, 5, 1).reshape(-1, s * s, d)
        x = x + self.attn(self.norm1(x), self.mask)
        x = x + self.mlp(self.norm2(x))
        x = x.view(b, h // s, w // s, s, s, d).permute(0, 5, 1, 3, 2, 4).reshape(b, d, h, w)
        return self.head(x.mean((2, 3)))
""",
    """
class Window(nn.Cell):
    def __init__(self, d, heads, size):
        super().__init__()
        self.heads, self.size = heads, size
        self.qkv, self.proj = nn.Dense(d, 3 * d), nn.Dense(d, d)
        self.table = Parameter(ops.ones(((2 * size - 1) ** 2, heads)), name="table")
        grid = np.stack(np.meshgrid(np.arange(size), np.arange(size), indexing="ij")).reshape(2, -1)
        away = grid[:, :, None] - grid[:, None, :] + size - 1
        self.index = Parameter(Tensor(away[0] * (2 * size - 1) + away[1], ms.int64), name="index", requires_grad=False)
    def construct(self, x, mask):
        b, n, d = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        bias = self.table[self.index.view(-1)].view(n, n, -1).permute(2, 0, 1)
        a = ops.matmul(q, k.swapaxes(-2, -1)) * (d // self.heads) ** -0.5 + bias[None]
        a = ops.softmax(a.masked_fill(mask[None, None], -1e9), axis=-1)
        return self.proj(ops.matmul(a, v).swapaxes(1, 2).reshape(b, n, d))

class Net(nn.Cell):
    def __init__(self, d=16, size=4):
        super().__init__()
        self.size = size
        self.embed = nn.Conv2d(3, d, 2, stride=2, pad_mode='pad', has_bias=True)
        self.norm1, self.norm2 = nn.LayerNorm((d,), epsilon=1e-5), nn.LayerNorm((d,), epsilon=1e-5)
        self.attn = Window(d, 2, size)
        self.mlp = nn.SequentialCell(nn.Dense(d, 2 * d), nn.GELU(approximate=False), nn.Dense(2 * d, d))
        self.mask = Tensor(np.tril(np.ones((size * size, size * size)), -3) > 0)
        self.head = nn.Dense(d, 4)
    def construct(self, x):
        x = self.embed(x)
        b, d, h, w = x.shape
        s = self.size
        x = x.view(b, d, h // s, s, w // s, s).permute(0, 2, 4, 3, 5, 1).reshape(-1, s * s, d)
        x = x + self.attn(self.norm1(x), self.mask)
        x = x + self.mlp(self.norm2(x))
        x = x.view(b, h // s, w // s, s, s, d).permute(0, 5, 1, 3, 2, 4).reshape(b, d, h, w)
        return self.head(x.mean((2, 3)))
""",
    ("float32[2,3,16,16]",),
)

DIFFUSION = Twin(
    "diffusion",
    """
def timestep_embedding(t, dim):
    half = dim // 2
    freqs = torch.exp(-math.log(10000) * torch.arange(0, half, dtype=torch.float32) / half)
    args = t[:, None].float() * freqs[None]
    return torch.cat([torch.cos(args), torch.sin(args)], dim=-1)

class Res(nn.Module):
    def __init__(self, c, e):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(4, c), nn.GroupNorm(4, c)
        self.conv1, self.conv2 = nn.Conv2d(c, c, 3, padding=1), nn.Conv2d(c, c, 3, padding=1)
        self.film = nn.Linear(e, 2 * c)
    def forward(self, x, e):
        y = self.conv1(F.silu(self.norm1(x)))
        scale, shift = self.film(F.silu(e))[:, :, None, None].chunk(2, dim=1)
        y = self.norm2(y) * (1 + scale) + shift
        return x + self.conv2(F.silu(y))

class Net(nn.Module):
    def __init__(self, c=8, e=16):
        super().__init__()
        self.e = e
        self.time = nn.Sequential(nn.Linear(e, e), nn.SiLU(), nn.Linear(e, e))
        self.inp = nn.Conv2d(3, c, 3, padding=1)
        self.res = nn.ModuleList([Res(c, e), Res(c, e)])
        self.down = nn.AvgPool2d(2)
        self.out = nn.Conv2d(2 * c, 3, 3, padding=1)
    def forward(self, x, t):
        e = self.time(timestep_embedding(t, self.e))
        x = self.inp(x)
        h = self.res[0](x, e)
        y = self.res[1](self.down(h), e)
        y = F.interpolate(y, scale_factor=2, mode="nearest")
        return self.out(torch.cat([y, h], dim=1))
""",
    """
import math

def timestep_embedding(t, dim):
    half = dim // 2
    freqs = ops.exp(-math.log(10000) * ops.arange(0, half).astype(ms.float32) / half)
    args = t[:, None].astype(ms.float32) * freqs[None]
    return ops.cat([ops.cos(args), ops.sin(args)], axis=-1)

class Res(nn.Cell):
    def __init__(self, c, e):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(4, c), nn.GroupNorm(4, c)
        self.conv1 = nn.Conv2d(c, c, 3, padding=1, pad_mode='pad', has_bias=True)
        self.conv2 = nn.Conv2d(c, c, 3, padding=1, pad_mode='pad', has_bias=True)
        self.film = nn.Dense(e, 2 * c)
    def construct(self, x, e):
        y = self.conv1(ops.silu(self.norm1(x)))
        scale, shift = ops.chunk(self.film(ops.silu(e))[:, :, None, None], 2, 1)
        y = self.norm2(y) * (1 + scale) + shift
        return x + self.conv2(ops.silu(y))

class Net(nn.Cell):
    def __init__(self, c=8, e=16):
        super().__init__()
        self.e = e
        self.time = nn.SequentialCell(nn.Dense(e, e), nn.SiLU(), nn.Dense(e, e))
        self.inp = nn.Conv2d(3, c, 3, padding=1, pad_mode='pad', has_bias=True)
        self.res = nn.CellList([Res(c, e), Res(c, e)])
        self.down = nn.AvgPool2d(2, stride=2)
        self.out = nn.Conv2d(2 * c, 3, 3, padding=1, pad_mode='pad', has_bias=True)
    def construct(self, x, t):
        e = self.time(timestep_embedding(t, self.e))
        x = self.inp(x)
        h = self.res[0](x, e)
        y = self.res[1](self.down(h), e)
        y = ops.interpolate(y, size=(h.shape[2], h.shape[3]), mode="nearest")
        return self.out(ops.cat([y, h], axis=1))
""",
    ("float32[2,3,8,8]", "int64[2]@0..1000"),
)

DECODER = Twin(
    "decoder",
    """
class RMSNorm(nn.Module):
    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d))
    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight

class Attention(nn.Module):
    def __init__(self, d, heads, longest):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(d, d, bias=False) for _ in range(4))
        half = d // heads // 2
        angles = torch.outer(torch.arange(longest).float(), 1.0 / 100 ** (torch.arange(half).float() / half))
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)
    def rotate(self, x, n):
        a, b = x.chunk(2, dim=-1)
        cos, sin = self.cos[:n], self.sin[:n]
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
    def forward(self, x):
        b, n, d = x.shape
        split = lambda t: t.view(b, n, self.heads, -1).transpose(1, 2)
        q, k, v = self.rotate(split(self.q(x)), n), self.rotate(split(self.k(x)), n), split(self.v(x))
        scores = q @ k.transpose(-2, -1) / (d // self.heads) ** 0.5
        ahead = torch.ones(n, n, dtype=torch.bool).triu(1)
        return self.o((scores.masked_fill(ahead, float("-inf")).softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))

class Block(nn.Module):
    def __init__(self, d, heads, longest):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(d), RMSNorm(d)
        self.attn = Attention(d, heads, longest)
        self.gate, self.up, self.down = nn.Linear(d, 24, bias=False), nn.Linear(d, 24, bias=False), nn.Linear(24, d, bias=False)
    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))

class Net(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.embed = nn.Embedding(30, d)
        self.blocks = nn.ModuleList([Block(d, 2, 16) for _ in range(2)])
        self.norm = RMSNorm(d)
        self.head = nn.Linear(d, 30, bias=False)
        self.head.weight = self.embed.weight
    def forward(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return {"logits": self.head(self.norm(x)), "next": self.head(self.norm(x))[:, -1].argmax(-1)}

def optimizer(net):
    return torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
""",
    """
class RMSNorm(nn.Cell):
    def __init__(self, d, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = Parameter(ops.ones(d), name="weight")
    def construct(self, x):
        return x * ops.rsqrt(x.pow(2).mean(-1, keep_dims=True) + self.eps) * self.weight

class Attention(nn.Cell):
    def __init__(self, d, heads, longest):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Dense(d, d, has_bias=False) for _ in range(4))
        half = d // heads // 2
        angles = np.outer(np.arange(longest), 1.0 / 100 ** (np.arange(half) / half)).astype(np.float32)
        self.cos = Tensor(np.cos(angles))
        self.sin = Tensor(np.sin(angles))
    def rotate(self, x, n):
        a, b = ops.chunk(x, 2, -1)
        cos, sin = self.cos[:n], self.sin[:n]
        return ops.cat([a * cos - b * sin, a * sin + b * cos], axis=-1)
    def construct(self, x):
        b, n, d = x.shape
        split = lambda t: t.view(b, n, self.heads, -1).swapaxes(1, 2)
        q, k, v = self.rotate(split(self.q(x)), n), self.rotate(split(self.k(x)), n), split(self.v(x))
        scores = ops.matmul(q, k.swapaxes(-2, -1)) / (d // self.heads) ** 0.5
        ahead = Tensor(np.triu(np.ones((n, n)), 1) > 0)
        a = ops.softmax(scores.masked_fill(ahead, float("-inf")), axis=-1)
        return self.o(ops.matmul(a, v).swapaxes(1, 2).reshape(b, n, d))

class Block(nn.Cell):
    def __init__(self, d, heads, longest):
        super().__init__()
        self.norm1, self.norm2 = RMSNorm(d), RMSNorm(d)
        self.attn = Attention(d, heads, longest)
        self.gate, self.up, self.down = nn.Dense(d, 24, has_bias=False), nn.Dense(d, 24, has_bias=False), nn.Dense(24, d, has_bias=False)
    def construct(self, x):
        x = x + self.attn(self.norm1(x))
        y = self.norm2(x)
        return x + self.down(ops.silu(self.gate(y)) * self.up(y))

class Net(nn.Cell):
    def __init__(self, d=16):
        super().__init__()
        self.embed = nn.Embedding(30, d)
        self.blocks = nn.CellList([Block(d, 2, 16) for _ in range(2)])
        self.norm = RMSNorm(d)
        self.head = nn.Dense(d, 30, has_bias=False)
        self.head.weight = self.embed.embedding_table
    def construct(self, ids):
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return {"logits": self.head(self.norm(x)), "next": self.head(self.norm(x))[:, -1].argmax(-1)}

def optimizer(net):
    return nn.SGD(net.trainable_params(), learning_rate=0.1, momentum=0.9, weight_decay=0.01)
""",
    ("int64[2,9]@0..30",),
)

GRAPH = Twin(
    "graph",
    """
class Conv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.own, self.near = nn.Linear(i, o), nn.Linear(i, o, bias=False)
    def forward(self, x, adjacency):
        degree = adjacency.sum(-1, keepdim=True).clamp(min=1)
        return self.own(x) + self.near(adjacency @ x / degree)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.c2 = Conv(5, 8), Conv(8, 8)
        self.bn = nn.BatchNorm1d(8)
        self.score = nn.Linear(8, 1)
        self.head = nn.Linear(16, 3)
    def forward(self, x, adjacency, mask):
        adjacency = (adjacency > 0.3).float()
        x = F.elu(self.c1(x, adjacency), alpha=0.5)
        b, n, d = x.shape
        x = self.bn(x.reshape(b * n, d)).reshape(b, n, d)
        x = F.elu(self.c2(x, adjacency))
        weight = self.score(x).squeeze(-1).masked_fill(~mask, -1e4).softmax(-1)
        mean = (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        pooled = torch.cat([(weight[..., None] * x).sum(1), mean], dim=-1)
        return {"classes": F.log_softmax(self.head(pooled), dim=-1), "count": mask.sum(1), "weight": weight}
""",
    """
class Conv(nn.Cell):
    def __init__(self, i, o):
        super().__init__()
        self.own, self.near = nn.Dense(i, o), nn.Dense(i, o, has_bias=False)
    def construct(self, x, adjacency):
        degree = adjacency.sum(-1, keepdims=True).clamp(min=1)
        return self.own(x) + self.near(ops.matmul(adjacency, x) / degree)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.c1, self.c2 = Conv(5, 8), Conv(8, 8)
        self.bn = nn.BatchNorm1d(8)
        self.score = nn.Dense(8, 1)
        self.head = nn.Dense(16, 3)
    def construct(self, x, adjacency, mask):
        adjacency = (adjacency > 0.3).astype(ms.float32)
        x = ops.elu(self.c1(x, adjacency), alpha=1.0)
        x = ops.where(x > 0, x, x * 0.5)
        b, n, d = x.shape
        x = self.bn(x.reshape(b * n, d)).reshape(b, n, d)
        x = ops.elu(self.c2(x, adjacency))
        weight = ops.softmax(self.score(x).squeeze(-1).masked_fill(ops.logical_not(mask), -1e4), axis=-1)
        mean = (x * mask[..., None]).sum(1) / mask.astype(ms.int64).sum(1, keepdims=True)
        pooled = ops.cat([(weight[..., None] * x).sum(1), mean], axis=-1)
        return {"classes": ops.log_softmax(self.head(pooled), axis=-1), "count": mask.astype(ms.int64).sum(1), "weight": weight}
""",
    ("float32[3,6,5]", "float32[3,6,6]", "bool[3,6]"),
)

OPEN = (MIXER, TCN, WINDOW, DIFFUSION, DECODER, GRAPH)

DETECTOR = Twin(
    "detector",
    """
class Net(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.c1 = nn.Sequential(nn.Conv2d(3, c, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(c), nn.ReLU())
        self.c2 = nn.Sequential(nn.Conv2d(c, c, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(c), nn.ReLU())
        self.lateral = nn.ModuleList([nn.Conv2d(c, c, 1), nn.Conv2d(c, c, 1)])
        self.heat, self.size = nn.Conv2d(c, 4, 1), nn.Conv2d(c, 2, 1)
    def forward(self, x):
        a = self.c1(x)
        b = self.c2(a)
        p = self.lateral[0](a) + F.interpolate(self.lateral[1](b), size=a.shape[2:], mode="nearest")
        heat, size = torch.sigmoid(self.heat(p)), F.softplus(self.size(p))
        best, place = heat.flatten(1).topk(3, dim=1)
        n = heat.shape[2] * heat.shape[3]
        return {"scores": best, "labels": place // n, "rows": place % n // heat.shape[3], "size": size}
""",
    """
class Net(nn.Cell):
    def __init__(self, c=8):
        super().__init__()
        self.c1 = nn.SequentialCell(nn.Conv2d(3, c, 3, stride=2, pad_mode='pad', padding=1, has_bias=False), nn.BatchNorm2d(c), nn.ReLU())
        self.c2 = nn.SequentialCell(nn.Conv2d(c, c, 3, stride=2, pad_mode='pad', padding=1), nn.BatchNorm2d(c), nn.ReLU())
        self.lateral = nn.CellList([nn.Conv2d(c, c, 1, pad_mode='pad', has_bias=True), nn.Conv2d(c, c, 1, has_bias=True)])
        self.heat, self.size = nn.Conv2d(c, 4, 1, has_bias=True), nn.Conv2d(c, 2, 1, has_bias=True)
    def construct(self, x):
        a = self.c1(x)
        b = self.c2(a)
        p = self.lateral[0](a) + ops.interpolate(self.lateral[1](b), size=(a.shape[2], a.shape[3]), mode="nearest")
        heat, size = ops.sigmoid(self.heat(p)), self.size(p)
        size = ops.relu(size) + ops.log(1 + ops.exp(-ops.abs(size)))
        best, place = ops.topk(heat.flatten(start_dim=1), 3, dim=1)
        place = place.astype(ms.int64)
        n = heat.shape[2] * heat.shape[3]
        return {"scores": best, "labels": place // n, "rows": place % n // heat.shape[3], "size": size}
""",
    ("float32[2,3,16,16]",),
)

VAE = Twin(
    "vae",
    """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(12, 16), nn.LeakyReLU(0.1), nn.BatchNorm1d(16))
        self.mean, self.logvar = nn.Linear(16, 4), nn.Linear(16, 4)
        self.dec = nn.Sequential(nn.Linear(4, 16), nn.Softplus(), nn.Linear(16, 12))
    def forward(self, x):
        h = self.enc(x)
        mean, logvar = self.mean(h), self.logvar(h).clamp(-4, 2)
        z = mean + torch.randn_like(mean) * torch.exp(0.5 * logvar) if self.training else mean
        kl = -0.5 * (1 + logvar - mean.pow(2) - logvar.exp()).sum(1).mean()
        return self.dec(z), mean, logvar, kl
""",
    """
class Softplus(nn.Cell):
    def construct(self, x):
        return ops.relu(x) + ops.log(1 + ops.exp(-ops.abs(x)))

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.enc = nn.SequentialCell(nn.Dense(12, 16), nn.LeakyReLU(0.1), nn.BatchNorm1d(16))
        self.mean, self.logvar = nn.Dense(16, 4), nn.Dense(16, 4)
        self.dec = nn.SequentialCell(nn.Dense(4, 16), Softplus(), nn.Dense(16, 12))
    def construct(self, x):
        h = self.enc(x)
        mean, logvar = self.mean(h), ops.clamp(self.logvar(h), -4, 2)
        z = mean + ops.randn_like(mean) * ops.exp(0.5 * logvar) if self.training else mean
        kl = -0.5 * (1 + logvar - mean.pow(2) - ops.exp(logvar)).sum(1).mean()
        return self.dec(z), mean, logvar, kl
""",
    ("float32[6,12]",),
)

ALIGNER = Twin(
    "aligner",
    """
class Attend(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.query, self.key, self.energy = nn.Linear(d, d), nn.Linear(d, d, bias=False), nn.Linear(d, 1)
    def forward(self, state, memory, mask):
        scores = self.energy(torch.tanh(self.query(state)[:, None] + self.key(memory))).squeeze(-1)
        weights = scores.masked_fill(mask, float("-inf")).softmax(-1)
        return (weights[:, :, None] * memory).sum(1), weights

class Net(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.embed = nn.Embedding(20, d, padding_idx=0)
        self.attend = Attend(d)
        self.z, self.r, self.n = nn.Linear(3 * d, d), nn.Linear(3 * d, d), nn.Linear(3 * d, d)
        self.out = nn.Linear(2 * d, 20)
    def forward(self, source, target):
        memory = self.embed(source) * 8 ** 0.5
        mask = source == 0
        mask = mask & (mask.cumsum(1) < source.shape[1])
        state, outputs, looked = memory.mean(1), [], []
        for t in range(target.shape[1]):
            context, weights = self.attend(state, memory, mask)
            given = torch.cat([self.embed(target[:, t]), context, state], dim=-1)
            z, r = torch.sigmoid(self.z(given)), torch.sigmoid(self.r(given))
            new = torch.tanh(self.n(torch.cat([given[:, :16], r * state], dim=-1)))
            state = (1 - z) * new + z * state
            outputs.append(self.out(torch.cat([state, context], dim=-1)))
            looked.append(weights)
        return torch.stack(outputs, dim=1), torch.stack(looked, dim=1)
""",
    """
def tanh(x):  # MindSpore's own is off by 3e-5 on a CPU
    return 2 * ops.sigmoid(2 * x) - 1

class Attend(nn.Cell):
    def __init__(self, d):
        super().__init__()
        self.query, self.key, self.energy = nn.Dense(d, d), nn.Dense(d, d, has_bias=False), nn.Dense(d, 1)
    def construct(self, state, memory, mask):
        scores = self.energy(tanh(self.query(state)[:, None] + self.key(memory))).squeeze(-1)
        weights = ops.softmax(scores.masked_fill(mask, float("-inf")), axis=-1)
        return (weights[:, :, None] * memory).sum(1), weights

class Net(nn.Cell):
    def __init__(self, d=8):
        super().__init__()
        self.embed = nn.Embedding(20, d, padding_idx=0)
        self.attend = Attend(d)
        self.z, self.r, self.n = nn.Dense(3 * d, d), nn.Dense(3 * d, d), nn.Dense(3 * d, d)
        self.out = nn.Dense(2 * d, 20)
    def construct(self, source, target):
        memory = self.embed(source) * 8 ** 0.5
        mask = source == 0
        mask = ops.logical_and(mask, ops.cumsum(mask.astype(ms.int32), 1) < source.shape[1])
        state, outputs, looked = memory.mean(1), [], []
        for t in range(target.shape[1]):
            context, weights = self.attend(state, memory, mask)
            given = ops.cat([self.embed(target[:, t]), context, state], axis=-1)
            z, r = ops.sigmoid(self.z(given)), ops.sigmoid(self.r(given))
            new = tanh(self.n(ops.cat([given[:, :16], r * state], axis=-1)))
            state = (1 - z) * new + z * state
            outputs.append(self.out(ops.cat([state, context], axis=-1)))
            looked.append(weights)
        return ops.stack(outputs, axis=1), ops.stack(looked, axis=1)
""",
    ("int64[3,6]@1..20", "int64[3,4]@1..20"),
)

TOWERS = Twin(
    "towers",
    """
class Tower(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(i, 16), nn.Tanh(), nn.Linear(16, o, bias=False))
    def forward(self, x):
        return F.normalize(self.layers(x), dim=-1)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.words = Tower(10, 8), nn.Embedding(25, 12)
        self.text = Tower(12, 8)
        self.scale = nn.Parameter(torch.tensor(2.0))
        self.shared = nn.Parameter(torch.randn(8) * 0.1)
    def forward(self, image, ids):
        a = self.image(image) + self.shared
        mask = (ids > 3).float()
        b = self.text((self.words(ids) * mask[..., None]).sum(1) / (mask.sum(1, keepdim=True) + 1)) + self.shared
        logits = self.scale.exp() * a @ b.T
        return logits, logits.T, logits.diagonal()

def optimizer(net):
    slow = [p for n, p in net.named_parameters() if "words" in n]
    fast = [p for n, p in net.named_parameters() if "words" not in n]
    return torch.optim.SGD([{"params": slow, "lr": 0.01}, {"params": fast, "weight_decay": 0.1}], lr=0.1, momentum=0.9, nesterov=True)
""",
    """
class Tower(nn.Cell):
    def __init__(self, i, o):
        super().__init__()
        self.layers = nn.SequentialCell(nn.Dense(i, 16), nn.Tanh(), nn.Dense(16, o, has_bias=False))
    def construct(self, x):
        y = self.layers(x)
        return y / ops.sqrt((y * y).sum(-1, keepdims=True)).clamp(min=1e-12)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.image, self.words = Tower(10, 8), nn.Embedding(25, 12)
        self.text = Tower(12, 8)
        self.scale = Parameter(Tensor(2.0), name="scale")
        self.shared = Parameter(ops.ones(8), name="shared")
    def construct(self, image, ids):
        a = self.image(image) + self.shared
        mask = (ids > 3).astype(ms.float32)
        b = self.text((self.words(ids) * mask[..., None]).sum(1) / (mask.sum(1, keepdims=True) + 1)) + self.shared
        logits = ops.matmul(ops.exp(self.scale) * a, b.T)
        return logits, logits.T, ops.diagonal(logits)

def optimizer(net):
    slow = [p for p in net.trainable_params() if "words" in p.name]
    fast = [p for p in net.trainable_params() if "words" not in p.name]
    return nn.SGD([{"params": slow, "lr": 0.01}, {"params": fast, "weight_decay": 0.1}], learning_rate=0.1, momentum=0.9, nesterov=True)
""",
    ("float32[5,10]", "int64[5,4]@0..25"),
)

NEXT = Twin(
    "next",
    """
class Block(nn.Module):
    def __init__(self, c, rate):
        super().__init__()
        self.rate = rate
        self.depth = nn.Conv2d(c, c, 5, padding=2, groups=c)
        self.norm = nn.LayerNorm(c, eps=1e-6)
        self.wide, self.narrow = nn.Linear(c, 4 * c), nn.Linear(4 * c, c)
        self.gamma = nn.Parameter(torch.full((c,), 0.1))
    def forward(self, x):
        y = self.norm(self.depth(x).permute(0, 2, 3, 1))
        y = self.gamma * self.narrow(F.gelu(self.wide(y)))
        y = y.permute(0, 3, 1, 2)
        if self.training:
            keep = 1 - self.rate
            y = y * torch.rand(x.shape[0], 1, 1, 1).add(keep).floor() / keep
        return x + y

class Net(nn.Module):
    def __init__(self, c=8):
        super().__init__()
        self.stem = nn.Conv2d(3, c, 2, stride=2)
        self.blocks = nn.Sequential(Block(c, 0.2), Block(c, 0.4))
        self.norm = nn.GroupNorm(1, c)
        self.head = nn.Linear(c, 6)
    def forward(self, x):
        return self.head(self.norm(self.blocks(self.stem(x))).amax((2, 3)))
""",
    """
class Block(nn.Cell):
    def __init__(self, c, rate):
        super().__init__()
        self.rate = rate
        self.depth = nn.Conv2d(c, c, 5, pad_mode='pad', padding=2, group=c, has_bias=True)
        self.norm = nn.LayerNorm((c,), epsilon=1e-6)
        self.wide, self.narrow = nn.Dense(c, 4 * c), nn.Dense(4 * c, c)
        self.gamma = Parameter(0.1 * ops.ones(c), name="gamma")
    def construct(self, x):
        y = self.norm(self.depth(x).permute(0, 2, 3, 1))
        y = self.gamma * self.narrow(ops.gelu(self.wide(y), approximate='none'))
        y = y.permute(0, 3, 1, 2)
        if self.training:
            keep = 1 - self.rate
            y = y * ops.floor(ops.rand(x.shape[0], 1, 1, 1) + keep) / keep
        return x + y

class Net(nn.Cell):
    def __init__(self, c=8):
        super().__init__()
        self.stem = nn.Conv2d(3, c, 2, stride=2, pad_mode='pad', has_bias=True)
        self.blocks = nn.SequentialCell(Block(c, 0.2), Block(c, 0.4))
        self.norm = nn.GroupNorm(1, c)
        self.head = nn.Dense(c, 6)
    def construct(self, x):
        return self.head(ops.amax(self.norm(self.blocks(self.stem(x))), (2, 3)))
""",
    ("float32[4,3,12,12]",),
)

CLICKS = Twin(
    "clicks",
    """
class Cross(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(d) * 0.3), nn.Parameter(torch.zeros(d))
    def forward(self, first, x):
        return first * (x * self.weight).sum(-1, keepdim=True) + self.bias + x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(n, 4) for n in (7, 11)])
        self.cross = nn.ModuleList([Cross(13), Cross(13)])
        self.deep = nn.Sequential(nn.Linear(13, 16), nn.BatchNorm1d(16), nn.Hardswish(), nn.Dropout(0.2), nn.Linear(16, 8))
        self.out = nn.Linear(21, 2)
        self.register_buffer("mean", torch.linspace(-1, 1, 5))
    def forward(self, numbers, kinds):
        numbers = torch.log1p((numbers - self.mean).abs())
        x = torch.cat([numbers, *(table(kinds[:, i]) for i, table in enumerate(self.tables))], dim=-1)
        y = x
        for layer in self.cross:
            y = layer(x, y)
        logits = self.out(torch.cat([y, self.deep(x)], dim=-1))
        return torch.sigmoid(logits[:, 0]), torch.sigmoid(logits[:, 0]) * torch.sigmoid(logits[:, 1])
""",
    """
class Cross(nn.Cell):
    def __init__(self, d):
        super().__init__()
        self.weight, self.bias = Parameter(ops.ones(d), name="weight"), Parameter(ops.zeros(d), name="bias")
    def construct(self, first, x):
        return first * (x * self.weight).sum(-1, keepdims=True) + self.bias + x

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.tables = nn.CellList([nn.Embedding(n, 4) for n in (7, 11)])
        self.cross = nn.CellList([Cross(13), Cross(13)])
        self.deep = nn.SequentialCell(nn.Dense(13, 16), nn.BatchNorm1d(16), nn.HSwish(), nn.Dropout(p=0.2), nn.Dense(16, 8))
        self.out = nn.Dense(21, 2)
        self.mean = Parameter(Tensor(np.linspace(-1, 1, 5), ms.float32), name="mean", requires_grad=False)
    def construct(self, numbers, kinds):
        numbers = ops.log1p(ops.abs(numbers - self.mean))
        x = ops.cat([numbers] + [table(kinds[:, i]) for i, table in enumerate(self.tables)], axis=-1)
        y = x
        for layer in self.cross:
            y = layer(x, y)
        logits = self.out(ops.cat([y, self.deep(x)], axis=-1))
        return ops.sigmoid(logits[:, 0]), ops.sigmoid(logits[:, 0]) * ops.sigmoid(logits[:, 1])
""",
    ("float32[6,5]", "int64[6,2]@0..7"),
)

SEALED = (DETECTOR, VAE, ALIGNER, TOWERS, NEXT, CLICKS)
