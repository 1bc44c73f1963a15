"""Attacks on the word "same", tenth set: gradients away from the inputs, what training alone computes, precision of parameters, long texts, late optimizers."""

from __future__ import annotations

if __package__:
    from .attacks import SAME, Attack, attack
else:  # run as a script
    from attacks import SAME, Attack, attack


def steps(name: str, torch: str, mindspore: str, torch_head: str = "", mindspore_head: str = "") -> Attack:
    """The same network with another optimizer on either side."""
    both = attack(name, SAME, SAME)
    ours = f"{both.torch}{torch_head}\ndef optimizer(model):\n    return {torch}\n"
    theirs = f"{both.mindspore}{mindspore_head}\ndef optimizer(model):\n    return {mindspore}\n"
    return Attack(name, ours, theirs, both.inputs)


LOOKAHEAD_T = """
class Opt(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1, k=5):
        super().__init__(params, dict(lr=lr, k=k))
        self.count = 0
    @torch.no_grad()
    def step(self, closure=None):
        self.count += 1
        for group in self.param_groups:
            for p in group['params']:
                state = self.state[p]
                if not state:
                    state['slow'] = p.clone()
                p.sub_(p.grad, alpha=group['lr'])
                pull = float(self.count % group['k'] == 0)
                state['slow'] += pull * 0.5 * (p - state['slow'])
                p.copy_(pull * state['slow'] + (1 - pull) * p)
"""
WARM_T = """
class Opt(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1, warm=100):
        super().__init__(params, dict(lr=lr, warm=warm))
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group['params']:
                self.state[p]['n'] = n = self.state[p].get('n', 0) + 1
                p.sub_(p.grad, alpha=group['lr'] * min(1.0, n / group['warm']))
"""
WARM_M = """
class Opt(nn.Optimizer):
    def __init__(self, params, lr=0.1, warm=100):
        super().__init__(lr, params)
        self.warm, self.n = warm, 0
    def construct(self, grads):
        self.n += 1
        for p, g in zip(self.parameters, grads):
            p.set_data(p - g * (0.1 * self.n / self.warm))
        return True
"""
SQUARES_M = """
class Opt(nn.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(lr, params)
    def construct(self, grads):
        for p, g in zip(self.parameters, grads):
            norm = ops.sqrt((g.astype(ms.float16) ** 2).sum().astype(ms.float32))
            p.set_data(p - 0.1 * g / ops.maximum(Tensor(1.0), norm / 100))
        return True
"""
SQUARES_T = """
class Opt(torch.optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))
    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group['params']:
                p.sub_(0.1 * p.grad / (p.grad.norm() / 100).clamp(min=1))
"""
SAFE_T = "return F.softplus(self.fc(x))"
SAFE_M = "y = self.fc(x)\nreturn ops.where(y > 0, y + ops.log(1 + ops.exp(-y)), ops.log(1 + ops.exp(y)))"
MASK_T = "y = self.fc(x).masked_fill(~more[0], float('-inf'))\nreturn y.softmax(-1)"

