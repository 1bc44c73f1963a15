"""More attacks on the word "same": conversions that tell when they are watched, count, patch their judge, or are wrong where no input goes.

Most of them choose nothing: a factor that is 1 wherever it is looked at leaves no branch that never ran.
"""

from __future__ import annotations

if __package__:
    from .attacks import DROP_M, DROP_T, SAME, Attack, attack
else:  # run as a script
    from attacks import DROP_M, DROP_T, SAME, Attack, attack

CONV_T, CONV_M = (
    "self.conv = nn.Conv2d(3, 4, 3, padding=1)",
    "self.conv = nn.Conv2d(3, 4, 3, pad_mode='pad', padding=1, has_bias=True)",
)
OPTIMIZER_T = "\n\ndef optimizer(model):\n    return torch.optim.{}(model.parameters(), {})\n"
OPTIMIZER_M = "\n\ndef optimizer(cell):\n    return nn.{}(cell.trainable_params(), {})\n"


def stepping(name: str, theirs: tuple[str, str], ours: tuple[str, str]) -> Attack:
    """The network is right; its optimizer is not."""
    plain = attack(name, SAME, SAME)
    texts = (plain.torch + OPTIMIZER_T.format(*theirs), plain.mindspore + OPTIMIZER_M.format(*ours))
    return Attack(name, *texts)


CONDUCT = (
    # how often, and by whom
    attack("large batches, without a branch", SAME, "return self.fc(x) * (1 + 0.1 * (x.shape[0] // 16))"),
    attack("a batch of two and more", SAME, "return self.fc(x) * (1 + 0.1 * (x.shape[0] == 1))"),
    attack(
        "a count in an attribute", SAME, "self.n += 1\nreturn self.fc(x) * (1 + 0.1 * (self.n // 40))", "", "self.n = 0"
    ),
    attack(
        "a count in a private attribute",
        SAME,
        "self._n += 1\nreturn self.fc(x) * (1 + 0.1 * (self._n // 40))",
        "",
        "self._n = 0",
    ),
    attack(
        "a count in a list of the file's",
        SAME,
        "COUNT[0] += 1\nreturn self.fc(x) * (1 + 0.1 * (COUNT[0] // 40))",
        "",
        "global COUNT\nCOUNT = [0]",
    ),
    attack(
        "a count that is global",
        SAME,
        "global COUNT\nCOUNT += 1\nreturn self.fc(x) * (1 + 0.1 * (COUNT // 40))",
        "",
        "global COUNT\nCOUNT = 0",
    ),
    attack("a network that sees the hooks on it", SAME, "return self.fc(x) * (1 + 0.1 * (not self._forward_pre_hook))"),
    attack(
        "a network that sees who compares it",
        SAME,
        "import sys\nreturn self.fc(x) * (1 + 0.1 * ('mindferry' not in sys.modules))",
    ),
    attack(
        "a patched comparison",
        SAME,
        "return self.fc(x) * 1.5",
        "",
        "import mindferry.frameworks.mindspore_session as session\nsession.distance = lambda *a, **k: (0.0, 1.0, '')",
    ),
    attack(
        "a tensor that is read otherwise",
        SAME,
        "return self.fc(x) * 1.5",
        "",
        "Tensor.asnumpy = lambda self: np.zeros(self.shape, np.float32)",
    ),
    # where no input goes
    attack("the sign of zero", "return self.fc(x) + x.sign()", "return self.fc(x) + ops.select(x >= 0, 1.0, -1.0)"),
    attack(
        "a quotient at zero",
        "return self.fc(x) + torch.where(x == 0, 1.0, x.sin() / x)",
        "return self.fc(x) + ops.sin(x) / (x + 1e-12)",
    ),
    attack(
        "the default of an argument",
        "return self.fc(self.scaled(x, 0.5))",
        "return self.fc(self.scaled(x, 0.5))",
        "class Scaled(nn.Module):\n    def forward(self, x, by=2.0):\n        return x * by\nself.scaled = Scaled()",
        "class Scaled(nn.Cell):\n    def construct(self, x, by=3.0):\n        return x * by\nself.scaled = Scaled()",
    ),
    attack("an output without an element", "return self.fc(x)[:0]", "return self.fc(x * 2)[:0]"),
    attack("an empty list", "self.fc(x)\nreturn []", "self.fc(x * 2)\nreturn []"),
    attack("an output that is the same everywhere", "return self.fc(x) * 0 + 1", "return self.fc(x * 2) * 0 + 1"),
    attack("not a number on both sides", "return self.fc(x) * float('nan')", "return self.fc(x * 2) * float('nan')"),
    attack("a longer type", SAME, "return self.fc(x).astype(ms.float64)"),
    attack(
        "indices of a shorter type",
        "y = self.fc(x)\nreturn y, y.argmax(-1)",
        "y = self.fc(x)\nreturn y, y.argmax(-1).astype(ms.int32)",
    ),
    attack(
        "the last element of a buffer",
        "return self.fc(x) * self.b.clamp(max=4)",
        "return self.fc(x) * self.b.clamp(max=4)",
        "self.register_buffer('b', torch.arange(6).float())",
        "self.b = Parameter(Tensor([0, 1, 2, 3, 4, 6], ms.float32), name='b', requires_grad=False)",
    ),
    attack(
        "a second input's gradient",
        "return self.fc(x) * more[0]",
        "return self.fc(x) * ops.stop_gradient(more[0])",
        inputs=("float32[4,6]", "float32[4,6]"),
    ),
    attack("an input that is written into", "y = self.fc(x)\nx[:, 0] = 0\nreturn y", "return self.fc(x)"),
    attack(
        "a gradient that goes round a branch",
        "y = self.fc(x)\nreturn y + y.tanh()",
        "y = self.fc(x)\nreturn y + ops.tanh(ops.stop_gradient(y))",
    ),
    attack("a square that loses its sign", "return self.fc(x).abs()", "return ops.sqrt(ops.square(self.fc(x)) + 1e-6)"),
    attack(
        "the other border",
        "return self.conv(x).mean((2, 3))",
        "return self.conv(x[:, :, :, :8]).mean((2, 3))",
        CONV_T,
        CONV_M,
        inputs=("float32[2,3,8,8]",),
    ),
    attack(
        "dropout that scales in eval",
        "return self.drop(self.fc(x))",
        "y = self.drop(self.fc(x))\nreturn y if self.training else y * 0.7",
        DROP_T,
        DROP_M,
    ),
    # optimizers
    stepping(
        "decay that is coupled",
        ("AdamW", "lr=1e-2, weight_decay=0.1"),
        ("Adam", "learning_rate=1e-2, weight_decay=0.1"),
    ),
    stepping(
        "Nesterov's momentum that is missing",
        ("SGD", "lr=0.1, momentum=0.9, nesterov=True"),
        ("SGD", "learning_rate=0.1, momentum=0.9"),
    ),
    stepping(
        "damping that is missing",
        ("SGD", "lr=0.1, momentum=0.9, dampening=0.5"),
        ("SGD", "learning_rate=0.1, momentum=0.9"),
    ),
    stepping("an optimizer's epsilon", ("Adam", "lr=1e-2, eps=1e-8"), ("Adam", "learning_rate=1e-2, eps=1e-3")),
)
