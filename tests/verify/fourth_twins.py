"""Six more networks of the third set; see third_twins.py."""

from __future__ import annotations

if __package__:
    from .twins import Twin
else:  # run as a script
    from twins import Twin

BACKWARD = Twin(
    "backward",
    """
class Gate(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x, scale)
        return torch.sign(x) * scale
    @staticmethod
    def backward(ctx, grad):
        x, scale = ctx.saved_tensors
        near = (x.abs() <= 1).to(grad.dtype)
        return grad * near * scale, (grad * torch.sign(x)).sum()

class Turn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, weight):
        ctx.weight = weight
        return x.view_as(x)
    @staticmethod
    def backward(ctx, grad):
        return -ctx.weight * grad, None

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.label, self.domain = nn.Linear(7, 6), nn.Linear(6, 3), nn.Linear(6, 2)
        self.scale = nn.Parameter(torch.tensor(0.7))
    def forward(self, x):
        h = Gate.apply(self.body(x), self.scale)
        return self.label(h), self.domain(Turn.apply(h, 0.5))
""",
    """
class Gate(nn.Cell):
    def construct(self, x, scale):
        return ops.sign(x) * scale
    def bprop(self, x, scale, out, grad):
        near = (ops.abs(x) <= 1).astype(grad.dtype)
        return grad * near * scale, (grad * ops.sign(x)).sum()

class Turn(nn.Cell):
    def __init__(self, weight):
        super().__init__()
        self.weight = weight
    def construct(self, x):
        return x * 1
    def bprop(self, x, out, grad):
        return (-self.weight * grad,)

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body, self.label, self.domain = nn.Dense(7, 6), nn.Dense(6, 3), nn.Dense(6, 2)
        self.scale = Parameter(Tensor(0.7), name="scale")
    def construct(self, x):
        h = Gate()(self.body(x), self.scale)
        return self.label(h), self.domain(Turn(0.5)(h))
""",
    ("float32[4,7]",),
)

STREAM = Twin(
    "stream",
    """
class Causal(nn.Module):
    def __init__(self, c, dilation):
        super().__init__()
        self.left = 2 * dilation
        self.conv = nn.Conv1d(c, c, 3, dilation=dilation)
        self.register_buffer("past", torch.zeros(1, c, self.left), persistent=False)
    def forward(self, x):
        y = torch.cat([self.past.expand(x.shape[0], -1, -1), x], -1)
        if not self.training:
            self.past.copy_(y[:, :, -self.left :].mean(0, keepdim=True))
        return F.relu(self.conv(y)) + x

class Net(nn.Module):
    def __init__(self, c=4):
        super().__init__()
        self.inp = nn.Conv1d(2, c, 1)
        self.layers = nn.ModuleList([Causal(c, 1), Causal(c, 2)])
        self.register_buffer("seen", torch.zeros((), dtype=torch.int64))
    def forward(self, x):
        place = (self.seen + torch.arange(x.shape[-1])).float()
        if not self.training:
            self.seen += x.shape[-1]
        x = self.inp(x) + torch.sin(place * 0.3)
        for layer in self.layers:
            x = layer(x)
        return x
""",
    """
class Causal(nn.Cell):
    def __init__(self, c, dilation):
        super().__init__()
        self.left = 2 * dilation
        self.conv = nn.Conv1d(c, c, 3, dilation=dilation, pad_mode='pad', has_bias=True)
        self.past = Parameter(ops.zeros((1, c, self.left)), name="past", requires_grad=False)
    def construct(self, x):
        y = ops.cat([ops.broadcast_to(self.past, (x.shape[0], -1, -1)), x], -1)
        if not self.training:
            ops.assign(self.past, y[:, :, -self.left :].mean(0, keep_dims=True))
        return ops.relu(self.conv(y)) + x

class Net(nn.Cell):
    def __init__(self, c=4):
        super().__init__()
        self.inp = nn.Conv1d(2, c, 1, has_bias=True)
        self.layers = nn.CellList([Causal(c, 1), Causal(c, 2)])
        self.seen = Parameter(Tensor(0, ms.int64), name="seen", requires_grad=False)
    def construct(self, x):
        place = (self.seen + ops.arange(x.shape[-1])).astype(ms.float32)
        if not self.training:
            ops.assign(self.seen, self.seen + x.shape[-1])
        x = self.inp(x) + ops.sin(place * 0.3)
        for layer in self.layers:
            x = layer(x)
        return x
""",
    ("float32[2,2,7]",),
)

