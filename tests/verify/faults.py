"""The yardstick of verify: planted faults, attacks on the word "same", and right conversions.

    python tests/verify/faults.py                        everything; about half an hour of one core
    python tests/verify/faults.py first open sealed      faults of these sets alone
    python tests/verify/faults.py attacks right          attacks; 204 right runs with other seeds, sizes and modes
    python tests/verify/faults.py --keep FILE …          goes on where an interrupted run stopped

Prints one line a case, then the figures. `first` are the six networks of twins.py; `open` and `sealed` the two halves of
second_twins.py.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
from pathlib import Path
from typing import Any

if __package__:
    from . import second_faults, second_twins, third_faults
    from .attacks import ATTACKS as FIRST_ATTACKS
    from .attacks import has_failed, outcome_of
    from .behaviour_attacks import BEHAVIOUR
    from .code_attacks import CODE
    from .conduct_attacks import CONDUCT
    from .eighth_attacks import EIGHTH
    from .fault import Fault
    from .fifth_attacks import FIFTH
    from .fresh_attacks import FRESH
    from .hidden_attacks import HIDDEN
    from .more_attacks import MORE
    from .ninth_attacks import NINTH
    from .outside_attacks import OUTSIDE
    from .separate import Case, Separate
    from .seventh_attacks import SEVENTH
    from .sixth_attacks import SIXTH
    from .tenth_attacks import TENTH
    from .twins import BERT, GAN, LSTM, RESNET, UNET, VIT, Twin, compare_twin
else:  # run as a script
    import second_faults
    import second_twins
    import third_faults
    from attacks import ATTACKS as FIRST_ATTACKS
    from attacks import has_failed, outcome_of
    from behaviour_attacks import BEHAVIOUR
    from code_attacks import CODE
    from conduct_attacks import CONDUCT
    from eighth_attacks import EIGHTH
    from fault import Fault
    from fifth_attacks import FIFTH
    from fresh_attacks import FRESH
    from hidden_attacks import HIDDEN
    from more_attacks import MORE
    from ninth_attacks import NINTH
    from outside_attacks import OUTSIDE
    from separate import Case, Separate
    from seventh_attacks import SEVENTH
    from sixth_attacks import SIXTH
    from tenth_attacks import TENTH
    from twins import BERT, GAN, LSTM, RESNET, UNET, VIT, Twin, compare_twin

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


SETS = {"first": FAULTS, "open": second_faults.OPEN, "sealed": second_faults.SEALED, "third": third_faults.THIRD}
SETS |= {"fourth": third_faults.FOURTH, "fifth": third_faults.FIFTH}
ATTACKS = (
    *FIRST_ATTACKS,
    *MORE,
    *OUTSIDE,
    *CONDUCT,
    *FRESH,
    *HIDDEN,
    *CODE,
    *BEHAVIOUR,
    *FIFTH,
    *SIXTH,
    *SEVENTH,
    *EIGHTH,
    *NINTH,
    *TENTH,
)
LISTED = "same as far as compared, but for a setting of "  # which is not counted as found
PARTS = (*SETS, "attacks", "right")
SEEDS = 17  # of each of the twelve networks of the second set
BATCHES = (1, 2, 3, 5)


def plant(fault: Fault, folder: Path) -> tuple[bool, bool, str]:
    """(found: called different or refused, named exactly, what verify said)."""
    return _planted(fault, folder)[:3]


def _planted(fault: Fault, folder: Path) -> tuple[bool, bool, str, bool]:
    """The same, and whether an operator failed."""
    try:
        comparison = compare_twin(fault.twin.mutate(fault.before, fault.after), folder)
    except Exception as error:  # what doesn't fit or doesn't run is refused, by name
        return True, any(name in str(error) for name in fault.culprits), " ".join(str(error).split())[:200], True
    is_found, listed = comparison.outcome == "different", other_setting(comparison)
    said = comparison.first_divergence if is_found else f"{LISTED}{listed}" if listed else str(comparison.outcome)
    is_named = (said if is_found else listed) in fault.culprits
    return is_found, is_named, said, has_failed(comparison)


def other_setting(comparison: Any) -> str:
    """The module of which verify says that a setting differs, although no value shows it (exit code 4)."""
    gaps = comparison.coverage.gaps if comparison.coverage else ()
    return next((gap.name for gap in gaps if gap.matters and "in torch and" in gap.why), "")


def false_alarm(twin: Twin, seed: int, folder: Path, modes: tuple[str, ...] = ("eval", "train")) -> str:
    """What verify holds against a correct conversion; "" if nothing."""
    from mindferry.verify.table import failures

    comparison = compare_twin(twin, folder, seed, modes=modes)
    return "" if comparison.outcome != "different" else "; ".join(failures(comparison))


def right_runs() -> list[tuple[str, Twin, int, tuple[str, ...]]]:
    """Of each network seeds, batch sizes and modes in turn."""
    runs = []
    for twin in (*second_twins.OPEN, *second_twins.SEALED):
        for seed in range(SEEDS):
            modes = (("eval", "train"), ("train",), ("eval",))[seed % 3]
            batch = BATCHES[seed % 4] if seed % 2 else 0
            runs.append((f"{twin.name} {seed}", twin.with_batch(batch) if batch else twin, seed, modes))
    return runs


class Kept:
    """Results so far, a line each, so that an interrupted run goes on."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path is not None and path.is_file() else []
        self.results: dict[str, list[object]] = dict(json.loads(line) for line in lines)

    def add(self, name: str, result: list[object]) -> None:
        self.results[name] = result
        if self.path is not None:
            with self.path.open("a") as file:
                file.write(json.dumps([name, result]) + "\n")


