"""Networks of the tenth set, for torch alone, as ninth_networks.py has those of the ninth."""

from __future__ import annotations

TENTH_NETWORKS = {
    "two towers": (
        """class Tower(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.bag = nn.EmbeddingBag(words, width, mode="mean")
        self.body = nn.Sequential(nn.Linear(width, 2 * width), nn.ELU(alpha=0.5), nn.Linear(2 * width, width))

    def forward(self, ids):
        x = self.bag(ids)
        return F.normalize(x + self.body(x), dim=-1, eps=1e-6)


class Net(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.left, self.right = Tower(20, width), Tower(15, width)
        self.heat = nn.Parameter(torch.tensor(1.2))

    def forward(self, questions, answers):
        scores = self.left(questions) @ self.right(answers).t()
        scores = scores * self.heat.exp().clamp(max=50.0)
        right = torch.arange(len(scores))
        loss = (F.cross_entropy(scores, right) + F.cross_entropy(scores.t(), right)) / 2
        return {"loss": loss, "scores": scores, "rank": (scores > scores.diagonal().unsqueeze(1)).sum(1)}
""",
        ("int64[4,5]@0..20", "int64[4,3]@0..15"),
    ),
    "boxes": (
        """class Head(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.score = nn.Conv2d(width, classes, 1)
        self.box = nn.Conv2d(width, 4, 3, padding=1)
        nn.init.constant_(self.score.bias, -math.log((1 - 0.01) / 0.01))

    def forward(self, x, stride):
        b, _, h, w = x.shape
        ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        place = torch.stack([xs, ys], dim=-1).view(1, h * w, 2).to(x.dtype)
        found = self.box(x).permute(0, 2, 3, 1).reshape(b, h * w, 4)
        centre = (place + 0.5 + found[..., :2].tanh()) * stride
        size = found[..., 2:].clamp(max=4.0).exp() * stride
        boxes = torch.cat([centre - size / 2, centre + size / 2], dim=-1)
        return self.score(x).flatten(2).transpose(1, 2), boxes


class Net(nn.Module):
    def __init__(self, width=6, classes=3):
        super().__init__()
        self.near = nn.Sequential(nn.Conv2d(3, width, 3, stride=2, padding=1), nn.BatchNorm2d(width, eps=1e-3), nn.SiLU())
        self.far = nn.Sequential(nn.Conv2d(width, width, 3, stride=2, padding=1), nn.GroupNorm(3, width), nn.SiLU())
        self.beside = nn.Conv2d(width, width, 1)
        self.head = Head(width, classes)

    def forward(self, x):
        near = self.near(x)
        far = self.far(near)
        near = self.beside(near) + F.interpolate(far, size=near.shape[-2:], mode="nearest")
        parts = [self.head(near, 2), self.head(far, 4)]
        return {"scores": torch.cat([each[0] for each in parts], 1), "boxes": torch.cat([each[1] for each in parts], 1)}
""",
        ("float32[2,3,10,14]",),
    ),
    "a scan": (
        """class Rms(nn.Module):
    def __init__(self, width, eps=1e-4):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class Mixer(nn.Module):
    def __init__(self, width, reach=4):
        super().__init__()
        self.reach = reach
        self.norm = Rms(width)
        self.into = nn.Linear(width, 2 * width, bias=False)
        self.depth = nn.Conv1d(width, width, reach, groups=width)
        self.pace = nn.Parameter(torch.linspace(-2.0, 0.5, width))
        self.skip = nn.Parameter(torch.ones(width) * 0.3)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        value, gate = self.into(self.norm(x)).chunk(2, dim=-1)
        value = self.depth(F.pad(value.transpose(1, 2), (self.reach - 1, 0))).transpose(1, 2)
        value = F.silu(value)
        keep = torch.exp(-F.softplus(self.pace))
        state, seen = torch.zeros_like(value[:, 0]), []
        for step in value.unbind(1):
            state = keep * state + (1 - keep) * step
            seen.append(state)
        value = torch.stack(seen, 1) + self.skip * value
        return x + self.out(value * F.silu(gate))


class Net(nn.Module):
    def __init__(self, width=6):
        super().__init__()
        self.layers = nn.ModuleList([Mixer(width), Mixer(width, 3)])
        self.drop = nn.Dropout(0.15)
        self.norm = Rms(width)

    def forward(self, x):
        for index, layer in enumerate(self.layers):
            x = layer(x) if index == 0 else x + self.drop(layer(x) - x)
        return self.norm(x)[:, -1], x.cumsum(1)
""",
        ("float32[2,7,6]",),
    ),
    "a graph": (
        """class Pass(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.say, self.hear = nn.Linear(2 * width, width), nn.GRUCell(width, width)

    def forward(self, x, source, target):
        said = F.leaky_relu(self.say(torch.cat([x[source], x[target]], dim=-1)), 0.2)
        heard = torch.zeros_like(x).index_add(0, target, said)
        count = torch.zeros(len(x)).index_add(0, target, torch.ones(len(target)))
        return self.hear(heard / count.clamp(min=1).unsqueeze(-1), x)


class Net(nn.Module):
    def __init__(self, width=6, kinds=5):
        super().__init__()
        self.kind = nn.Embedding(kinds, width)
        self.rounds = nn.ModuleList([Pass(width) for _ in range(2)])
        self.gate, self.out = nn.Linear(width, 1), nn.Linear(width, 2)
        self.norm = nn.BatchNorm1d(width, momentum=0.3)

    def forward(self, kinds, source, target):
        x = self.kind(kinds)
        for each in self.rounds:
            x = self.norm(each(x, source, target)) + x
        share = torch.softmax(self.gate(x), dim=0)
        return self.out((share * x).sum(0)), share.squeeze(-1)
""",
        ("int64[8]@0..5", "int64[12]@0..8", "int64[12]@0..8"),
    ),
}