FLOW = Twin(
    "flow",
    """
class Coupling(nn.Module):
    def __init__(self, d, odd):
        super().__init__()
        self.odd = odd
        self.net = nn.Sequential(nn.Linear(d // 2, 12), nn.Softplus(), nn.Linear(12, d))
    def forward(self, x):
        a, b = x.chunk(2, -1)
        a, b = (b, a) if self.odd else (a, b)
        s, t = self.net(a).chunk(2, -1)
        s = 2 * torch.tanh(s / 2)
        b = b * torch.exp(s) + t
        return torch.cat([b, a] if self.odd else [a, b], -1), s.sum(-1)

class Mix(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.lower, self.upper = nn.Parameter(torch.randn(d, d) * 0.3), nn.Parameter(torch.randn(d, d) * 0.3)
        self.log = nn.Parameter(torch.randn(d) * 0.1)
        self.register_buffer("order", torch.tensor([2, 0, 3, 1]))
    def forward(self, x):
        eye = torch.eye(len(self.log))
        w = (self.lower.tril(-1) + eye) @ (self.upper.triu(1) + torch.diag(self.log.exp()))
        return x[:, self.order] @ w.t(), self.log.sum().expand(len(x))

class Net(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        self.flows = nn.ModuleList([Coupling(d, False), Mix(d), Coupling(d, True)])
    def forward(self, x):
        total = 0.0
        for flow in self.flows:
            x, log_det = flow(x)
            total = total + log_det
        prior = -0.5 * (x.pow(2) + math.log(2 * math.pi)).sum(-1)
        return {"z": x, "log_det": total, "log_prob": prior + total}
""",
    """
import math

def tanh(x):  # MindSpore's own is off by 3e-5 on a CPU
    return 2 * ops.sigmoid(2 * x) - 1

class Softplus(nn.Cell):
    def construct(self, x):
        return ops.relu(x) + ops.log(1 + ops.exp(-ops.abs(x)))

class Coupling(nn.Cell):
    def __init__(self, d, odd):
        super().__init__()
        self.odd = odd
        self.net = nn.SequentialCell(nn.Dense(d // 2, 12), Softplus(), nn.Dense(12, d))
    def construct(self, x):
        a, b = ops.chunk(x, 2, -1)
        a, b = (b, a) if self.odd else (a, b)
        s, t = ops.chunk(self.net(a), 2, -1)
        s = 2 * tanh(s / 2)
        b = b * ops.exp(s) + t
        return ops.cat([b, a] if self.odd else [a, b], -1), s.sum(-1)

class Mix(nn.Cell):
    def __init__(self, d):
        super().__init__()
        self.lower, self.upper = Parameter(ops.ones((d, d)), name="lower"), Parameter(ops.ones((d, d)), name="upper")
        self.log = Parameter(ops.ones(d), name="log")
        self.order = Parameter(Tensor([2, 0, 3, 1], ms.int64), name="order", requires_grad=False)
    def construct(self, x):
        eye = ops.eye(len(self.log))
        w = ops.matmul(ops.tril(self.lower, -1) + eye, ops.triu(self.upper, 1) + ops.diag(ops.exp(self.log)))
        return ops.matmul(x[:, self.order], w.T), ops.broadcast_to(self.log.sum(), (len(x),))

class Net(nn.Cell):
    def __init__(self, d=4):
        super().__init__()
        self.flows = nn.CellList([Coupling(d, False), Mix(d), Coupling(d, True)])
    def construct(self, x):
        total = 0.0
        for flow in self.flows:
            x, log_det = flow(x)
            total = total + log_det
        prior = -0.5 * (x.pow(2) + math.log(2 * math.pi)).sum(-1)
        return {"z": x, "log_det": total, "log_prob": prior + total}
""",
    ("float32[5,4]",),
)

