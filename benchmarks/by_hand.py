"""ResNet-50 by hand and by mindferry, both held against torch: `python benchmarks/by_hand.py`, a few minutes on two cores.

The hand port in benchmarks/by_hand/ is ours, written as MindSpore's migration guide tells one to; the project is
examples/resnet50_cifar10. Each side runs in a process of its own, with the same weights, inputs and batches. What is
printed is the table of docs/explanation/resnet50-by-hand.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "examples" / "resnet50_cifar10"
SIDES = ("torch", "hand", "converted")
SIZE, BATCH, RATE = 32, 16, 1e-4  # of the training steps
NORM = {"weight": "gamma", "bias": "beta", "running_mean": "moving_mean", "running_var": "moving_variance"}


def write_inputs(folder: Path) -> None:
    """An image of noise, batches to train on, and weights that torch starts from, once as they are and once disturbed."""
    import torch

    sys.path.insert(0, str(EXAMPLE))
    from model import resnet50

    from data import write_synthetic

    write_synthetic(str(folder / "data"))
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    first = {name: value.numpy() for name, value in resnet50().state_dict().items() if value.ndim}
    other = {}
    for name, value in first.items():
        spread = random.uniform(0.5, 1.5, value.shape) if value.ndim == 1 else 1.0
        other[name] = ((value if value.any() else 1.0) * spread).astype("float32")
    np.savez(folder / "first.npz", **first)
    np.savez(folder / "other.npz", **other)
    images = random.standard_normal((21, BATCH, 3, SIZE, SIZE)).astype("float32")
    np.savez(
        folder / "inputs.npz",
        x=random.standard_normal((4, 3, 96, 96)).astype("float32"),
        images=images,
        labels=random.integers(0, 10, (21, BATCH)).astype("int32"),
    )


def run_torch(folder: Path, steps: int) -> dict[str, Any]:
    import torch
    from torch import nn

    sys.path.insert(0, str(EXAMPLE))
    from model import resnet50

    from data import test_loader

    inputs, net, criterion = np.load(folder / "inputs.npz"), resnet50(), nn.CrossEntropyLoss()

    def load(name: str) -> None:
        net.load_state_dict({k: torch.tensor(v) for k, v in np.load(folder / name).items()}, strict=False)

    load("other.npz")
    net.eval()
    losses = []
    with torch.no_grad():
        output = net(torch.tensor(inputs["x"])).numpy()
        batches = list(test_loader(str(folder / "data"), image_size=SIZE))
        tested = sum(criterion(net(x), y).item() * len(y) for x, y in batches) / sum(len(y) for _, y in batches)
        pictures = torch.cat([x for x, _ in test_loader(str(folder / "data"), image_size=96)]).numpy()
    load("first.npz")
    net.train()
    optimizer = torch.optim.Adam(net.parameters(), lr=RATE, weight_decay=1e-5)
    for x, y in zip(inputs["images"][:steps], inputs["labels"], strict=False):
        optimizer.zero_grad()
        loss = criterion(net(torch.tensor(x)), torch.tensor(y).long())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"output": output, "tested": tested, "pictures": pictures, "losses": losses}


def run_mindspore(folder: Path, steps: int, side: str) -> dict[str, Any]:
    import mindspore as ms

    ms.runtime.launch_blocking()
    project = HERE / "by_hand" if side == "hand" else folder / "converted"
    sys.path.insert(0, str(project))
    from model import resnet50

    inputs, net = np.load(folder / "inputs.npz"), resnet50()
    bias = net.fc.bias.asnumpy()
    if side == "hand":
        from mindspore import nn

        from data import create_dataset
        from train import make_step

        pipeline = lambda size: create_dataset(str(folder / "data"), False, image_size=size)  # noqa: E731
        criterion, step = nn.CrossEntropyLoss(), make_step(net, RATE)
    else:
        import ms_compat

        from data import test_loader

        pipeline = lambda size: test_loader(str(folder / "data"), image_size=size)  # noqa: E731
        criterion = ms_compat.CrossEntropyLoss()
        optimizer = ms_compat.Adam(net.trainable_params(), lr=RATE, weight_decay=1e-5)
        grad_fn = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, optimizer.parameters)

        def step(x: Any, y: Any) -> Any:
            loss, grads = grad_fn(x, y)
            optimizer(grads)
            return loss

    carry_weights(net, folder / "other.npz")
    net.set_train(False)
    output = net(ms.Tensor(inputs["x"])).asnumpy()
    batches = [(x, y) for x, y in pipeline(SIZE)]
    tested = sum(float(criterion(net(x), y.astype(ms.int32))) * len(y) for x, y in batches) / sum(
        len(y) for _, y in batches
    )
    pictures = np.concatenate([x.asnumpy() for x, _ in pipeline(96)])
    carry_weights(net, folder / "first.npz")
    net.set_train()
    losses = []
    begun = time.process_time()
    for x, y in zip(inputs["images"][:steps], inputs["labels"], strict=False):
        losses.append(float(step(ms.Tensor(x), ms.Tensor(y))))
    seconds = (time.process_time() - begun) / steps
    return {
        "output": output,
        "tested": tested,
        "pictures": pictures,
        "losses": losses,
        "seconds": seconds,
        "bias": bias,
    }


def carry_weights(net: Any, file: Path) -> None:
    """torch to numpy to Parameter, BatchNorm's names translated: the guide's way."""
    import mindspore as ms

    weights = dict(np.load(file).items())
    norms = {name.rpartition(".")[0] for name in weights if name.endswith("running_mean")}
    carried = {}
    for name, value in weights.items():
        place, _, last = name.rpartition(".")
        carried[f"{place}.{NORM[last] if place in norms else last}"] = ms.Parameter(ms.Tensor(value))
    missing, unused = ms.load_param_into_net(net, carried)
    assert not missing and not unused, (missing, unused)


def lines_of(*files: Path) -> int:
    return sum(1 for file in files for line in file.read_text("utf-8").splitlines() if line.strip())


def table(folder: Path) -> str:
    there, *others = ({**np.load(folder / f"{side}.npz")} for side in SIDES)
    ours = folder / "converted"
    helpers = [*ours.glob("ms_compat.py"), *ours.glob("ms_compat/*.py")]
    counts = (
        f"{lines_of(*(HERE / 'by_hand').glob('*.py'))}",
        f"{lines_of(*(ours / n for n in ('model.py', 'data.py', 'train.py')))} and {lines_of(*helpers)} of helpers",
    )
    rows: list[tuple[str, list[str]]] = [
        (
            f"largest difference of an output; outputs up to {np.abs(there['output']).max():.0f}",
            [f"{np.abs(each['output'] - there['output']).max():.1e}" for each in others],
        ),
        (
            "test images that its own pipeline hands over, of 200",
            [str(len(each["pictures"])) for each in others],
        ),
        (
            "largest difference of a test image's value, resized to 96",
            [f"{np.abs(each['pictures'] - there['pictures'][: len(each['pictures'])]).max():.1e}" for each in others],
        ),
        (
            f"test loss, own pipeline; torch: {there['tested']:.5f}",
            [f"{float(each['tested']):.5f}" for each in others],
        ),
        (
            f"largest relative difference of a loss in {len(there['losses'])} training steps",
            [f"{np.abs(each['losses'] / there['losses'] - 1).max():.1e}" for each in others],
        ),
        (
            "spread of the last layer's first bias (torch: 0.013)",
            [f"{each['bias'].std():.3f}" for each in others],
        ),
        (
            "processor seconds a training step",
            [f"{float(each['seconds']):.2f}" for each in others],
        ),
        ("lines that are not blank", list(counts)),
    ]
    return "\n".join(
        ["| | by hand | converted |", "| --- | --- | --- |", *(f"| {a} | {b} | {c} |" for a, (b, c) in rows)]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        run = run_torch if given.side == "torch" else run_mindspore
        extra = () if given.side == "torch" else (given.side,)
        np.savez(given.folder / f"{given.side}.npz", **run(given.folder, given.steps, *extra))
        return
    from mindferry.convert import convert_project

    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2", "GLOG_v": "3"}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        convert_project(EXAMPLE, folder / "converted")
        for side in SIDES:
            command = [sys.executable, __file__, "--side", side, "--folder", name, "--steps", str(given.steps)]
            subprocess.run(command, check=True, env=environment, cwd=folder)
        print(table(folder))


if __name__ == "__main__":
    main()
