"""Planted faults: small mutations of correct conversions. Each has to be found, and its culprit named.

    python tests/verify/faults.py               all faults and 102 correct conversions, about ten minutes
    python tests/verify/faults.py --quick       one seed of each network as correct conversion

Prints one line a case, then: found, named exactly, false alarms.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from mindferry.errors import MindferryError

if __package__:
    from .twins import BERT, GAN, LSTM, RESNET, TWINS, UNET, VIT, Twin, optimizers
else:  # run as a script
    from twins import BERT, GAN, LSTM, RESNET, TWINS, UNET, VIT, Twin, optimizers


@dataclass(frozen=True)
class Fault:
    name: str
    twin: Twin
    before: str
    after: str
    culprits: tuple[str, ...]  # any of these is the exact name

    def __str__(self) -> str:
        return f"{self.twin.name}: {self.name}"


NETWORK = "the network"
BLOCKS = ("layers.0", "layers.1", "layers.2")

FAULTS = (
    Fault("epsilon of a norm", RESNET, "eps=1e-5", "eps=1e-3", ("layers.0.bn1",)),
    Fault(
        "momentum of a norm", RESNET, "eps=1e-5, momentum=0.9", "eps=1e-5, momentum=0.1", ("layers.0.bn1.running_mean",)
    ),
    Fault(
        "padding on the wrong side",
        RESNET,
        "stride=2, pad_mode='pad', padding=2",
        "stride=2, pad_mode='pad', padding=(1, 3, 2, 2)",
        ("stem",),
    ),
    Fault("missing activation", RESNET, "self.relu(self.bn1(self.conv1(x)))", "self.bn1(self.conv1(x))", ("layers.0",)),
    Fault("sign of the shortcut", RESNET, "y = y + x", "y = y - x", ("layers.0",)),
    Fault("other pooling", RESNET, "nn.MaxPool2d", "nn.AvgPool2d", ("pool",)),
    Fault("dropped bias", RESNET, "nn.Dense(8, 10)", "nn.Dense(8, 10, has_bias=False)", ("fc.bias",)),
    Fault("gradient cut in the shortcut", RESNET, "y = y + x", "y = y + ops.stop_gradient(x)", BLOCKS),
    Fault(
        "norm that ignores the batch",
        RESNET,
        "self.bn2 = nn.BatchNorm2d(c)",
        "self.bn2 = nn.BatchNorm2d(c, use_batch_statistics=False)",
        ("layers.0.bn2",),
    ),
    Fault("missing pooling", RESNET, "self.layers(self.pool(self.stem(x)))", "self.layers(self.stem(x))", (NETWORK,)),
    Fault(
        "frozen parameter",
        RESNET,
        "self.drop =",
        "self.stem.weight.requires_grad = False\n        self.drop =",
        ("stem.weight",),
    ),
    Fault(
        "decay on norms and biases",
        RESNET,
        '{"params": others, "weight_decay": 0.0}',
        '{"params": others, "weight_decay": 1e-4}',
        ("stem.bias",),
    ),
    Fault(
        "momentum of the optimizer",
        RESNET,
        "learning_rate=0.1, momentum=0.9",
        "learning_rate=0.1, momentum=0.8",
        ("stem.weight",),
    ),
    Fault("epsilon of a norm, slightly", VIT, "epsilon=1e-6", "epsilon=1e-5", ("attn.0.norm",)),
    Fault("approximate activation", VIT, "approximate=False", "approximate=True", ("mlp.0.act",)),
    Fault("softmax over the wrong axis", VIT, "axis=-1)", "axis=-2)", ("attn.0",)),
    Fault("scale of attention", VIT, "* (d // self.heads) ** -0.5", "* d ** -0.5", ("attn.0",)),
    Fault("swapped dimension before a reshape", VIT, "(a @ v).swapaxes(1, 2).reshape", "(a @ v).reshape", ("attn.0",)),
    Fault("query and key exchanged", VIT, "q, k, v = self.qkv", "k, q, v = self.qkv", ("attn.0",)),
    Fault("position embedding forgotten", VIT, "axis=1) + self.pos", "axis=1)", (NETWORK,)),
    Fault(
        "order of concatenation",
        VIT,
        "[ops.broadcast_to(self.cls, (x.shape[0], -1, -1)), x]",
        "[x, ops.broadcast_to(self.cls, (x.shape[0], -1, -1))]",
        (NETWORK,),
    ),
    Fault("last token for the first", VIT, "[:, 0]", "[:, -1]", (NETWORK,)),
    Fault("gradient cut in a branch", VIT, "x = x + mlp(x)", "x = x + ops.stop_gradient(mlp(x))", (NETWORK,)),
    Fault("inverted mask", BERT, "mask == 0", "mask != 0", ("layers.0",)),
    Fault("approximate function", BERT, "approximate='none'", "approximate='tanh'", ("layers.0",)),
    Fault(
        "epsilon far too large",
        BERT,
        "self.norm1 = nn.LayerNorm((d,), epsilon=1e-12)",
        "self.norm1 = nn.LayerNorm((d,), epsilon=1e-5)",
        ("layers.0.norm1",),
    ),
    Fault("other function", BERT, "ops.tanh", "ops.sigmoid", (NETWORK,)),
    Fault("positions from one", BERT, "ops.arange(ids.shape[1])", "ops.arange(1, ids.shape[1] + 1)", (NETWORK,)),
    Fault(
        "transposed weight",
        BERT,
        "split(self.query(x))",
        "split(ops.matmul(x, self.query.weight) + self.query.bias)",
        ("layers.0",),
    ),
    Fault("shortcut forgotten", BERT, "self.norm2(x + self.dropout(y))", "self.norm2(self.dropout(y))", ("layers.0",)),
    Fault("dilation", UNET, "padding=2, dilation=2", "padding=1, dilation=1", ("enc1.conv2",)),
    Fault("number of groups", UNET, "nn.GroupNorm(2, o)", "nn.GroupNorm(4, o)", ("enc1.norm1",)),
    Fault("slope of an activation", UNET, "nn.LeakyReLU(0.1)", "nn.LeakyReLU(0.01)", ("enc1.act",)),
    Fault("order of a skip connection", UNET, "[a, self.up(b)]", "[self.up(b), a]", (NETWORK,)),
    Fault("missing sigmoid", UNET, "ops.sigmoid(self.out(c))", "self.out(c)", (NETWORK,)),
    Fault("average for maximum", UNET, "nn.AvgPool2d", "nn.MaxPool2d", ("pool",)),
    Fault(
        "epsilon of a norm, slightly",
        UNET,
        "self.norm2 = nn.BatchNorm2d(o)",
        "self.norm2 = nn.BatchNorm2d(o, eps=2e-5)",
        ("enc1.norm2",),
    ),
    Fault("batch and time exchanged", LSTM, "batch_first=True", "batch_first=False", ("rnn",)),
    Fault("forgotten cell state", LSTM, "h + c", "h", (NETWORK,)),
    Fault("wrong reduction", LSTM, "z.mean(0)", "z.sum(0)", (NETWORK,)),
    Fault("softmax without logarithm", LSTM, "ops.log_softmax", "ops.softmax", (NETWORK,)),
    Fault("layers of a recurrent network", LSTM, "num_layers=2", "num_layers=1", ("rnn",)),
    Fault("slope of an activation", GAN, "nn.LeakyReLU(0.2)", "nn.LeakyReLU(0.01)", ("main.4",)),
    Fault("momentum of a norm", GAN, "nn.BatchNorm2d(8)", "nn.BatchNorm2d(8, momentum=0.99)", ("main.3.running_mean",)),
    Fault("other last activation", GAN, "nn.Tanh()", "nn.Sigmoid()", ("main.6",)),
    Fault("channels last", GAN, ".view(-1, 16, 4, 4)", ".view(-1, 4, 4, 16).permute(0, 3, 1, 2)", (NETWORK,)),
    Fault("shift of the output", GAN, "* 0.5 + 0.5", "* 0.5 - 0.5", (NETWORK,)),
    Fault(
        "padding of a transposed convolution",
        GAN,
        "nn.Conv2dTranspose(8, 3, 4, 2, pad_mode='pad', padding=1",
        "nn.Conv2dTranspose(8, 3, 4, 2, pad_mode='pad', padding=(0, 2, 1, 1)",
        ("main.5",),
    ),
)


def plant(fault: Fault, folder: Path) -> tuple[bool, bool, str]:
    """(found, named exactly, what verify said)."""
    from mindferry.verify.live import compare

    module, cell = fault.twin.mutate(fault.before, fault.after).load(folder)
    try:
        comparison = compare(module, cell, fault.twin.inputs, optimizers=optimizers(module, cell))
    except MindferryError as error:  # weights that don't fit are refused, by name
        return True, any(name in str(error) for name in fault.culprits), str(error)
    said = comparison.first_divergence
    return not comparison.passed, said in fault.culprits, said


def false_alarm(twin: Twin, seed: int, folder: Path) -> str:
    """What verify holds against a correct conversion; "" if nothing."""
    from mindferry.verify.live import compare
    from mindferry.verify.table import failures

    module, cell = twin.load(folder, seed)
    comparison = compare(module, cell, twin.inputs, seed=seed, optimizers=optimizers(module, cell))
    return "" if comparison.passed else "; ".join(failures(comparison))


def main() -> None:
    found = named = alarms = 0
    with tempfile.TemporaryDirectory() as name:
        for index, fault in enumerate(FAULTS):
            is_found, is_named, said = plant(fault, Path(name) / f"fault{index}")
            found, named = found + is_found, named + is_named
            print("named " if is_named else "found " if is_found else "MISSED", fault, "->", said, flush=True)
        seeds = range(1 if "--quick" in sys.argv else 17)
        for seed in seeds:
            for twin in TWINS:
                alarm = false_alarm(twin, seed, Path(name) / f"{twin.name}{seed}")
                alarms += bool(alarm)
                if alarm:
                    print("FALSE ALARM", twin.name, "seed", seed, "->", alarm, flush=True)
    networks = len({fault.twin.name for fault in FAULTS})
    print(f"{len(FAULTS)} faults in {networks} networks: {found} found, {named} named exactly")
    print(f"{len(seeds) * len(TWINS)} correct conversions: {alarms} false alarms")


if __name__ == "__main__":
    main()
