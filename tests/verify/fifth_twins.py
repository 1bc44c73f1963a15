"""Four networks of the fourth set: a low-rank layer that merges, a text classifier with its loss, a queue of keys, a pyramid with heads."""

from __future__ import annotations

if __package__:
    from .twins import Twin
else:  # run as a script
    from twins import Twin

LOW_RANK = Twin(
    "low rank",
    """
class LowRank(nn.Module):
    def __init__(self, i, o, r=2, alpha=4):
        super().__init__()
        self.base = nn.Linear(i, o)
        self.base.weight.requires_grad = False
        self.down, self.up = nn.Parameter(torch.randn(r, i) * 0.3), nn.Parameter(torch.randn(o, r) * 0.3)
        self.scaling, self.is_merged = alpha / r, False
    def train(self, mode=True):
        super().train(mode)
        if mode == self.is_merged:
            sign = -1.0 if mode else 1.0
            self.base.weight.data += sign * self.scaling * (self.up @ self.down).data
            self.is_merged = not mode
        return self
    def forward(self, x):
        if self.is_merged:
            return self.base(x)
        return self.base(x) + (x @ self.down.T @ self.up.T) * self.scaling

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = LowRank(6, 8), LowRank(8, 3)
    def forward(self, x):
        return self.b(F.silu(self.a(x)))
""",
    """
class LowRank(nn.Cell):
    def __init__(self, i, o, r=2, alpha=4):
        super().__init__()
        self.base = nn.Dense(i, o)
        self.base.weight.requires_grad = False
        self.down, self.up = Parameter(ops.ones((r, i)), name="down"), Parameter(ops.ones((o, r)), name="up")
        self.scaling, self.is_merged = alpha / r, False
    def set_train(self, mode=True):
        super().set_train(mode)
        if mode == self.is_merged:
            sign = -1.0 if mode else 1.0
            self.base.weight.set_data(self.base.weight + sign * self.scaling * ops.matmul(self.up, self.down))
            self.is_merged = not mode
        return self
    def construct(self, x):
        if self.is_merged:
            return self.base(x)
        return self.base(x) + ops.matmul(ops.matmul(x, self.down.T), self.up.T) * self.scaling

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.a, self.b = LowRank(6, 8), LowRank(8, 3)
    def set_train(self, mode=True):
        super().set_train(mode)
        self.a.set_train(mode)
        self.b.set_train(mode)
        return self
    def construct(self, x):
        return self.b(ops.silu(self.a(x)))
""",
    ("float32[4,6]",),
)

TEXT = Twin(
    "text",
    """
class Net(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.words = nn.Embedding(30, d, padding_idx=0)
        self.places = nn.Embedding(64, d)
        self.norm = nn.LayerNorm(d)
        self.head = nn.Linear(d, 5)
    def forward(self, ids, labels):
        h = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1])))
        live = (ids != 0).unsqueeze(-1).float()
        pooled = (h * live).sum(1) / live.sum(1).clamp(min=1)
        logits = self.head(pooled)
        loss = F.cross_entropy(logits, labels, ignore_index=4, label_smoothing=0.1)
        return {"loss": loss, "logits": logits, "pooled": pooled.detach(), "lengths": live.sum((1, 2)).long()}
""",
    """
def cross_entropy(logits, labels, ignore_index, label_smoothing):
    logp = ops.log_softmax(logits, -1)
    keep = (labels != ignore_index).astype(logp.dtype)
    hard = -ops.gather_elements(logp, 1, labels[:, None])[:, 0]
    soft = -logp.mean(-1)
    each = (1 - label_smoothing) * hard + label_smoothing * soft
    return (each * keep).sum() / keep.sum()

class Net(nn.Cell):
    def __init__(self, d=8):
        super().__init__()
        self.words = nn.Embedding(30, d, padding_idx=0)
        self.places = nn.Embedding(64, d)
        self.norm = nn.LayerNorm((d,), epsilon=1e-5)
        self.head = nn.Dense(d, 5)
    def construct(self, ids, labels):
        table = self.words.embedding_table
        fixed = ops.arange(30)[:, None] == 0
        words = ops.gather(ops.where(fixed, ops.stop_gradient(table), table), ids, 0)
        h = self.norm(words + self.places(ops.arange(ids.shape[1])))
        live = (ids != 0).expand_dims(-1).astype(ms.float32)
        pooled = (h * live).sum(1) / ops.clamp(live.sum(1), min=1)
        logits = self.head(pooled)
        loss = cross_entropy(logits, labels, ignore_index=4, label_smoothing=0.1)
        return {"loss": loss, "logits": logits, "pooled": ops.stop_gradient(pooled), "lengths": live.sum((1, 2)).astype(ms.int64)}
""",
    ("int64[6,7]@0..30", "int64[6]@0..5"),
)

