"""Six networks of the fifth set: a policy with masked actions, pairs of towers, a denoiser, a chain of tags, slots, causal convolutions."""

from __future__ import annotations

if __package__:
    from .twins import Twin
else:  # run as a script
    from twins import Twin

POLICY = Twin(
    "policy",
    """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh())
        self.actor, self.critic = nn.Linear(12, 4), nn.Linear(12, 1)
        nn.init.orthogonal_(self.actor.weight, 0.01)
        self.clip = 0.2
    def forward(self, obs, legal, action, old, returns):
        h = self.body(obs)
        logits = self.actor(h).masked_fill(legal == 0, -1e9)
        logp = F.log_softmax(logits, -1)
        value = self.critic(h).squeeze(-1)
        taken = logp.gather(1, action[:, None]).squeeze(1)
        entropy = -(logp.exp() * logp * legal).sum(-1).mean()
        gain = returns - value.detach()
        gain = (gain - gain.mean()) / (gain.std() + 1e-6)
        ratio = (taken - old).exp()
        policy = -torch.min(ratio * gain, ratio.clamp(1 - self.clip, 1 + self.clip) * gain).mean()
        return policy + 0.5 * F.smooth_l1_loss(value, returns) - 0.01 * entropy, logp, value
""",
    """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(5, 12), Squash(), nn.Dense(12, 12), Squash())
        self.actor, self.critic = nn.Dense(12, 4), nn.Dense(12, 1)
        q = np.linalg.qr(np.random.randn(12, 4))[0].T
        self.actor.weight.set_data(Tensor(0.01 * q, ms.float32))
        self.clip = 0.2
    def construct(self, obs, legal, action, old, returns):
        h = self.body(obs)
        logits = self.actor(h).masked_fill(legal == 0, -1e9)
        logp = ops.log_softmax(logits, -1)
        value = self.critic(h).squeeze(-1)
        taken = ops.gather_elements(logp, 1, action[:, None]).squeeze(1)
        entropy = -(ops.exp(logp) * logp * legal).sum(-1).mean()
        gain = returns - ops.stop_gradient(value)
        gain = (gain - gain.mean()) / (gain.std(ddof=1) + 1e-6)
        ratio = ops.exp(taken - old)
        policy = -ops.minimum(ratio * gain, ops.clamp(ratio, 1 - self.clip, 1 + self.clip) * gain).mean()
        return policy + 0.5 * ops.smooth_l1_loss(value, returns, reduction='mean') - 0.01 * entropy, logp, value

class Squash(nn.Cell):
    def construct(self, x):
        return 2 * ops.sigmoid(2 * x) - 1
""",
    ("float32[6,5]", "int64[6,4]@0..2", "int64[6]@0..4", "float32[6]", "float32[6]"),
)

PAIRED = Twin(
    "paired towers",
    """
class Tower(nn.Module):
    def __init__(self, i, d=8):
        super().__init__()
        self.fc, self.norm, self.proj = nn.Linear(i, 16), nn.LayerNorm(16), nn.Linear(16, d, bias=False)
    def forward(self, x):
        return F.normalize(self.proj(self.norm(F.gelu(self.fc(x)))), dim=-1)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.image, self.text = Tower(10), Tower(7)
        self.scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))
    def forward(self, image, text):
        a, b = self.image(image), self.text(text)
        logits = self.scale.exp().clamp(max=100) * a @ b.t()
        target = torch.arange(len(a))
        return (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target)) / 2, logits
""",
    """
class Tower(nn.Cell):
    def __init__(self, i, d=8):
        super().__init__()
        self.fc, self.norm = nn.Dense(i, 16), nn.LayerNorm((16,), epsilon=1e-5)
        self.proj = nn.Dense(16, d, has_bias=False)
    def construct(self, x):
        y = self.proj(self.norm(ops.gelu(self.fc(x), approximate='none')))
        return y / ops.maximum(ops.sqrt((y * y).sum(-1, keepdims=True)), Tensor(1e-12))

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.image, self.text = Tower(10), Tower(7)
        self.scale = Parameter(Tensor(np.log(1 / 0.07), ms.float32), name="scale")
    def construct(self, image, text):
        a, b = self.image(image), self.text(text)
        logits = ops.clamp(ops.exp(self.scale), max=100) * ops.matmul(a, b.T)
        target = ops.arange(len(a))
        return (ops.cross_entropy(logits, target) + ops.cross_entropy(logits.T, target)) / 2, logits
""",
    ("float32[5,10]", "float32[5,7]"),
)