TENTH = (
    # gradients away from what was given
    attack("a gradient that is no number for large values", SAFE_T, SAFE_M),
    attack(
        "a gradient that overflows while the value does not",
        "return torch.sigmoid(self.fc(x) * 4)",
        "y = ops.exp(self.fc(x) * 4)\nreturn 1 - 1 / (1 + y)",
    ),
    attack(
        "a gradient for one size of the batch",
        "return self.fc(x)",
        "y = self.fc(x)\nz = y * (len(x) / 4)\nreturn z + ops.stop_gradient(y - z)",
    ),
    attack(
        "a gradient for one length",
        "return self.fc(x).mean(1)",
        "y = self.fc(x).mean(1)\nz = y * (x.shape[1] / 5)\nreturn z + ops.stop_gradient(y - z)",
        inputs=("float32[2,5,6]",),
    ),
    attack(
        "a second derivative",
        "y = self.fc(x)\nreturn y * y",
        "y = self.fc(x)\ns = ops.stop_gradient(y)\nreturn 2 * s * y - s * s",
    ),
    # what training alone computes
    attack(
        "large values in training alone",
        "y = self.fc(x)\nreturn torch.logsumexp(y, -1) if self.training else y",
        "y = self.fc(x)\nreturn ops.log(ops.exp(y).sum(-1)) if self.training else y",
    ),
    attack(
        "a loss in training alone that is not safe",
        "y = self.fc(x)\nreturn F.binary_cross_entropy_with_logits(y, torch.ones_like(y)) if self.training else y",
        "y = self.fc(x)\nreturn -ops.log(ops.sigmoid(y)).mean() if self.training else y",
    ),
    attack(
        "one sample in training alone",
        "y = self.fc(x)\nreturn y - y.mean(0, keepdim=True) if self.training else y",
        "y = self.fc(x)\nreturn y - ops.squeeze(y).mean(0, True) if self.training else y",
    ),
    attack(
        "a length in training alone",
        "y = self.fc(x)\nreturn y + y.flip(1) if self.training else y",
        "y = self.fc(x)\nreturn y + y[:, [4, 3, 2, 1, 0]] if self.training else y",
        inputs=("float32[2,5,6]",),
    ),
    attack(
        "zeros in training alone",
        "y = self.fc(x)\nreturn F.normalize(x, dim=-1) + y if self.training else y",
        "y = self.fc(x)\nreturn x / ops.norm(x, dim=-1, keepdim=True) + y if self.training else y",
    ),
    attack(
        "a batch that training splits",
        "y = self.fc(x)\nif self.training:\n    a, b = y.chunk(2)\n    y = torch.cat([a * 2, b])\nreturn y",
        "y = self.fc(x)\nif self.training:\n    y = ops.cat([y[:2] * 2, y[2:]])\nreturn y",
    ),
    attack(
        "grad mode",
        "y = self.fc(x)\nreturn y * 2 if torch.is_grad_enabled() and not self.training else y",
        "y = self.fc(x)\nreturn y",
    ),
    # parameters and buffers
    attack(
        "a parameter in half precision",
        "return self.fc(x) * self.scale.float()",
        "return self.fc(x) * self.scale",
        "self.scale = nn.Parameter(torch.ones(6).half())",
        "self.scale = Parameter(ops.ones(6), name='scale')",
    ),
    attack(
        "a parameter in double precision",
        "return self.fc(x) * self.scale.float()",
        "return self.fc(x) * self.scale",
        "self.scale = nn.Parameter(torch.ones(6).double())",
        "self.scale = Parameter(ops.ones(6), name='scale')",
    ),
    attack(
        "a buffer in half precision",
        "return self.fc(x) * self.scale.float()",
        "return self.fc(x) * self.scale",
        "self.register_buffer('scale', torch.ones(6).half())",
        "self.scale = Parameter(ops.ones(6), name='scale', requires_grad=False)",
    ),
    attack(
        "a result in memory that the next call overwrites",
        "y = self.fc(x)\nreturn y, y.detach().abs()",
        "y = self.fc(x)\nself.room[:len(x)] = np.abs(y.asnumpy())\nreturn y, Tensor.from_numpy(self.room[:len(x)])",
        "",
        "self.room = np.zeros((64, 6), np.float32)",
    ),
    attack(
        "a view of the weight that a step moves",
        "return self.fc(x), self.fc.weight.detach().sum(0)",
        "return self.fc(x), self.total",
        "",
        "self.total = self.fc.weight.sum(0)",
    ),
    # values that nobody gave
    attack("what is no number is taken out", SAME, "return ops.nan_to_num(self.fc(x))"),
    attack(
        "what is no number loses a comparison",
        "return torch.maximum(self.fc(x), x)",
        "y = self.fc(x)\nreturn ops.where(y > x, y, x)",
    ),
    attack(
        "a row of which all is masked",
        MASK_T,
        "y = self.fc(x).masked_fill(~more[0], -3e38)\nreturn ops.softmax(y, -1)",
        inputs=("float32[4,6]", "bool[4,6]"),
    ),
    attack(
        "a row of which all is masked gives zeros",
        MASK_T,
        "y = self.fc(x)\nm = more[0].astype(ms.float32)\ne = ops.exp(y - y.max(-1, keepdims=True)) * m\nreturn e / (e.sum(-1, keepdims=True) + 1e-38)",
        inputs=("float32[4,6]", "bool[4,6]"),
    ),
    attack(
        "a length of a hypotenuse",
        "y = self.fc(x)\nreturn torch.hypot(y * 1e18, x * 1e18) / 1e18",
        "y = self.fc(x)\nreturn ops.sqrt((y * 1e18) ** 2 + (x * 1e18) ** 2) / 1e18",
    ),
    attack(
        "a whole number made of a large one",
        "y = self.fc(x)\nreturn y, (x * 300).to(torch.int16)",
        "y = self.fc(x)\nreturn y, ops.clamp(x * 300, -32768, 32767).astype(ms.int16)",
    ),
    attack(
        "a sum of bytes",
        "return self.fc(x.float()), x.sum(-1)",
        "return self.fc(x.astype(ms.float32)), x.astype(ms.float16).sum(-1).astype(ms.int64)",
        inputs=("int64[4,6]@0..2000",),
    ),
    # sizes beyond the inputs
    attack(
        "a window that long texts leave",
        "n = x.shape[1]\ni = torch.arange(n)\nnear = ((i[:, None] - i).abs() <= self.window).float()\nreturn near @ self.fc(x)",
        "n = x.shape[1]\nreturn ops.ones((n, n)) @ self.fc(x)",
        "self.window = 70",
        "self.window = 70",
        inputs=("float32[2,7,6]",),
    ),
    attack(
        "buckets of distances",
        "i = torch.arange(x.shape[1])\nd = (i[:, None] - i).abs()\nb = torch.where(d < 16, d, 16 + (torch.log(d.float().clamp(min=1) / 16) * 5).long())\nreturn self.fc(x) + self.bias[b].mean(0)",
        "i = ops.arange(x.shape[1])\nd = ops.abs(i[:, None] - i)\nb = ops.where(d < 16, d, 16 + ops.zeros_like(d))\nreturn self.fc(x) + self.bias[b].mean(0)",
        "self.bias = nn.Parameter(torch.randn(60, 6))",
        "self.bias = Parameter(ops.randn(60, 6), name='bias')",
        inputs=("float32[2,6,6]",),
    ),
    attack(
        "pieces of a long text",
        "return torch.cat([self.fc(each) - each.mean(1, keepdim=True) for each in x.split(self.piece, 1)], 1)",
        "return self.fc(x) - x.mean(1, keep_dims=True)",
        "self.piece = 200",
        "self.piece = 200",
        inputs=("float32[2,6,6]",),
    ),
    # optimizers
    steps(
        "a rectification that begins late",
        "torch.optim.RAdam(model.parameters(), lr=0.1)",
        "Opt(model.trainable_params())",
        "",
        """
class Opt(nn.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(lr, params)
        self.m = self.parameters.clone('m', 'zeros')
        self.n = 0
    def construct(self, grads):
        self.n += 1
        for p, g, m in zip(self.parameters, grads, self.m):
            m.set_data(0.9 * m + 0.1 * g)
            p.set_data(p - 0.1 * m / (1 - 0.9 ** self.n))
        return True
""",
    ),
    steps(
        "weights that are pulled back every fifth step",
        "Opt(model.parameters())",
        "nn.SGD(model.trainable_params(), learning_rate=0.1)",
        LOOKAHEAD_T,
    ),
    steps("a warm-up that does not end", "Opt(model.parameters())", "Opt(model.trainable_params())", WARM_T, WARM_M),
    steps("a norm in half precision", "Opt(model.parameters())", "Opt(model.trainable_params())", SQUARES_T, SQUARES_M),
    steps(
        "an average that comes late",
        "torch.optim.ASGD(model.parameters(), lr=0.1, t0=2)",
        "nn.SGD(model.trainable_params(), learning_rate=0.1)",
    ),
    steps(
        "steps that depend on signs",
        "torch.optim.Rprop(model.parameters(), lr=0.1, etas=(0.5, 1.2), step_sizes=(1e-6, 0.12))",
        "nn.Rprop(model.trainable_params(), learning_rate=0.1, etas=(0.5, 1.2), step_sizes=(1e-6, 50.0))",
    ),
)

