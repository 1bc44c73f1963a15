"""Attacks on the word "same", ninth set: how many inputs come, gradients at special points, what lies in one place, types, copies, long queues."""

from __future__ import annotations

if __package__:
    from .attacks import SAME, Attack, attack
else:  # run as a script
    from attacks import SAME, Attack, attack


def called(name: str, signature: str, torch: str, mindspore: str, *inputs: str) -> Attack:
    """A network of one layer whose forward takes something else than one tensor."""
    both = attack(name, torch, mindspore)
    ours, theirs = (text.replace("self, x, *more", f"self, {signature}") for text in (both.torch, both.mindspore))
    return Attack(name, ours, theirs, inputs)


QUEUE_T = (
    "self.register_buffer('queue', torch.randn(512, 6))\nself.register_buffer('ptr', torch.zeros(1, dtype=torch.long))"
)
QUEUE_M = (
    "self.queue = Parameter(ops.randn(512, 6), name='queue', requires_grad=False)\n"
    "self.ptr = Parameter(Tensor([0], ms.int64), name='ptr', requires_grad=False)"
)
MEAN_T = "self.register_buffer('mean', torch.linspace(0.1, 1, 6))"
MEAN_M = "self.mean = Parameter(Tensor(np.linspace(0.1, 1, 6), ms.float32), name='mean', requires_grad=False)"

