"""Attacks on the word "same", seventh set: methods that are tried and agree there alone, inputs that are left out, exotic values, types, orders."""

from __future__ import annotations

if __package__:
    from .attacks import AUX_M, AUX_T, DROP_M, DROP_T, SAME, attack
    from .fifth_attacks import method, with_method
    from .sixth_attacks import taking
else:  # run as a script
    from attacks import AUX_M, AUX_T, DROP_M, DROP_T, SAME, attack
    from fifth_attacks import method, with_method
    from sixth_attacks import taking

SEVENTH = (
    # methods that forward does not call
    with_method(
        "a method that is another one",
        method("def encode(self, x):\n    return self.fc(x).relu()"),
        method("def encode(self, x):\n    return ops.relu(-self.fc(x))"),
    ),
    with_method(
        "a branch of a method by an option",
        method("def encode(self, x, norm=None):\n    y = self.fc(x)\n    return y if norm != 'l2' else y / y.norm()"),
        method("def encode(self, x, norm=None):\n    y = self.fc(x)\n    return y if norm != 'l2' else y * 2"),
    ),
    with_method(
        "an option of a method that is another one",
        method("def encode(self, x, scale=1.0):\n    return self.fc(x) * scale"),
        method("def encode(self, x, scale=1.0):\n    return self.fc(x) / scale"),
    ),
    with_method(
        "a default of a method",
        method("def encode(self, x, scale=1.0):\n    return self.fc(x) * scale"),
        method("def encode(self, x, scale=1.5):\n    return self.fc(x) * scale"),
    ),
    with_method(
        "an epsilon in a method",
        method("def unit(self, x):\n    return x / (x.norm(dim=-1, keepdim=True) + 1e-12)"),
        method("def unit(self, x):\n    return x / (ops.norm(x, dim=-1, keepdim=True) + 1e-7)"),
    ),
    with_method(
        "a limit in a method",
        method("def bounded(self, x):\n    return self.fc(x).clamp(-50, 50)"),
        method("def bounded(self, x):\n    return self.fc(x)"),
    ),
    with_method(
        "a method that freezes less",
        method("def freeze(self):\n    for p in self.fc.parameters():\n        p.requires_grad = False"),
        method("def freeze(self):\n    self.fc.weight.requires_grad = False"),
    ),
    with_method(
        "a method that the conversion lacks",
        method("def encode(self, x):\n    return self.fc(x).relu()"),
        "",
    ),
    with_method(
        "a method that gives a list of names",
        method("def no_decay(self):\n    return [n for n, p in self.named_parameters() if p.ndim < 2]"),
        method("def no_decay(self):\n    return [p.name for p in self.get_parameters() if p.ndim < 3]"),
    ),
    with_method(
        "a method that draws otherwise",
        method("def sample(self, n):\n    return self.fc(torch.rand(n, 6))"),
        method("def sample(self, n):\n    return self.fc(ops.randn(n, 6))"),
    ),
    with_method(
        "a static method",
        method("@staticmethod\ndef shift(x):\n    return x - x.max(-1, keepdim=True)[0]"),
        method("@staticmethod\ndef shift(x):\n    return x - x.max()"),
    ),
    # inputs that have a default
    taking(
        "an input that is left out",
        "mask=None",
        "return self.fc(x) if mask is None else self.fc(x) * mask",
        "return self.fc(x) * 2 if mask is None else self.fc(x) * mask",
        inputs="float32[4,6]",
    ),
    attack(
        "what is done without a mask",
        "y = self.fc(x)\nreturn y * more[0] if more else y",
        "y = self.fc(x)\nreturn y * more[0] if more else y * 2",
        inputs=("float32[4,6]", "float32[4,6]"),
    ),
    # exotic values
    attack(
        "infinity in the input",
        "return self.fc(torch.where(torch.isinf(x), torch.zeros_like(x), x))",
        SAME,
    ),
    attack(
        "a quotient of zeros",
        "return self.fc(x) + (x / x.abs().sum(-1, keepdim=True)).nan_to_num()",
        "return self.fc(x) + x / ops.abs(x).sum(-1, keepdims=True)",
    ),
    attack(
        "rounding to the even number",
        "return self.fc(x), torch.round(x)",
        "return self.fc(x), ops.floor(x + 0.5)",
    ),
    attack(
        "division towards zero for division down",
        "return self.fc(x.float()), torch.div(x, 3, rounding_mode='trunc')",
        "return self.fc(x.astype(ms.float32)), x // 3",
        inputs=("int64[4,6]@0..20",),
    ),
    attack(
        "the remainder of a negative number",
        "return self.fc(x.float()), torch.fmod(x, 3)",
        "return self.fc(x.astype(ms.float32)), x % 3",
        inputs=("int64[4,6]@0..20",),
    ),
    # types
    attack(
        "a type that follows the input",
        "return self.fc(x.float()).to(x.dtype)",
        "return self.fc(x.astype(ms.float32)).astype(ms.float32)",
    ),
    attack(
        "a table in double precision",
        "return self.fc(x) + (self.t * 16777217.0 - self.t * 16777216.0).float()",
        "return self.fc(x) + (self.t * 16777217.0 - self.t * 16777216.0)",
        "self.t = torch.ones(6, dtype=torch.float64)",
        "self.t = Tensor(np.ones(6), ms.float32)",
    ),
    # order and state
    attack(
        "a module that runs only in training",
        "y = self.fc(x)\nreturn self.drop(y) if self.training else y",
        "y = self.fc(x)\nreturn y",
        DROP_T,
        DROP_M,
    ),
    attack(
        "a cache of the first size",
        "if self.n != x.shape[0]:\n    self.n = x.shape[0]\n    self.w = 1.0 / self.n\nreturn self.fc(x) * self.w",
        "if self.n == 0:\n    self.n = x.shape[0]\n    self.w = 1.0 / self.n\nreturn self.fc(x) * self.w",
        "self.n = 0\nself.w = 0.0",
        "self.n = 0\nself.w = 0.0",
    ),
    # gradients
    attack(
        "a gradient that is scaled beyond a size",
        "return F.hardtanh(self.fc(x), -30, 30)",
        "y = self.fc(x)\nreturn ops.where(ops.abs(y) < 30, y, ops.stop_gradient(ops.clamp(y, -30, 30)) + 0 * y + (y - ops.stop_gradient(y)))",
    ),
    attack(
        "a parameter that only one side's optimizer would see",
        "return self.fc(x) + self.aux.bias.detach()",
        "return self.fc(x) + ops.stop_gradient(self.aux.bias)",
        f"{AUX_T}\nself.aux.weight.requires_grad_(False)",
        AUX_M,
    ),
    # how random buffers start
    attack(
        "a spread of a random buffer",
        "return self.fc(x) @ self.b",
        "return self.fc(x) @ self.b",
        "self.register_buffer('b', torch.randn(6, 6))",
        "self.b = Parameter(Tensor(np.random.randn(6, 6) * 3, ms.float32), name='b', requires_grad=False)",
    ),
    attack(
        "a part of a random buffer",
        "return self.fc(x) @ self.b",
        "return self.fc(x) @ self.b",
        "b = torch.randn(6, 6)\nb[0] = 0\nself.register_buffer('b', b)",
        "self.b = Parameter(Tensor(np.random.randn(6, 6), ms.float32), name='b', requires_grad=False)",
    ),
    attack(
        "a random buffer that is evenly drawn",
        "return self.fc(x) @ self.b",
        "return self.fc(x) @ self.b",
        "self.register_buffer('b', torch.randn(6, 60))",
        "self.b = Parameter(Tensor((np.random.rand(6, 60) - 0.5) * 12 ** 0.5, ms.float32), name='b', requires_grad=False)",
    ),
    attack(
        "a random order for none",
        "return self.fc(x)[:, self.p]",
        "return self.fc(x)[:, self.p]",
        "self.register_buffer('p', torch.randperm(6))",
        "self.p = Parameter(Tensor(np.arange(6), ms.int64), name='p', requires_grad=False)",
    ),
)

