"""Attacks on the word "same", sixth set: what nobody gives, what a loop turns or reads afterwards, what is drawn in vain, what the order of parameters decides."""

from __future__ import annotations

if __package__:
    from .attacks import AUX_M, AUX_T, SAME, Attack, attack
    from .fifth_attacks import method, with_method
    from .outside_attacks import network
else:  # run as a script
    from attacks import AUX_M, AUX_T, SAME, Attack, attack
    from fifth_attacks import method, with_method
    from outside_attacks import network

SCALED = "return self.fc(x) * scale"
LENGTH = "def __len__(self):\n    return len(self.fc.bias)"


def taking(name: str, more: str, theirs: str, ours: str, other: str = "", inputs: str = "float32[4,6]") -> Attack:
    """A forward with more arguments, of which the inputs give none; `other`: those of the conversion."""
    plain = attack(name, theirs, ours)
    return Attack(
        name,
        plain.torch.replace("x, *more", f"x, {more}"),
        plain.mindspore.replace("x, *more", f"x, {other or more}"),
        (inputs,),
    )


SIXTH = (
    # arguments that the inputs never give
    taking("a factor that nobody gives", "scale=1.0", "return self.fc(x) * scale", "return self.fc(x) / scale"),
    taking("an offset that nobody gives", "shift=0", "return self.fc(x) + shift", "return self.fc(x) - shift"),
    taking(
        "an axis that nobody gives", "dim=-1", "return self.fc(x).softmax(dim)", "return ops.softmax(self.fc(x), -1)"
    ),
    taking(
        "a default behind a star",
        "*, scale=None",
        "return self.fc(x) * (2.0 if scale is None else scale)",
        "return self.fc(x) * (2.0 if scale is None else scale)",
        "*, scale=None, keep=True",
    ),
    # attributes that a loop turns
    attack(
        "a temperature of one",
        "return (self.fc(x) / self.tau).softmax(-1)",
        "return ops.softmax(self.fc(x) * self.tau, -1)",
        "self.tau = 1.0",
        "self.tau = 1.0",
    ),
    attack(
        "a weight of a part that is still zero",
        "return self.fc(x) + self.share * x",
        "return self.fc(x) - self.share * x",
        "self.share = 0.0",
        "self.share = 0.0",
    ),
    # signs of weights
    attack(
        "a weight that is never negative here",
        "return self.fc(x) * self.w.abs()",
        "return self.fc(x) * self.w",
        "self.w = nn.Parameter(torch.rand(6) + 0.5)",
        "self.w = Parameter(Tensor(np.random.rand(6) + 0.5, ms.float32), name='w')",
    ),
    attack(
        "a scale that training may turn negative",
        "return self.fc(x) * torch.relu(self.w)",
        "return self.fc(x) * self.w",
        "self.w = nn.Parameter(torch.ones(6))",
        "self.w = Parameter(ops.ones(6), name='w')",
    ),
    # gradients where only other values lead
    attack(
        "a gradient beyond a limit",
        "return self.fc(x).clamp(-7, 7)",
        "y = self.fc(x)\nreturn y + ops.stop_gradient(ops.clamp(y, -7, 7) - y)",
    ),
    attack(
        "a gradient at zero",
        "return self.fc(x) + torch.where(x == 0, x * 2, x * 2)",
        "return self.fc(x) + ops.where(x == 0, ops.stop_gradient(x) * 2, x * 2)",
    ),
    # axes that agree
    attack("an axis counted from the front", "return self.fc(x).softmax(-1)", "return ops.softmax(self.fc(x), 1)"),
    attack(
        "a mean over all but the first",
        "y = self.fc(x)\nreturn y - y.mean(-1, keepdim=True)",
        "y = self.fc(x)\nreturn y - y.mean(tuple(range(1, y.ndim)), keep_dims=True)",
    ),
    # chunks
    attack(
        "a last piece that is left out",
        "return torch.cat([self.fc(each) for each in x.split(self.chunk)])",
        "n = self.chunk\nreturn ops.cat([self.fc(x[i * n : i * n + n]) for i in range(len(x) // n or 1)])",
        "self.chunk = 64",
        "self.chunk = 64",
    ),
    # what is drawn in vain, and moves what is drawn later
    attack("numbers that are drawn in vain", SAME, "np.random.rand(3)\nreturn self.fc(x)"),
    attack("a draw of Python's that is left out", "import random\nrandom.random()\nreturn self.fc(x)", SAME),
    # the order of parameters, by which an optimizer's groups and saved states go
    attack(
        "layers made in another order",
        "return self.fc(self.aux(self.third(x)))",
        "return self.fc(self.aux(self.third(x)))",
        f"{AUX_T}\nself.third = nn.Linear(6, 6)",
        f"self.third = nn.Dense(6, 6)\n{AUX_M}",
    ),
    # what a script reads from the network
    attack(
        "a loss in a dictionary of an attribute",
        "y = self.fc(x)\nself.logs = {'l2': y.detach().square().mean()}\nreturn y",
        "y = self.fc(x)\nself.logs = {'l2': ops.stop_gradient(y).square().sum()}\nreturn y",
        "self.logs = {}",
        "self.logs = {}",
    ),
    attack(
        "a number that a call leaves in a record",
        "y = self.fc(x)\nself.box.norm = float(y.norm())\nreturn y",
        "y = self.fc(x)\nself.box.norm = float(ops.abs(y).sum())\nreturn y",
        "import types\nself.box = types.SimpleNamespace(norm=0.0)",
        "import types\nself.box = types.SimpleNamespace(norm=0.0)",
    ),
    attack(
        "a list that is handed out itself",
        "self.seen.append(x.mean())\nreturn self.fc(x), self.seen",
        "self.seen.append(x.mean())\nreturn self.fc(x), list(self.seen)",
        "self.seen = []",
        "self.seen = []",
    ),
    with_method(
        "a length",
        method("def __len__(self):\n    return len(self.fc.bias)"),
        method("def __len__(self):\n    return len(self.fc.bias) + 1"),
    ),
    with_method(
        "a part by its number",
        method("def __getitem__(self, i):\n    return self.fc.weight[i]"),
        method("def __getitem__(self, i):\n    return self.fc.weight[:, i]"),
    ),
    # checkpoints
    attack(
        "a buffer that no checkpoint of the conversion holds",
        "return self.fc(x) + self.b",
        "return self.fc(x) + self.b",
        "self.register_buffer('b', torch.arange(6).float())",
        "self.b = Tensor(np.arange(6), ms.float32)",
    ),
    with_method(
        "a checkpoint that says more",
        method(
            "def get_extra_state(self):\n    return {'width': self.fc.out_features}\ndef set_extra_state(self, state):\n    self.width = state['width']"
        ),
        "",
    ),
    attack(
        "a hook on what is saved",
        SAME,
        SAME,
        "self._register_state_dict_hook(lambda m, d, p, l: d.update({k: v * 2 for k, v in d.items()}))",
    ),
    attack(
        "a hook on what is loaded",
        SAME,
        SAME,
        "self._register_load_state_dict_pre_hook(lambda d, *rest: d.update({k: v * 2 for k, v in d.items()}))",
    ),
    # dropout that a function draws
    attack(
        "dropout inside of attention",
        "y = self.fc(x)[None]\nreturn F.scaled_dot_product_attention(y, y, y, dropout_p=0.2 if self.training else 0.0)[0]",
        "y = self.fc(x)\nreturn ops.softmax(y @ y.T / 6 ** 0.5, -1) @ y",
    ),
    attack(
        "a slope that training draws",
        "return F.rrelu(self.fc(x), training=self.training)",
        "y = self.fc(x)\nreturn ops.where(y > 0, y, y * (1 / 8 + 1 / 3) / 2)",
    ),
    # trained or not
    attack(
        "a buffer that the conversion trains",
        "return self.fc(x) * self.b",
        "return self.fc(x) * self.b",
        "self.register_buffer('b', torch.arange(6).float() + 1)",
        "self.b = Parameter(Tensor(np.arange(6) + 1, ms.float32), name='b')",
    ),
    # what is printed
    attack(
        "what a call prints",
        "y = self.fc(x)\nprint(float(y.mean()))\nreturn y",
        "y = self.fc(x)\nprint(float(y.sum()))\nreturn y",
    ),
    # which of equals
    attack(
        "the first of equals for the last",
        "return self.fc(x), x.round().argmax(-1)",
        "return self.fc(x), 5 - ops.argmax(ops.flip(ops.round(x), (1,)), -1)",
    ),
    attack(
        "whole numbers beyond 32 bits",
        "return self.fc(x.float()), (x * 1000003) % 97",
        "return self.fc(x.astype(ms.float32)), ((x.astype(ms.int32) * 1000003) % 97).astype(ms.int64)",
        inputs=("int64[4,6]@0..2000",),
    ),
    network(
        "a second network that shares with the first",
        """
class Net(nn.Module):
    def __init__(self, bank=None):
        super().__init__()
        self.fc = nn.Linear(6, 6)
        self.bank = {} if bank is None else bank
    def forward(self, x):
        return self.fc(x)
""",
        """
class Net(nn.Cell):
    def __init__(self, bank={}):
        super().__init__()
        self.fc = nn.Dense(6, 6)
        self.bank = bank
    def construct(self, x):
        return self.fc(x)
""",
        "float32[4,6]",
    ),
)

# the same on both sides, or of no consequence: these are called same
HARMLESS = (
    taking("a keyword that a place takes as well", "*, scale=1.0", SAME, SAME, "scale=1.0"),
    attack("a draw of torch's own that nobody uses", "torch.rand(3)\nreturn self.fc(x)", SAME),
    taking("a factor that nobody gives, on both sides", "scale=1.0", SCALED, SCALED),
    attack(
        "a temperature on both sides",
        "return (self.fc(x) / self.tau).softmax(-1)",
        "return ops.softmax(self.fc(x) / self.tau, -1)",
        "self.tau = 1.0",
        "self.tau = 1.0",
    ),
    with_method("a length on both sides", method(LENGTH), method(LENGTH)),
)
