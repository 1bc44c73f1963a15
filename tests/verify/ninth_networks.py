"""Networks of the ninth set, for torch alone: `mindferry convert` writes their conversions, in which ninth_faults.py plants faults."""

from __future__ import annotations

HEAD = "import math\n\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"
NETWORKS = {
    "latents": (
        """class Cross(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.attend = nn.MultiheadAttention(width, heads, batch_first=True)
        self.before, self.beside = nn.LayerNorm(width), nn.LayerNorm(width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(2 * width, width)

    def forward(self, latents, x, is_padding):
        seen = self.beside(x)
        y, weights = self.attend(self.before(latents), seen, seen, key_padding_mask=is_padding)
        latents = latents + y
        value, gate = self.widen(latents).chunk(2, dim=-1)
        return latents + self.narrow(value * F.gelu(gate)), weights


class Net(nn.Module):
    def __init__(self, width=8, count=3):
        super().__init__()
        self.latents = nn.Parameter(torch.randn(count, width) * 0.02)
        self.embed = nn.Embedding(20, width, padding_idx=0)
        self.cross = nn.ModuleList([Cross(width, 2) for _ in range(2)])
        self.head = nn.Linear(width, 4)

    def forward(self, ids):
        is_padding = ids.eq(0)
        is_padding[:, 0] = False
        x = self.embed(ids) * math.sqrt(self.embed.embedding_dim)
        latents = self.latents.unsqueeze(0).expand(len(ids), -1, -1)
        seen = []
        for layer in self.cross:
            latents, weights = layer(latents, x, is_padding)
            seen.append(weights)
        return self.head(latents.mean(dim=1)), torch.stack(seen, dim=1)
""",
        ("int64[3,7]@0..20",),
    ),
    "larger pictures": (
        """class Squeeze(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.down, self.up = nn.Conv2d(width, width // 2, 1), nn.Conv2d(width // 2, width, 1)

    def forward(self, x):
        scale = x.mean(dim=(2, 3), keepdim=True)
        return x * F.hardsigmoid(self.up(F.relu(self.down(scale))))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1, padding_mode="reflect")
        self.norm = nn.InstanceNorm2d(width, affine=True, track_running_stats=True)
        self.slope = nn.PReLU(width)
        self.depth = nn.Conv2d(width, width, 3, padding=1, groups=width)
        self.squeeze = Squeeze(width)

    def forward(self, x):
        y = self.slope(self.norm(self.first(x)))
        return x + 0.2 * self.squeeze(self.depth(y))


class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.start = nn.Conv2d(3, width, 3, padding=1)
        self.body = nn.Sequential(Block(width), Block(width))
        self.grow = nn.Conv2d(width, 12, 3, padding=1)
        self.shuffle = nn.PixelShuffle(2)

    def forward(self, x):
        small = F.interpolate(x, scale_factor=2, mode="bicubic", align_corners=False)
        y = self.start(x)
        y = y + self.body(y)
        return (small + self.shuffle(self.grow(y))).clamp(-1, 1)
""",
        ("float32[2,3,6,8]@-0.5..0.5",),
    ),
    "points": (
        """def neighbours(x, k):
    distance = torch.cdist(x, x)
    return distance.topk(k, dim=-1, largest=False).indices


class Net(nn.Module):
    def __init__(self, width=8, k=3):
        super().__init__()
        self.k = k
        self.edge = nn.Sequential(nn.Linear(6, width, bias=False), nn.ReLU())
        self.norm = nn.BatchNorm1d(width, momentum=0.2)
        self.turn = nn.Linear(width, 9)
        self.score = nn.Linear(width + 3, 5)

    def forward(self, x):
        b, n, _ = x.shape
        near = neighbours(x, self.k)
        rows = torch.arange(b, device=x.device).view(b, 1, 1)
        beside = x[rows, near]
        centre = x.unsqueeze(2).expand_as(beside)
        y = self.edge(torch.cat([centre, beside - centre], dim=-1)).amax(dim=2)
        y = self.norm(y.transpose(1, 2)).transpose(1, 2)
        matrix = self.turn(y.max(dim=1).values).view(b, 3, 3) + torch.eye(3)
        turned = torch.bmm(x, matrix)
        extra = torch.norm(matrix @ matrix.transpose(1, 2) - torch.eye(3), dim=(1, 2)).mean()
        return F.log_softmax(self.score(torch.cat([y, turned], dim=-1)), dim=-1), extra
""",
        ("float32[2,6,3]",),
    ),
    "a moved picture": (
        """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.look = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2), nn.MaxPool2d(2, ceil_mode=True), nn.ELU(alpha=0.7))
        self.place = nn.Linear(4, 6)
        self.read = nn.Conv2d(1, 3, 5, padding=2, bias=False)

    def forward(self, x):
        seen = F.adaptive_max_pool2d(self.look(x), 1).flatten(1)
        theta = self.place(seen).view(-1, 2, 3) * 0.1 + torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
        grid = F.affine_grid(theta, list(x.shape), align_corners=True)
        moved = F.grid_sample(x, grid, mode="bilinear", padding_mode="border", align_corners=True)
        y = F.softplus(self.read(moved), beta=2)
        return F.avg_pool2d(y, 3, stride=2, padding=1, count_include_pad=False), theta
""",
        ("float32[2,1,9,9]",),
    ),
    "capsules": (
        """def squash(s, dim=-1):
    square = (s * s).sum(dim=dim, keepdim=True)
    return square / (1 + square) * s / torch.sqrt(square + 1e-9)


class Net(nn.Module):
    def __init__(self, groups=5, classes=3, width=4, turns=3):
        super().__init__()
        self.start = nn.Linear(10, groups * width)
        self.weight = nn.Parameter(torch.randn(groups, classes, width, 6) * 0.3)
        self.groups, self.classes, self.turns = groups, classes, turns

    def forward(self, x, y):
        u = squash(self.start(x).view(len(x), self.groups, -1))
        hat = torch.einsum("bgw,gcwo->bgco", u, self.weight)
        still = hat.detach()
        logits = torch.zeros(len(x), self.groups, self.classes)
        for turn in range(self.turns):
            share = logits.softmax(dim=2).unsqueeze(-1)
            last = turn == self.turns - 1
            v = squash((share * (hat if last else still)).sum(dim=1))
            if not last:
                logits = logits + (still * v.unsqueeze(1)).sum(dim=-1)
        length = v.norm(dim=-1)
        target = F.one_hot(y, self.classes).float()
        loss = target * F.relu(0.9 - length).pow(2) + 0.5 * (1 - target) * F.relu(length - 0.1).pow(2)
        return length, loss.sum(dim=1).mean()
""",
        ("float32[4,10]", "int64[4]@0..3"),
    ),
    "a mixture": (
        """class Net(nn.Module):
    def __init__(self, parts=4, width=2):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(5, 16), nn.SiLU(), nn.Dropout(0.25), nn.Linear(16, 16), nn.Mish())
        self.weights, self.means, self.spreads = nn.Linear(16, parts), nn.Linear(16, parts * width), nn.Linear(16, parts * width)
        self.parts, self.width = parts, width

    def forward(self, x, y):
        h = self.body(x)
        share = F.log_softmax(self.weights(h), dim=-1)
        mean = self.means(h).view(-1, self.parts, self.width)
        spread = F.softplus(self.spreads(h)).view(-1, self.parts, self.width) + 1e-3
        z = (y.unsqueeze(1) - mean) / spread
        density = -0.5 * z.pow(2) - spread.log() - 0.5 * math.log(2 * math.pi)
        loss = -torch.logsumexp(share + density.sum(dim=-1), dim=-1)
        best = share.argmax(dim=-1)
        guess = mean[torch.arange(len(x)), best]
        entropy = -(share.exp() * share).sum(dim=-1)
        return loss.mean() - 0.01 * entropy.mean(), guess, best
""",
        ("float32[6,5]", "float32[6,2]"),
    ),
    "pictures in time": (
        """class Cell(nn.Module):
    def __init__(self, inside, width):
        super().__init__()
        self.width = width
        self.gates = nn.Conv2d(inside + width, 4 * width, 3, padding=1)
        self.peep = nn.Parameter(torch.randn(3, width, 1, 1) * 0.1)

    def forward(self, x, state):
        h, c = state
        i, f, o, g = torch.split(self.gates(torch.cat([x, h], dim=1)), self.width, dim=1)
        i = torch.sigmoid(i + self.peep[0] * c)
        f = torch.sigmoid(f + 1.0 + self.peep[1] * c)
        c = f * c + i * torch.tanh(g)
        o = torch.sigmoid(o + self.peep[2] * c)
        return o * torch.tanh(c), c


class Net(nn.Module):
    def __init__(self, width=3, ahead=2):
        super().__init__()
        self.cell, self.out = Cell(2, width), nn.Conv2d(width, 2, 1)
        self.ahead = ahead

    def forward(self, x):
        b, t, _, height, wide = x.shape
        state = (x.new_zeros(b, self.cell.width, height, wide), x.new_zeros(b, self.cell.width, height, wide))
        frames = []
        for step in range(t + self.ahead):
            frame = x[:, step] if step < t else frames[-1]
            state = self.cell(frame, state)
            frames.append(self.out(state[0]))
        return torch.stack(frames[t - 1 :], dim=1)
""",
        ("float32[2,3,2,5,4]",),
    ),
    "waves": (
        """class Spectral(nn.Module):
    def __init__(self, width, modes):
        super().__init__()
        self.modes = modes
        self.real = nn.Parameter(torch.randn(width, width, modes) / width)
        self.imaginary = nn.Parameter(torch.randn(width, width, modes) / width)

    def forward(self, x):
        spectrum = torch.fft.rfft(x, norm="ortho")[..., : self.modes]
        a, b = spectrum.real, spectrum.imag
        mix = lambda u, w: torch.einsum("bim,iom->bom", u, w)
        real = mix(a, self.real) - mix(b, self.imaginary)
        imaginary = mix(a, self.imaginary) + mix(b, self.real)
        return torch.fft.irfft(torch.complex(real, imaginary), n=x.size(-1), norm="ortho")


class Net(nn.Module):
    def __init__(self, width=4, modes=3):
        super().__init__()
        self.lift = nn.Conv1d(2, width, 1)
        self.waves = nn.ModuleList([Spectral(width, modes) for _ in range(2)])
        self.beside = nn.ModuleList([nn.Conv1d(width, width, 1) for _ in range(2)])
        self.norm = nn.GroupNorm(2, width, eps=1e-4)
        self.out = nn.Conv1d(width, 1, 1)

    def forward(self, x):
        place = torch.linspace(0, 1, x.size(-1)).expand(len(x), 1, -1)
        x = self.lift(torch.cat([x, place], dim=1))
        for wave, beside in zip(self.waves, self.beside):
            x = F.gelu(wave(x) + beside(x), approximate="tanh")
        return self.out(self.norm(x)).squeeze(1)
""",
        ("float32[3,1,10]",),
    ),
    "hard triplets": (
        """class Net(nn.Module):
    def __init__(self, margin=0.3):
        super().__init__()
        self.table = nn.EmbeddingBag(30, 8, mode="mean")
        self.body = nn.Linear(8, 8)
        self.centres = nn.Parameter(torch.randn(4, 8))
        self.register_buffer("seen", torch.zeros(4))
        self.margin = margin

    def forward(self, ids, labels):
        x = F.normalize(self.body(self.table(ids)), p=2, dim=1)
        apart = (2 - 2 * x @ x.t()).clamp(min=1e-6).sqrt()
        alike = labels.unsqueeze(0) == labels.unsqueeze(1)
        self_pair = torch.eye(len(ids), dtype=torch.bool)
        far = apart.masked_fill(~alike, -1.0).max(dim=1).values
        near = apart.masked_fill(alike, 10.0).min(dim=1).values
        loss = F.relu(far - near + self.margin)
        if self.training:
            self.seen.mul_(0.9).add_(0.1 * torch.bincount(labels, minlength=4).float())
        centre = F.mse_loss(x, self.centres[labels], reduction="none").sum(1)
        count = (alike & ~self_pair).sum()
        return loss.mean() + 0.05 * centre.mean(), x, count
""",
        ("int64[6,5]@0..30", "int64[6]@0..4"),
    ),
    "columns of a table": (
        """def sparsemax(x):
    ordered, _ = torch.sort(x, dim=-1, descending=True)
    total = ordered.cumsum(dim=-1)
    place = torch.arange(1, x.size(-1) + 1, dtype=x.dtype)
    support = 1 + place * ordered > total
    count = support.sum(dim=-1, keepdim=True)
    threshold = (total.gather(-1, count - 1) - 1) / count
    return torch.clamp(x - threshold, min=0)


class Net(nn.Module):
    def __init__(self, columns=6, steps=3, width=8, reuse=1.3):
        super().__init__()
        self.norm = nn.BatchNorm1d(columns, eps=1e-3)
        self.shared = nn.Linear(columns, 2 * width)
        self.choose = nn.ModuleList([nn.Linear(width, columns, bias=False) for _ in range(steps)])
        self.out = nn.Linear(width, 2)
        self.reuse = reuse

    def forward(self, x):
        x = self.norm(x)
        prior = torch.ones_like(x)
        total, penalty = 0, 0
        h = F.glu(self.shared(x), dim=-1)
        for choose in self.choose:
            mask = sparsemax(choose(h) * prior)
            prior = prior * (self.reuse - mask)
            penalty = penalty + (-mask * torch.log(mask + 1e-5)).sum(dim=-1).mean()
            h = (h + F.glu(self.shared(mask * x), dim=-1)) * math.sqrt(0.5)
            total = total + F.relu(h)
        return self.out(total), penalty / len(self.choose)
""",
        ("float32[5,6]",),
    ),
}