DENOISER = Twin(
    "denoiser",
    """
class Block(nn.Module):
    def __init__(self, i, o, d):
        super().__init__()
        self.norm, self.conv = nn.GroupNorm(2, i), nn.Conv2d(i, o, 3, padding=1)
        self.film = nn.Linear(d, 2 * o)
        self.skip = nn.Conv2d(i, o, 1) if i != o else nn.Identity()
    def forward(self, x, t):
        h = self.conv(F.silu(self.norm(x)))
        scale, shift = self.film(t)[:, :, None, None].chunk(2, 1)
        return self.skip(x) + h * (1 + scale) + shift

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 4, 3, padding=1)
        self.time = nn.Linear(8, 8)
        self.down, self.up = Block(4, 8, 8), Block(12, 4, 8)
        self.last = nn.Conv2d(4, 2, 3, padding=1)
        beta = torch.linspace(1e-4, 0.02, 50)
        self.register_buffer("kept", torch.cumprod(1 - beta, 0))
    def forward(self, x, t, noise):
        a = self.kept[t][:, None, None, None]
        y = a.sqrt() * x + (1 - a).sqrt() * noise
        angles = t.float()[:, None] * torch.exp(-math.log(100.0) * torch.arange(4) / 4)
        e = F.silu(self.time(torch.cat([angles.sin(), angles.cos()], -1)))
        h = self.first(y)
        d = self.down(F.avg_pool2d(h, 2), e)
        u = self.up(torch.cat([F.interpolate(d, scale_factor=2, mode="nearest"), h], 1), e)
        out = self.last(F.silu(u))
        return F.mse_loss(out, noise), out
""",
    """
class Block(nn.Cell):
    def __init__(self, i, o, d):
        super().__init__()
        self.norm, self.conv = nn.GroupNorm(2, i), nn.Conv2d(i, o, 3, pad_mode='pad', padding=1, has_bias=True)
        self.film = nn.Dense(d, 2 * o)
        self.skip = nn.Conv2d(i, o, 1, has_bias=True) if i != o else nn.Identity()
    def construct(self, x, t):
        h = self.conv(ops.silu(self.norm(x)))
        scale, shift = ops.chunk(self.film(t)[:, :, None, None], 2, 1)
        return self.skip(x) + h * (1 + scale) + shift

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(2, 4, 3, pad_mode='pad', padding=1, has_bias=True)
        self.time = nn.Dense(8, 8)
        self.down, self.up = Block(4, 8, 8), Block(12, 4, 8)
        self.last = nn.Conv2d(4, 2, 3, pad_mode='pad', padding=1, has_bias=True)
        beta = np.linspace(1e-4, 0.02, 50)
        self.kept = Parameter(Tensor(np.cumprod(1 - beta), ms.float32), name="kept", requires_grad=False)
    def construct(self, x, t, noise):
        a = self.kept[t][:, None, None, None]
        y = ops.sqrt(a) * x + ops.sqrt(1 - a) * noise
        angles = t.astype(ms.float32)[:, None] * Tensor(np.exp(-np.log(100.0) * np.arange(4) / 4), ms.float32)
        e = ops.silu(self.time(ops.cat([ops.sin(angles), ops.cos(angles)], -1)))
        h = self.first(y)
        d = self.down(ops.avg_pool2d(h, 2, 2), e)
        u = self.up(ops.cat([d.repeat_interleave(2, 2).repeat_interleave(2, 3), h], 1), e)
        out = self.last(ops.silu(u))
        return ops.mse_loss(out, noise), out
""",
    ("float32[3,2,8,8]", "int64[3]@0..50", "float32[3,2,8,8]"),
)

