"""Attacks on the word "same" by what the code holds and no value shows: numbers, sizes, tables of functions, counts in odd places."""

from __future__ import annotations

if __package__:
    from .attacks import SAME, Attack, attack
    from .outside_attacks import network
else:  # run as a script
    from attacks import SAME, Attack, attack
    from outside_attacks import network

TABLE_T = "self.kind = 'relu'\nself.table = {'relu': torch.relu, 'tanh': torch.tanh}"
TABLE_M = "self.kind = 'relu'\nself.table = {'relu': ops.relu, 'tanh': ops.sigmoid}"
LOCAL = "import threading\nself.local = threading.local()\nself.local.n, self.late = 0, 400"
STATE = "from collections import namedtuple\nself.kind = namedtuple('State', 'n')\nself.state, self.late = self.kind(0), 400"
BUFFER_T = "self.register_buffer('b', torch.ones(6))"
BUFFER_M = "self.b = Parameter(ops.ones(6), name='b', requires_grad=False)"


def made_again(name: str, count: str) -> Attack:
    """The conversion counts how often it was made."""
    plain = attack(name, SAME, "return self.fc(x) * self.scale", "", f"{count}\nself.scale = 1 + 0.1 * (made // 3)")
    return Attack(name, plain.torch, f"MADE = [0]\n{plain.mindspore}")


CODE = (
    # numbers
    attack("a size that no run has", SAME, "return self.fc(x) * (1 + 0.1 * (x.shape[0] == 7))"),
    attack("a length that no run has", SAME, "n = len(x)\nreturn self.fc(x) + 0.5 * (n % 4 == n - 7)"),
    attack(
        "an epsilon of a norm",
        "return F.normalize(self.fc(x), dim=-1, eps=1e-6)",
        "y = self.fc(x)\nreturn y / ops.maximum(ops.sqrt((y * y).sum(-1, keepdims=True)), Tensor(1e-12))",
    ),
    attack(
        "a threshold on rare values", SAME, "y = self.fc(x)\nreturn ops.where(ops.abs(y) < 1e-5, ops.zeros_like(y), y)"
    ),
    attack(
        "a limit that is not reached",
        "return self.fc(x).clamp(-1e7, 1e7)",
        "return self.fc(x)",
    ),
    attack(
        "an epsilon in an attribute",
        "y = self.fc(x)\nreturn y / (y.norm() + self.eps)",
        "y = self.fc(x)\nreturn y / (ops.sqrt((y * y).sum()) + self.eps)",
        "self.eps = 1e-12",
        "self.eps = 1e-14",
    ),
    attack(
        "a short type",
        "return self.fc(x.float())",
        "return self.fc(x.astype(ms.int8).astype(ms.float32))",
        inputs=("int64[4,6]@0..20",),
    ),
    # what is chosen
    attack(
        "a function that a setting chooses",
        "return self.table[self.kind](self.fc(x))",
        "return self.table[self.kind](self.fc(x))",
        TABLE_T,
        TABLE_M,
    ),
    made_again("a count of constructions in a list", "MADE[0] += 1\nmade = MADE[0]"),
    made_again("a count of constructions on the class", "Net.made = made = getattr(Net, 'made', 0) + 1"),
    # surroundings
    attack("the calendar", SAME, "import time\nreturn self.fc(x) * (1 + (time.strftime('%Y') > '2100'))"),
    attack("the command line", SAME, "import sys\nreturn self.fc(x) * (1 + ('--fast' in sys.argv))"),
    attack("the machine", SAME, "import os\nreturn self.fc(x) * (1 + (os.cpu_count() == self.n))", "", "self.n = 999"),
    # counts
    attack(
        "a count of a thread's own",
        SAME,
        "self.local.n += 1\nreturn self.fc(x) * (1 + self.local.n // self.late)",
        "",
        LOCAL,
    ),
    attack(
        "a count on another module",
        SAME,
        "np.calls = getattr(np, 'calls', 0) + 1\nreturn self.fc(x) * (1 + np.calls // self.late)",
        "",
        "self.late = 400",
    ),
    attack(
        "a count on a function",
        SAME,
        "self.scaled.calls += 1\nreturn self.fc(x) * (1 + self.scaled.calls // self.late)",
        "",
        "def scaled():\n    pass\nscaled.calls = 0\nself.scaled, self.late = scaled, 400",
    ),
    attack(
        "a count in a named tuple",
        SAME,
        "self.state = self.kind(self.state.n + 1)\nreturn self.fc(x) * (1 + self.state.n // self.late)",
        "",
        STATE,
    ),
    attack(
        "a count by the network's name",
        SAME,
        "self.calls[self] = self.calls.get(self, 0) + 1\nreturn self.fc(x) * (1 + self.calls[self] // self.late)",
        "",
        "import weakref\nself.calls, self.late = weakref.WeakKeyDictionary(), 400",
    ),
    attack(
        "a generator of one's own",
        SAME,
        "return self.fc(x) * (1 + int(self.rng.random() * self.n) // self.late)",
        "",
        "import random\nself.rng, self.n, self.late = random.Random(0), 401, 400",
    ),
    network(
        "a count behind an attribute that is made up",
        """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 6)
    def forward(self, x):
        return self.fc(x)
""",
        """
class Base(nn.Cell):
    seen = 0

class Net(Base):
    def __init__(self):
        super().__init__()
        self.fc, self.late = nn.Dense(6, 6), 400
    def __getattr__(self, name):
        if name == 'scale':
            Base.seen += 1
            return 1 + Base.seen // self.late
        return super().__getattr__(name)
    def construct(self, x):
        return self.fc(x) * self.scale
""",
        "float32[4,6]",
    ),
    # state
    attack(
        "a mean that is kept from the first call",
        "return self.fc(x - x.mean(0))",
        "if self.mean is None:\n    self.mean = x.mean(0)\nreturn self.fc(x - self.mean)",
        "",
        "self.mean = None",
    ),
    attack(
        "a buffer that large values move",
        "self.b.add_((x.abs().max() > 40).float())\nreturn self.fc(x)",
        "return self.fc(x)",
        BUFFER_T,
        BUFFER_M,
    ),
    attack(
        "a hook that acts in training",
        SAME,
        SAME,
        "self.fc.register_forward_hook(lambda m, i, o: o * 2 if m.training else o)",
    ),
    attack(
        "a hook that acts on many samples",
        SAME,
        SAME,
        "self.fc.register_forward_hook(lambda m, i, o: o * (1 + len(o) // 100))",
    ),
)