HYPER = Twin(
    "hyper",
    """
class Net(nn.Module):
    def __init__(self, c=4, k=3):
        super().__init__()
        self.task = nn.Embedding(5, 6)
        self.weight, self.shift = nn.Linear(6, c * c * k * k), nn.Linear(6, c)
        self.stem, self.head = nn.Conv2d(1, c, 3, padding=1), nn.Conv2d(c, 2, 1)
        self.c, self.k = c, k
    def forward(self, x, task):
        b, _, h, w = x.shape
        e = self.task(task)
        kernel = self.weight(e).view(b * self.c, self.c, self.k, self.k)
        kernel = kernel * torch.rsqrt(kernel.pow(2).sum((1, 2, 3), keepdim=True) + 1e-8)
        y = self.stem(x).reshape(1, b * self.c, h, w)
        y = F.conv2d(y, kernel, padding=self.k // 2, groups=b).view(b, self.c, h, w)
        y = F.leaky_relu(y + self.shift(e)[:, :, None, None], 0.2)
        return self.head(y)
""",
    """
class Net(nn.Cell):
    def __init__(self, c=4, k=3):
        super().__init__()
        self.task = nn.Embedding(5, 6)
        self.weight, self.shift = nn.Dense(6, c * c * k * k), nn.Dense(6, c)
        self.stem = nn.Conv2d(1, c, 3, pad_mode='pad', padding=1, has_bias=True)
        self.head = nn.Conv2d(c, 2, 1, has_bias=True)
        self.c, self.k = c, k
    def construct(self, x, task):
        b, _, h, w = x.shape
        e = self.task(task)
        kernel = self.weight(e).view(b * self.c, self.c, self.k, self.k)
        kernel = kernel * ops.rsqrt(kernel.pow(2).sum((1, 2, 3), keepdims=True) + 1e-8)
        y = self.stem(x).reshape(1, b * self.c, h, w)
        y = ops.conv2d(y, kernel, pad_mode='pad', padding=self.k // 2, groups=b).view(b, self.c, h, w)
        y = ops.leaky_relu(y + self.shift(e)[:, :, None, None], 0.2)
        return self.head(y)
""",
    ("float32[3,1,6,6]", "int64[3]@0..5"),
)

BOXES = Twin(
    "boxes",
    """
class Net(nn.Module):
    def __init__(self, c=6):
        super().__init__()
        self.body = nn.Linear(8, c)
        self.scores, self.boxes = nn.Linear(c, 3), nn.Linear(c, 4)
    def forward(self, x, targets, labels):
        h = F.relu(self.body(x))
        scores, boxes = self.scores(h), self.boxes(h)
        positive = labels > 0
        wanted = F.one_hot(labels.clamp(min=0), 3).to(scores.dtype)
        p = torch.sigmoid(scores)
        cross = F.softplus(scores) - scores * wanted
        focal = (0.25 * wanted + 0.75 * (1 - wanted)) * (wanted * (1 - p) + (1 - wanted) * p).pow(2) * cross
        count = positive.sum().clamp(min=1)
        off = (boxes - targets).abs()
        smooth = torch.where(off < 0.5, off * off, off - 0.25)
        matched = smooth[positive].sum() / count
        return focal[labels >= 0].sum() / count, matched, count, boxes
""",
    """
class Net(nn.Cell):
    def __init__(self, c=6):
        super().__init__()
        self.body = nn.Dense(8, c)
        self.scores, self.boxes = nn.Dense(c, 3), nn.Dense(c, 4)
    def construct(self, x, targets, labels):
        h = ops.relu(self.body(x))
        scores, boxes = self.scores(h), self.boxes(h)
        positive = labels > 0
        wanted = ops.one_hot(labels.clamp(min=0), 3).astype(scores.dtype)
        p = ops.sigmoid(scores)
        cross = ops.relu(scores) + ops.log(1 + ops.exp(-ops.abs(scores))) - scores * wanted
        focal = (0.25 * wanted + 0.75 * (1 - wanted)) * (wanted * (1 - p) + (1 - wanted) * p).pow(2) * cross
        count = positive.astype(ms.int64).sum().clamp(min=1)
        off = ops.abs(boxes - targets)
        smooth = ops.where(off < 0.5, off * off, off - 0.25)
        matched = (smooth * positive[..., None]).sum() / count
        return (focal * (labels >= 0)[..., None]).sum() / count, matched, count, boxes
""",
    ("float32[2,5,8]", "float32[2,5,4]", "int64[2,5]@-1..3"),
)