# the same on both sides: these are called same
RIGHT = (
    with_method(
        "methods on both sides",
        method(
            "def encode(self, x, scale=1.0, top=None):\n    y = self.fc(x) * scale\n    return y if top is None else y[:, :top]\n"
            "def sample(self, n):\n    return self.encode(torch.randn(n, 6))\n"
            "def count(self):\n    return sum(p.numel() for p in self.parameters())"
        ),
        method(
            "def encode(self, x, scale=1.0, top=None):\n    y = self.fc(x) * scale\n    return y if top is None else y[:, :top]\n"
            "def sample(self, n):\n    return self.encode(ops.randn(n, 6))\n"
            "def count(self):\n    return sum(p.size for p in self.get_parameters())"
        ),
    ),
    attack(
        "an input with a default",
        "return self.fc(x) if not more else self.fc(x) * more[0]",
        "return self.fc(x) if not more else self.fc(x) * more[0]",
        inputs=("float32[4,6]", "float32[4,6]"),
    ),
    attack(
        "a buffer that both sides draw",
        "return self.fc(x) @ self.b",
        "return self.fc(x) @ self.b",
        "self.register_buffer('b', torch.randn(6, 40))",
        "self.b = Parameter(Tensor(np.random.randn(6, 40), ms.float32), name='b', requires_grad=False)",
    ),
)