QUEUE = Twin(
    "queue",
    """
class Net(nn.Module):
    def __init__(self, d=6, size=10):
        super().__init__()
        self.query, self.key = nn.Linear(5, d), nn.Linear(5, d)
        self.register_buffer("queue", F.normalize(torch.arange(size * d).float().view(size, d) % 7 - 3.1, dim=1))
        self.register_buffer("place", torch.zeros((), dtype=torch.int64))
        self.register_buffer("counts", torch.zeros(4))
    def forward(self, x, y, kinds):
        q, k = F.normalize(self.query(x), dim=1), F.normalize(self.key(y), dim=1)
        near, far = (q * k.detach()).sum(1, keepdim=True), q @ self.queue.clone().T
        scores = torch.cat([near, far], 1) / 0.2
        if self.training:
            b, size = x.shape[0], self.queue.shape[0]
            with torch.no_grad():
                at = (self.place + torch.arange(b)) % size
                self.queue[at] = k
                self.place.copy_((self.place + b) % size)
                self.counts.mul_(0.9).add_(torch.bincount(kinds, minlength=4).float(), alpha=0.1)
        return scores, k.square().mean(0)
""",
    """
def normalize(x):
    return x / ops.clamp(ops.sqrt((x * x).sum(1, keepdims=True)), min=1e-12)

class Net(nn.Cell):
    def __init__(self, d=6, size=10):
        super().__init__()
        self.query, self.key = nn.Dense(5, d), nn.Dense(5, d)
        table = normalize(Tensor((np.arange(size * d).reshape(size, d) % 7 - 3.1).astype(np.float32)))
        self.queue = Parameter(table, name="queue", requires_grad=False)
        self.place = Parameter(Tensor(0, ms.int64), name="place", requires_grad=False)
        self.counts = Parameter(ops.zeros(4), name="counts", requires_grad=False)
    def construct(self, x, y, kinds):
        q, k = normalize(self.query(x)), normalize(self.key(y))
        near, far = (q * ops.stop_gradient(k)).sum(1, keepdims=True), ops.matmul(q, self.queue.T)
        scores = ops.cat([near, far], 1) / 0.2
        if self.training:
            b, size = x.shape[0], self.queue.shape[0]
            at = (self.place + ops.arange(b)) % size
            queue = ops.tensor_scatter_update(self.queue, at[:, None], ops.stop_gradient(k))
            ops.assign(self.queue, queue)
            ops.assign(self.place, (self.place + b) % size)
            hits = (kinds[:, None] == ops.arange(4)[None]).astype(ms.float32).sum(0)
            ops.assign(self.counts, self.counts * 0.9 + 0.1 * hits)
        return scores, ops.square(k).mean(0)
""",
    ("float32[4,5]", "float32[4,5]", "int64[4]@0..4"),
)

PYRAMID = Twin(
    "pyramid",
    """
class Stage(nn.Module):
    def __init__(self, i, o, momentum):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(i, o, 3, 2, 1, bias=False), nn.BatchNorm2d(o, momentum=momentum)
    def forward(self, x):
        return F.relu(self.norm(self.conv(x)))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = Stage(3, 6, 0.1), Stage(6, 8, 0.03)
        self.side = nn.ModuleDict({"low": nn.Conv2d(6, 4, 1), "high": nn.Conv2d(8, 4, 1)})
        self.aux = nn.Conv2d(6, 2, 1)
    def forward(self, x):
        a = self.one(x)
        b = self.two(a)
        up = F.interpolate(self.side["high"](b), scale_factor=2, mode="bilinear", align_corners=False)
        out = {"low": self.side["low"](a) + up, "high": self.side["high"](b)}
        if self.training:
            out["aux"] = 0.4 * self.aux(a)
        return out
""",
    """
class Stage(nn.Cell):
    def __init__(self, i, o, momentum):
        super().__init__()
        self.conv = nn.Conv2d(i, o, 3, 2, pad_mode='pad', padding=1, has_bias=False)
        self.norm = nn.BatchNorm2d(o, momentum=1 - momentum)
    def construct(self, x):
        return ops.relu(self.norm(self.conv(x)))

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.one, self.two = Stage(3, 6, 0.1), Stage(6, 8, 0.03)
        self.side = nn.CellDict({"low": nn.Conv2d(6, 4, 1, has_bias=True), "high": nn.Conv2d(8, 4, 1, has_bias=True)})
        self.aux = nn.Conv2d(6, 2, 1, has_bias=True)
    def construct(self, x):
        a = self.one(x)
        b = self.two(a)
        up = ops.interpolate(self.side["high"](b), size=(2 * b.shape[2], 2 * b.shape[3]), mode="bilinear", align_corners=False)
        out = {"low": self.side["low"](a) + up, "high": self.side["high"](b)}
        if self.training:
            out["aux"] = 0.4 * self.aux(a)
        return out
""",
    ("float32[3,3,16,16]",),
)

FOLLOWER = Twin(
    "follower",
    """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.online, self.target, self.predict = nn.Linear(6, 5), nn.Linear(6, 5), nn.Linear(5, 5)
        self.target.load_state_dict(self.online.state_dict())
        self.target.requires_grad_(False)
        table = torch.arange(5.) / 5
        self.register_buffer("table", table.unsqueeze(0), persistent=False)
    def forward(self, x):
        y = self.predict(self.online(x))
        with torch.no_grad():
            t = self.target(x) + self.table
        if self.training:
            with torch.no_grad():
                for o, p in zip(self.online.parameters(), self.target.parameters()):
                    p.mul_(0.95).add_(o, alpha=0.05)
        return ((y - t) ** 2).mean(), y
""",
    """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.online, self.target, self.predict = nn.Dense(6, 5), nn.Dense(6, 5), nn.Dense(5, 5)
        for o, p in zip(self.online.get_parameters(), self.target.get_parameters()):
            p.set_data(o.value())
            p.requires_grad = False
        self.table = (ops.arange(5).float() / 5).unsqueeze(0)
    def construct(self, x):
        y = self.predict(self.online(x))
        t = ops.stop_gradient(self.target(x) + self.table)
        if self.training:
            for o, p in zip(self.online.get_parameters(), self.target.get_parameters()):
                p.set_data(p * 0.95 + 0.05 * o)
        return ((y - t) ** 2).mean(), y
""",
    ("float32[5,6]",),
)
