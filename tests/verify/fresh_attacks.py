"""Attacks on the word "same" by someone who has not seen the others: complex numbers, limits behind norms, missing targets, later steps."""

from __future__ import annotations

if __package__:
    from .attacks import SAME, Attack, attack
    from .conduct_attacks import stepping
    from .outside_attacks import network
else:  # run as a script
    from attacks import SAME, Attack, attack
    from conduct_attacks import stepping
    from outside_attacks import network

NORM_T, NORM_M = "self.n = nn.LayerNorm(6)", "self.n = nn.LayerNorm((6,), epsilon=1e-5)"
W_T, W_M = "self.w = nn.Parameter(torch.randn(6))", "self.w = Parameter(ops.ones(6), name='w')"
KEPT = ("self.last = None", "self.last = None")


def optimizers(name: str, theirs: str, ours: str) -> Attack:
    """The network is right; what makes its optimizer is not."""
    plain = attack(name, SAME, SAME)
    heads = ("\n\ndef optimizer(model):\n    ", "\n\ndef optimizer(cell):\n    ")
    return Attack(name, plain.torch + heads[0] + theirs + "\n", plain.mindspore + heads[1] + ours + "\n")


FRESH = (
    # complex numbers
    attack("an imaginary part", "return torch.fft.rfft(self.fc(x))", "return ops.conj(ops.rfft(self.fc(x)))"),
    attack(
        "the imaginary part of what is inside",
        "return torch.fft.irfft(torch.fft.rfft(self.fc(x)), n=6)",
        "z = ops.rfft(self.fc(x))\nreturn ops.irfft(ops.Complex()(ops.real(z), ops.imag(z) * 1.001), n=6)",
    ),
    attack(
        "the gradient of an imaginary part",
        "z = torch.fft.rfft(self.fc(x))\nreturn z.real, z.imag",
        "z = ops.rfft(self.fc(x))\nreturn ops.real(z), ops.stop_gradient(ops.imag(z))",
    ),
    # limits that no input reaches
    attack(
        "a limit behind a norm",
        "return self.n(self.fc(x)).clamp(-9, 9)",
        "return ops.clamp(self.n(self.fc(x)), -11, 11)",
        NORM_T,
        NORM_M,
    ),
    attack(
        "a limit behind a softmax",
        "return torch.tanh(self.w).clamp(max=5) * self.fc(x).softmax(-1) + (self.w * 2).clamp(-30, 30)",
        "return (2 * ops.sigmoid(2 * self.w) - 1) * ops.softmax(self.fc(x), -1) + self.w * 2",
        W_T,
        W_M,
    ),
    attack(
        "a table whose rows are cut to a length",
        "return self.fc(self.e(x))",
        "return self.fc(self.e(x))",
        "self.e = nn.Embedding(20, 6, max_norm=20.0)",
        "self.e = nn.Embedding(20, 6)",
        inputs=("int64[4,6]@0..20",),
    ),
    # what the inputs do not hold
    attack("what is no number", "return self.fc(torch.nan_to_num(x))", "return self.fc(x)"),
    attack(
        "what is missing counts",
        "m = ~torch.isnan(x)\nreturn self.fc(torch.where(m, x, 0.0)) / m.sum(-1, keepdim=True).clamp(min=1)",
        "m = ops.ones_like(x)\nreturn self.fc(x) / m.sum(-1, keepdims=True)",
    ),
    network(
        "a batch without a target",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
    def forward(self, x, y):
        hit = (y > 0).float()
        return (self.fc(x).mean(-1) * hit).sum() / hit.sum().clamp(min=1)
""",
        """
class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(6, 6)
    def construct(self, x, y):
        hit = (y > 0).astype(ms.float32)
        return (self.fc(x).mean(-1) * hit).sum() / hit.sum()
""",
        "float32[4,6];int64[4]@-1..3",
    ),
    # gradients
    attack(
        "a gradient to an input that torch cuts off",
        "return self.fc(x) * more[0].detach()",
        "return self.fc(x) * more[0]",
        inputs=("float32[4,6]", "float32[4,6]"),
    ),
    attack(
        "a parameter that the conversion alone trains",
        "return self.fc(x) * self.w",
        "return self.fc(x) * self.w",
        "self.w = nn.Parameter(torch.randn(6), requires_grad=False)",
        W_M,
    ),
    attack(
        "a hook on a parameter",
        SAME,
        SAME,
        "self.fc.weight.register_hook(lambda g: g * 0.5)",
    ),
    # what is kept
    attack(
        "an attribute that nobody returns",
        "y = self.fc(x)\nself.last = y.detach() * 2\nreturn y",
        "y = self.fc(x)\nself.last = ops.stop_gradient(y) * 3\nreturn y",
        *KEPT,
    ),
    attack(
        "statistics over all batches",
        "return self.bn(self.fc(x))",
        "return self.bn(self.fc(x))",
        "self.bn = nn.BatchNorm1d(6, momentum=None)",
        "self.bn = nn.BatchNorm1d(6, momentum=0.0)",
    ),
    attack("a longer type", "return self.fc(x).double()", "return self.fc(x)"),
    attack(
        "the other infinity",
        "y = self.fc(x)\nreturn torch.where(y > 0.3, float('inf'), y)",
        "y = self.fc(x)\nreturn ops.where(y > 0.3, Tensor(-float('inf')), y)",
    ),
    # optimizers
    optimizers(
        "a rate that falls after the steps that are compared",
        "return torch.optim.SGD(model.parameters(), lr=0.1)",
        "return nn.SGD(cell.trainable_params(), learning_rate=[0.1] * 6 + [0.01] * 9)",
    ),
    stepping("a scale of the loss", ("SGD", "lr=0.1"), ("SGD", "learning_rate=0.1, loss_scale=2.0")),
)