def names_of(part: str) -> list[tuple[str, str]]:
    """(name of the case, group that shares a process) of all cases of a part."""
    if part in SETS:
        return [(f"{part} {fault}", fault.twin.name) for fault in SETS[part]]
    if part == "attacks":
        names = [f"attack {attack}" for attack in ATTACKS]
        counts = [names[:index].count(name) for index, name in enumerate(names)]  # two may have one name
        return [(f"{name} ({count + 1})" if count else name, part) for name, count in zip(names, counts, strict=True)]
    return [(f"right {name}", twin.name) for name, twin, _, _ in right_runs()]


def run_case(case: Case) -> tuple[list[object], bool]:
    """One case in this process: its result, and whether an operator failed."""
    part, index = case
    with tempfile.TemporaryDirectory() as folder:
        if part in SETS:
            found, named, said, is_failure = _planted(SETS[part][index], Path(folder))
            return [found, named, said], is_failure
        if part == "attacks":
            said, is_failure = outcome_of(ATTACKS[index], Path(folder))
            return [said], is_failure
        _, twin, seed, modes = right_runs()[index]
        try:
            return [false_alarm(twin, seed, Path(folder), modes)], False
        except Exception as error:
            return [f"refused: {' '.join(str(error).split())[:200]}"], True


def shown(part: str, result: list[object]) -> str:
    """What is worth a line: all faults and attacks, and right runs that were called wrong."""
    if part in SETS:
        found, named, said = result
        return f"{'named ' if found and named else 'found ' if found else 'NOT FOUND'} -> {said}"
    if part == "attacks":
        return f"{'SAME' if result == ['same'] else 'not called same'} -> {result[0]}"
    return f"FALSE ALARM -> {result[0]}" if result != [""] else ""


def figures(part: str, results: list[list[object]]) -> str:
    if part in SETS:
        found, named = sum(bool(each[0]) for each in results), sum(bool(each[0] and each[1]) for each in results)
        networks = len({fault.twin.name for fault in SETS[part]})
        listed = sum(not each[0] and str(each[2]).startswith(LISTED) for each in results)
        more = f"; of the others {listed} listed as a setting that differs, exit code 4" if listed else ""
        return f"{part}: {len(results)} faults in {networks} networks: {found} found, {named} named exactly{more}"
    if part == "attacks":
        return f"{len(results)} attacks: {sum(each == ['same'] for each in results)} called same"
    refused = sum(str(each[0]).startswith("refused: the reference gives NaN") for each in results)
    wrong = sum(each != [""] for each in results) - refused
    return f"{len(results)} right runs: {wrong} called wrong, {refused} where the reference itself gives NaN"


def main() -> None:
    parser = argparse.ArgumentParser(description="The yardstick of verify.")
    parser.add_argument("parts", nargs="*", default=[*PARTS])
    parser.add_argument("--keep", type=Path, help="results so far; a second run goes on from there")
    options = parser.parse_args()
    kept, separate, lines = Kept(options.keep), Separate(run_case), []
    for part in options.parts:
        names = names_of(part)
        for index, (name, group) in enumerate(names):
            if name in kept.results:
                continue
            result = separate.ask((part, index), group)
            if result is None:
                result = [False, False, "crashed"] if part in SETS else ["crashed"]
            kept.add(name, result)
            said = shown(part, result)
            if said:
                print(f"{name}: {said}", flush=True)
        lines.append(figures(part, [kept.results[name] for name, _ in names]))
    separate.close()
    lines.append(f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime / 60:.1f} minutes of CPU")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