NINTH = (
    # what is given, and how much of it
    called(
        "entries of a dictionary in the order of another",
        "batch",
        "return torch.cat([self.fc(each) for each in batch.values()], -1)",
        "return ops.cat([self.fc(batch[key]) for key in ('left', 'right')], -1)",
        "batch{'left'}=float32[4,6]",
        "batch{'right'}=float32[4,6]",
    ),
    called(
        "a third entry of a list",
        "parts",
        "return sum(self.fc(each) for each in parts)",
        "return self.fc(parts[0]) + self.fc(parts[1])",
        "parts[0]=float32[4,6]",
        "parts[1]=float32[4,6]",
    ),
    called(
        "a third input behind a star",
        "*parts",
        "return torch.stack([self.fc(each) for each in parts]).amax(0)",
        "return ops.maximum(self.fc(parts[0]), self.fc(parts[1]))",
        "float32[4,6]",
        "float32[4,6]",
    ),
    called(
        "keywords that nobody asked for",
        "x, **more",
        "y = self.fc(x)\nfor each in more.values():\n    y = y + each\nreturn y",
        "y = self.fc(x)\nreturn y + more['bias'] if 'bias' in more else y",
        "float32[4,6]",
        "bias=float32[6]",
    ),
    # gradients at special points
    attack(
        "a gradient where two are equal",
        "return self.fc(F.leaky_relu(x, 0.1))",
        "return self.fc(ops.maximum(x, x * 0.1))",
    ),
    attack(
        "a root behind a choice",
        "return self.fc(torch.where(x > 0, x.clamp(min=1e-8).sqrt(), x))",
        "return self.fc(ops.where(x > 0, ops.sqrt(ops.clamp(ops.relu(x), min=0.0) + (x <= 0).astype(ms.float32) * ops.stop_gradient(ops.relu(x))), x))",
    ),
    attack(
        "a gradient at the border of a limit",
        "return self.fc((x * 1000).round().detach() / 1000 + x - x.detach()) + x.clamp(0, 1).mean(-1, keepdim=True)",
        "return self.fc(ops.stop_gradient(ops.round(x * 1000)) / 1000 + x - ops.stop_gradient(x)) + ops.minimum(ops.maximum(x, Tensor(0.0)), Tensor(1.0)).mean(-1, True)",
    ),
    attack(
        "a length of nothing",
        "return self.fc(F.normalize(x, dim=-1))",
        "return self.fc(x / ops.norm(x, dim=-1, keepdim=True))",
    ),
    attack(
        "a gradient of the largest among equals",
        "y = self.fc(x)\nreturn y + x.amax(-1, keepdim=True)",
        "y = self.fc(x)\nreturn y + ops.gather_elements(x, 1, ops.stop_gradient(x).argmax(-1).expand_dims(1))",
    ),
    attack(
        "a gradient that stops on saturated values",
        "return self.fc(x.clamp(-5, 5))",
        "return self.fc(x + ops.stop_gradient(ops.clamp(x, -5, 5) - x))",
    ),
    attack(
        "a gradient of zero beyond six",
        "return F.relu6(self.fc(x) * 0.2)",
        "y = self.fc(x) * 0.2\nr = ops.relu(y)\nreturn r + ops.stop_gradient(ops.relu6(y) - r)",
    ),
    # what lies in one place
    attack(
        "a buffer that is handed out itself",
        "return self.fc(x), self.mean.clone()",
        "return self.fc(x), self.mean",
        MEAN_T,
        MEAN_M,
    ),
    attack(
        "a weight that is handed out itself",
        "return self.fc(x), self.fc.bias.detach().clone()",
        "return self.fc(x), self.fc.bias",
    ),
    attack(
        "a list of tensors that is handed out itself",
        "return self.fc(x), list(self.kept)",
        "return self.fc(x), self.kept",
        "self.kept = [torch.ones(3)]",
        "self.kept = [ops.ones(3)]",
    ),
    attack(
        "a function that stays with the first network",
        "return torch.tanh(self.fc(x))",
        "return ops.tanh(self.run(x))",
        "",
        "self.run = lambda x: self.fc(x)",
    ),
    attack(
        "a method that stays with the first network",
        "return self.fc(x) * 2",
        "return self.twice(x)",
        "",
        "def twice(x):\n    return self.fc(x) * 2\nself.twice = twice",
    ),
    # types
    attack(
        "the least number of a type",
        "y = self.fc(x)\nreturn y.masked_fill(x < 0, torch.finfo(x.dtype).min).softmax(-1)",
        "y = self.fc(x)\nreturn ops.softmax(y.masked_fill(x < 0, -3.4028235e38), -1)",
    ),
    # long runs
    attack(
        "a queue that comes round",
        "y = self.fc(x)\nif self.training:\n    p = int(self.ptr)\n    n = len(y)\n    self.queue[[(p + i) % 512 for i in range(n)]] = y.detach()\n    self.ptr[0] = (p + n) % 512\nreturn y @ self.queue.t()",
        "y = self.fc(x)\nif self.training:\n    p = int(self.ptr.asnumpy()[0])\n    n = len(y)\n    q = self.queue.asnumpy().copy()\n    q[p:p + n] = y.asnumpy()\n    self.queue.set_data(Tensor(q))\n    self.ptr.set_data(Tensor([p + n], ms.int64))\nreturn y @ self.queue.value().swapaxes(0, 1)",
        QUEUE_T,
        QUEUE_M,
    ),
    attack(
        "a first call that sets the scale",
        "if self.training and not bool(self.is_set):\n    with torch.no_grad():\n        self.scale.copy_(1 / (x.std(0) + 1e-6))\n        self.is_set.fill_(1)\nreturn self.fc(x * self.scale)",
        "if self.training and not bool(self.is_set.asnumpy()):\n    self.scale.set_data(1 / (ops.std(x, 0, 0) + 1e-6))\n    self.is_set.set_data(Tensor(1, ms.uint8))\nreturn self.fc(x * self.scale)",
        "self.scale = nn.Parameter(torch.ones(6))\nself.register_buffer('is_set', torch.tensor(0, dtype=torch.uint8))",
        "self.scale = Parameter(ops.ones(6), name='scale')\nself.is_set = Parameter(Tensor(0, ms.uint8), name='is_set', requires_grad=False)",
    ),
    attack(
        "a table that grows with the text",
        "n = x.shape[1]\nif self.table is None or len(self.table) < n:\n    self.table = torch.linspace(0, 1, n).cumsum(0)\nreturn self.fc(x[:, :6]) + self.table[:n].sum()",
        "n = x.shape[1]\nif self.table is None:\n    self.table = ops.linspace(Tensor(0.0), Tensor(1.0), n).cumsum(0)\nreturn self.fc(x[:, :6]) + self.table[:n].sum()",
        "self.table = None",
        "self.table = None",
        inputs=("float32[4,9]",),
    ),
    attack(
        "a table of one size for every batch",
        "if len(self.mask) != len(x):\n    self.mask = torch.ones(len(x), 1)\nreturn self.fc(x) * self.mask.sum()",
        "if not len(self.mask):\n    self.mask = ops.ones((len(x), 1))\nreturn self.fc(x) * self.mask.sum()",
        "self.mask = torch.ones(0, 1)",
        "self.mask = ops.ones((0, 1)) if False else np.ones((0, 1))",
    ),
    # numbers far from zero
    attack(
        "a variance that cancels",
        "v = x.double()\nv = (v * v).mean(-1, keepdim=True) - v.mean(-1, keepdim=True) ** 2\nreturn self.fc(x) * v.float()",
        "v = (x * x).mean(-1, True) - x.mean(-1, True) ** 2\nreturn self.fc(x) * v",
    ),
    attack(
        "a distance that cancels",
        "return -torch.cdist(x, self.fc.weight, compute_mode='donot_use_mm_for_euclid_dist')",
        "w = self.fc.weight\nd = (x * x).sum(-1, keepdims=True) + (w * w).sum(-1) - 2 * x @ w.swapaxes(0, 1)\nreturn -ops.sqrt(ops.maximum(d, Tensor(0.0)))",
    ),
    attack(
        "a mean of angles",
        "return self.fc(torch.atan2(x.sin(), x.cos()))",
        "return self.fc(x - 2 * math.pi * ops.floor(x / (2 * math.pi) + 0.5))".replace("math.pi", "3.141592653589793"),
    ),
    # what only training or saving sees
    attack(
        "a constant that a checkpoint holds",
        "return self.fc(x) + self.place",
        "return self.fc(x) + self.place",
        "self.place = nn.Parameter(torch.linspace(0, 1, 6), requires_grad=False)",
        "self.place = Tensor(np.linspace(0, 1, 6), ms.float32)",
    ),
    attack(
        "a buffer that the checkpoint leaves out in torch",
        "return self.fc(x) + self.place",
        "return self.fc(x) + self.place",
        "self.register_buffer('place', torch.linspace(0, 1, 6), persistent=False)",
        "self.place = Parameter(Tensor(np.linspace(0, 1, 6), ms.float32), name='place', requires_grad=False)",
    ),
    attack(
        "layers in a plain list",
        "for each in self.more:\n    x = each(x)\nreturn self.fc(x)",
        "for each in self.more:\n    x = each(x)\nreturn self.fc(x)",
        "self.more = [nn.Linear(6, 6)]\nfor p in self.more[0].parameters():\n    nn.init.constant_(p, 0.1)",
        "self.more = nn.CellList([nn.Dense(6, 6, weight_init='zeros', bias_init='zeros')])\nfor p in self.more[0].get_parameters():\n    p.set_data(p + 0.1)",
    ),
    attack(
        "a gradient that is taken inside",
        "x = x.detach().requires_grad_()\nwith torch.enable_grad():\n    e = torch.tanh(self.fc(x)).pow(2).sum()\n    g, = torch.autograd.grad(e, x, create_graph=self.training)\nreturn g",
        "return ops.stop_gradient(ms.grad(lambda v: ops.pow(ops.tanh(self.fc(v)), 2).sum())(x))",
    ),
    attack(
        "a rate of dropout by a method",
        "return self.drop(self.fc(x))",
        "return self.drop(self.fc(x))",
        "self.drop = nn.Dropout(0.0)\nself.drop.p = min(0.5, 0.1 * 3)",
        "self.drop = nn.Dropout(p=0.30001)",
    ),
)
HARMLESS = (  # what the conversion does not take, it refuses
    attack("half precision that is asked for", "return self.fc(x.to(self.fc.weight.dtype))", SAME),
    attack("bytes of an image", "return self.fc(x.float() / 255)", "return self.fc(x / 255)"),
    called(
        "truth values for numbers",
        "x, mask",
        "return self.fc(x) * (1 - mask.float()).unsqueeze(-1)",
        "return self.fc(x) * (1 - mask).expand_dims(-1)",
        "float32[4,6]",
        "int64[4]@0..2",
    ),
)