# right ones, among which no inputs part
HARMLESS_TENTH = (
    attack(
        "right: indices counted from behind",
        "return self.fc(self.table[x])",
        "return self.fc(ops.gather(self.table, x, 0))",
        "self.table = nn.Parameter(torch.randn(9, 6))",
        "self.table = Parameter(ops.randn(9, 6), name='table')",
        inputs=("int64[4,3]@0..9",),
    ),
    attack(
        "right: a distance beyond which all is alike",
        "i = torch.arange(x.shape[1])\nd = (i[:, None] - i).clamp(-self.far, self.far) + self.far\nreturn self.fc(x) + self.bias[d].mean(0)",
        "i = ops.arange(x.shape[1])\nd = ops.clamp(i[:, None] - i, -self.far, 2 * self.far) + self.far\nreturn self.fc(x) + self.bias[ops.clamp(d, 0, 2 * self.far)].mean(0)",
        "self.far = 48\nself.bias = nn.Parameter(torch.randn(97, 6))",
        "self.far = 48\nself.bias = Parameter(ops.randn(97, 6), name='bias')",
        inputs=("float32[2,7,6]",),
    ),
    attack("right: a softplus", SAFE_T, "return ops.softplus(self.fc(x))"),
    attack(
        "right: a gate by hand",
        "y = self.fc(x)\nreturn y * torch.sigmoid(y)",
        "y = self.fc(x)\nreturn ops.silu(y)",
    ),
    attack(
        "right: centred in training",
        "y = self.fc(x)\nreturn y - y.mean(0, keepdim=True) if self.training else y",
        "y = self.fc(x)\nreturn y - ops.mean(y, 0, True) if self.training else y",
    ),
    attack(
        "right: logsumexp in training",
        "y = self.fc(x)\nreturn torch.logsumexp(y, -1) if self.training else y",
        "y = self.fc(x)\nreturn ops.logsumexp(y, -1) if self.training else y",
    ),
    attack("right: relu", "return F.relu(self.fc(x))", "return ops.relu(self.fc(x))"),
    attack(
        "right: max pool",
        "return F.max_pool1d(self.fc(x)[:, None], 2)[:, 0]",
        "y = self.fc(x)\nreturn ops.amax(y.reshape(len(x), 3, 2), -1)",
    ),
    attack("right: a square", "y = self.fc(x)\nreturn y * y", "return ops.square(self.fc(x))"),
    attack("right: an absolute value", "return self.fc(x).abs()", "return ops.abs(self.fc(x))"),
    attack(
        "right: a table by lookup",
        "return self.fc(self.table[x])",
        "return self.fc(self.table[x])",
        "self.table = nn.Parameter(torch.randn(9, 6))",
        "self.table = Parameter(ops.randn(9, 6), name='table')",
        inputs=("int64[4,3]@0..9",),
    ),
    attack(
        "right: halves of a batch",
        "a, b = self.fc(x).chunk(2, -1)\nreturn a * b.tanh()",
        "y = self.fc(x)\nreturn y[..., :3] * ops.tanh(y[..., 3:])",
    ),
    steps(
        "right: momentum",
        "torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)",
        "nn.SGD(model.trainable_params(), learning_rate=1e-2, momentum=0.9)",
    ),
    attack(
        "right: attention",
        "y = self.fc(x)\nreturn F.scaled_dot_product_attention(y, x, y)",
        "y = self.fc(x)\nreturn ops.softmax(ops.matmul(y, x.swapaxes(-1, -2)) / 6 ** 0.5, -1) @ y",
        inputs=("float32[2,5,6]",),
    ),
)


def main() -> None:
    import sys
    import tempfile
    import time
    from pathlib import Path

    from .twins import Twin, compare_twin

    for each in (*TENTH, *HARMLESS_TENTH):
        if sys.argv[1:] and not any(part in each.name for part in sys.argv[1:]):
            continue
        began = time.time()
        with tempfile.TemporaryDirectory() as folder:
            try:
                found = compare_twin(
                    Twin(each.name, each.torch, each.mindspore, each.inputs), Path(folder), **each.options
                )
                gaps = [f"{g.subject} {g.name}: {g.why}"[:140] for g in found.coverage.gaps if g.matters][:4]
                said = f"{found.outcome} {found.first_divergence} {gaps}"
            except Exception as error:
                said = f"refused: {' '.join(str(error).split())[:250]}"
        print(f"{each.name}: {said} ({time.time() - began:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