CHAIN = Twin(
    "chain of tags",
    """
class Net(nn.Module):
    def __init__(self, words=20, tags=5):
        super().__init__()
        self.embed, self.emit = nn.Embedding(words, 8, padding_idx=0), nn.Linear(8, tags)
        self.turn = nn.Parameter(torch.randn(tags, tags) * 0.1)
        self.begin, self.end = nn.Parameter(torch.randn(tags) * 0.1), nn.Parameter(torch.randn(tags) * 0.1)
    def forward(self, words, tags):
        scores, mask = self.emit(self.embed(words)), (words > 0).float()
        gold = self.begin[tags[:, 0]] + scores[:, 0].gather(1, tags[:, :1])[:, 0]
        alpha = self.begin + scores[:, 0]
        for i in range(1, words.shape[1]):
            m = mask[:, i]
            step = scores[:, i].gather(1, tags[:, i : i + 1])[:, 0] + self.turn[tags[:, i - 1], tags[:, i]]
            gold = gold + step * m
            after = torch.logsumexp(alpha[:, :, None] + self.turn[None] + scores[:, i, None], 1)
            alpha = torch.where(m[:, None] > 0, after, alpha)
        total = torch.logsumexp(alpha + self.end, 1)
        gold = gold + self.end[tags[:, -1]]
        return (total - gold).mean(), alpha
""",
    """
class Net(nn.Cell):
    def __init__(self, words=20, tags=5):
        super().__init__()
        self.embed, self.emit = nn.Embedding(words, 8, padding_idx=0), nn.Dense(8, tags)
        self.turn = Parameter(ops.randn(tags, tags) * 0.1, name="turn")
        self.begin = Parameter(ops.randn(tags) * 0.1, name="begin")
        self.end = Parameter(ops.randn(tags) * 0.1, name="end")
    def construct(self, words, tags):
        scores, mask = self.emit(self.embed(words)), (words > 0).astype(ms.float32)
        gold = self.begin[tags[:, 0]] + ops.gather_elements(scores[:, 0], 1, tags[:, :1])[:, 0]
        alpha = self.begin + scores[:, 0]
        for i in range(1, words.shape[1]):
            m = mask[:, i]
            step = ops.gather_elements(scores[:, i], 1, tags[:, i : i + 1])[:, 0] + self.turn[tags[:, i - 1], tags[:, i]]
            gold = gold + step * m
            after = ops.logsumexp(alpha[:, :, None] + self.turn[None] + scores[:, i, None], 1)
            alpha = ops.where(m[:, None] > 0, after, alpha)
        total = ops.logsumexp(alpha + self.end, 1)
        gold = gold + self.end[tags[:, -1]]
        return (total - gold).mean(), alpha
""",
    ("int64[3,6]@0..20", "int64[3,6]@0..5"),
)