EDGES = Twin(
    "edges",
    """
class Attend(nn.Module):
    def __init__(self, i, o, heads):
        super().__init__()
        self.heads = heads
        self.lin = nn.Linear(i, heads * o, bias=False)
        self.source, self.target = nn.Parameter(torch.randn(heads, o) * 0.4), nn.Parameter(torch.randn(heads, o) * 0.4)
        self.bias = nn.Parameter(torch.zeros(heads * o))
    def forward(self, x, edges):
        n = x.shape[0]
        h = self.lin(x).view(n, self.heads, -1)
        a, b = edges[0], edges[1]
        e = F.leaky_relu((h * self.source).sum(-1)[a] + (h * self.target).sum(-1)[b], 0.2)
        e = torch.exp(e - e.max())
        total = torch.zeros(n, self.heads, dtype=e.dtype).index_add(0, b, e)
        alpha = e / (total[b] + 1e-16)
        out = torch.zeros_like(h).index_add(0, b, alpha[..., None] * h[a])
        return out.reshape(n, -1) + self.bias, alpha

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = Attend(5, 4, 2), Attend(8, 3, 1)
    def forward(self, x, edges):
        h, _ = self.one(x, edges)
        h, alpha = self.two(F.elu(h), edges)
        degree = torch.zeros(len(x), dtype=torch.int64).index_add(0, edges[1], torch.ones_like(edges[1]))
        return F.log_softmax(h, -1), alpha, degree
""",
    """
class Attend(nn.Cell):
    def __init__(self, i, o, heads):
        super().__init__()
        self.heads = heads
        self.lin = nn.Dense(i, heads * o, has_bias=False)
        self.source, self.target = Parameter(ops.ones((heads, o)), name="source"), Parameter(ops.ones((heads, o)), name="target")
        self.bias = Parameter(ops.zeros(heads * o), name="bias")
    def construct(self, x, edges):
        n = x.shape[0]
        h = self.lin(x).view(n, self.heads, -1)
        a, b = edges[0], edges[1]
        e = ops.leaky_relu((h * self.source).sum(-1)[a] + (h * self.target).sum(-1)[b], 0.2)
        e = ops.exp(e - e.max())
        total = ops.unsorted_segment_sum(e, b, n)
        alpha = e / (total[b] + 1e-16)
        out = ops.unsorted_segment_sum(alpha[..., None] * h[a], b, n)
        return out.reshape(n, -1) + self.bias, alpha

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.one, self.two = Attend(5, 4, 2), Attend(8, 3, 1)
    def construct(self, x, edges):
        h, _ = self.one(x, edges)
        h, alpha = self.two(ops.elu(h), edges)
        degree = ops.unsorted_segment_sum(ops.ones_like(edges[1]), edges[1], len(x))
        return ops.log_softmax(h, -1), alpha, degree
""",
    ("float32[6,5]", "int64[2,12]@0..6"),
)