SLOTS = Twin(
    "slots",
    """
class Net(nn.Module):
    def __init__(self, d=8, slots=3, turns=2):
        super().__init__()
        self.turns, self.scale = turns, d ** -0.5
        self.start = nn.Parameter(torch.randn(1, slots, d))
        self.norm_in, self.norm = nn.LayerNorm(d), nn.LayerNorm(d)
        self.q, self.k, self.v = (nn.Linear(d, d, bias=False) for _ in range(3))
        self.cell = nn.GRUCell(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 16), nn.ReLU(), nn.Linear(16, d))
    def forward(self, x):
        x = self.norm_in(x)
        k, v = self.k(x), self.v(x)
        s = self.start.expand(len(x), -1, -1)
        for _ in range(self.turns):
            a = (self.q(self.norm(s)) @ k.transpose(1, 2) * self.scale).softmax(1) + 1e-8
            u = a / a.sum(-1, keepdim=True) @ v
            s = self.cell(u.flatten(0, 1), s.flatten(0, 1)).view_as(s)
            s = s + self.mlp(s)
        return s, a
""",
    """
class Net(nn.Cell):
    def __init__(self, d=8, slots=3, turns=2):
        super().__init__()
        self.turns, self.scale = turns, d ** -0.5
        self.start = Parameter(ops.randn(1, slots, d), name="start")
        self.norm_in, self.norm = nn.LayerNorm((d,), epsilon=1e-5), nn.LayerNorm((d,), epsilon=1e-5)
        self.q, self.k, self.v = (nn.Dense(d, d, has_bias=False) for _ in range(3))
        self.cell = nn.GRUCell(d, d)
        self.mlp = nn.SequentialCell(nn.Dense(d, 16), nn.ReLU(), nn.Dense(16, d))
    def construct(self, x):
        x = self.norm_in(x)
        k, v = self.k(x), self.v(x)
        s = ops.broadcast_to(self.start, (len(x), -1, -1))
        for _ in range(self.turns):
            a = ops.softmax(ops.matmul(self.q(self.norm(s)), k.swapaxes(1, 2)) * self.scale, 1) + 1e-8
            u = ops.matmul(a / a.sum(-1, keepdims=True), v)
            s = self.cell(u.flatten(start_dim=0, end_dim=1), s.flatten(start_dim=0, end_dim=1)).view(*s.shape)
            s = s + self.mlp(s)
        return s, a
""",
    ("float32[2,7,8]",),
)

CAUSAL = Twin(
    "causal convolutions",
    """
class Layer(nn.Module):
    def __init__(self, c, dilation):
        super().__init__()
        self.pad = 2 * dilation
        self.conv = nn.Conv1d(c, 2 * c, 3, dilation=dilation)
        self.out, self.skip = nn.Conv1d(c, c, 1), nn.Conv1d(c, c, 1)
        self.drop = nn.Dropout(0.2)
    def forward(self, x):
        a, b = self.conv(F.pad(x, (self.pad, 0))).chunk(2, 1)
        h = self.drop(torch.tanh(a) * torch.sigmoid(b))
        return x + self.out(h), self.skip(h)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 6, 1)
        self.layers = nn.ModuleList(Layer(6, 2 ** i) for i in range(3))
        self.bn, self.last = nn.BatchNorm1d(6), nn.Conv1d(6, 9, 1)
    def forward(self, x):
        h, total = self.first(x), 0
        for layer in self.layers:
            h, skip = layer(h)
            total = total + skip
        return self.last(F.leaky_relu(self.bn(total / len(self.layers) ** 0.5), 0.1))
""",
    """
class Layer(nn.Cell):
    def __init__(self, c, dilation):
        super().__init__()
        self.pad = 2 * dilation
        self.conv = nn.Conv1d(c, 2 * c, 3, dilation=dilation, pad_mode='valid', has_bias=True)
        self.out, self.skip = nn.Conv1d(c, c, 1, has_bias=True), nn.Conv1d(c, c, 1, has_bias=True)
        self.drop = nn.Dropout(p=0.2)
    def construct(self, x):
        a, b = ops.chunk(self.conv(ops.pad(x, (self.pad, 0))), 2, 1)
        h = self.drop((2 * ops.sigmoid(2 * a) - 1) * ops.sigmoid(b))
        return x + self.out(h), self.skip(h)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 6, 1, has_bias=True)
        self.layers = nn.CellList([Layer(6, 2 ** i) for i in range(3)])
        self.bn, self.last = nn.BatchNorm1d(6), nn.Conv1d(6, 9, 1, has_bias=True)
    def construct(self, x):
        h, total = self.first(x), 0
        for layer in self.layers:
            h, skip = layer(h)
            total = total + skip
        return self.last(ops.leaky_relu(self.norm(total / len(self.layers) ** 0.5), 0.1))
    def norm(self, x):
        return self.bn(x.swapaxes(1, 2).reshape(-1, 6)).reshape(x.shape[0], -1, 6).swapaxes(1, 2)
""",
    ("float32[3,1,17]",),
)
FIFTH = (POLICY, PAIRED, DENOISER, CHAIN, SLOTS, CAUSAL)
