"""The table in docs/how-to/verify.md: six full-size networks as `mindferry convert` writes them, and how far they are off.

python benchmarks/verify_tables.py                  prints it
python benchmarks/verify_tables.py --write          writes it into the page
python benchmarks/verify_tables.py --only ViT BERT  some of them; with --write, the others' rows stay
"""

from __future__ import annotations

import argparse
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PROJECTS = ROOT / "tests" / "projects"
PAGE = ROOT / "docs" / "how-to" / "verify.md"
BEGIN, END = "<!-- table: python benchmarks/verify_tables.py --write -->", "<!-- end of table -->"
HEAD = """\
| network | parameters | values | output: MindSpore | torch | worst module: MindSpore | torch | worst gradient: MindSpore | torch | verdict |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""
STATELESS = '''from model import RNNModel


class LanguageModel(RNNModel):
    """Begins every text with a state of zeros."""

    def forward(self, input):
        return super().forward(input, self.init_hidden(input.size(1)))[0]
'''


@dataclass(frozen=True)
class Network:
    title: str  # with where it comes from
    write: Callable[[Path], object]  # the torch project, into this folder
    model: str
    inputs: tuple[str, ...]


def package(requirement: str, part: str, folder: Path, only: tuple[str, ...] = ()) -> None:
    """A file or folder of a package on PyPI, or `only` some files of that, as published; the package itself is not installed."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        str(folder.parent / "package"),
        requirement,
    ]
    subprocess.run(command, check=True)
    source = folder.parent / "package" / part
    if source.is_dir():
        shutil.copytree(source, folder / source.name, ignore=lambda _, names: set(names) - set(only or names))
    else:
        shutil.copy(source, folder)


def language_model(folder: Path) -> None:
    """Beside the source as it is, a subclass whose only input is the text."""
    shutil.copy(PROJECTS / "lstm_language_model" / "model.py", folder)
    (folder / "stateless.py").write_text(STATELESS)


NETWORKS = (
    Network(
        "ResNet-50 (the example)",
        lambda folder: shutil.copy(ROOT / "examples" / "resnet50_cifar10" / "model.py", folder),
        "model:resnet50",
        ("float32[2,3,224,224]",),
    ),
    Network(
        "ViT-B/16 (vit-pytorch 1.26.11)",
        partial(package, "vit-pytorch==1.26.11", "vit_pytorch/vit.py"),
        "vit:ViT(image_size=224, patch_size=16, num_classes=1000, dim=768, depth=12, heads=12, mlp_dim=3072)",
        ("float32[1,3,224,224]",),
    ),
    Network(
        "BERT-base (bert-pytorch 0.0.1a4)",
        partial(package, "bert-pytorch==0.0.1a4", "bert_pytorch/model"),
        "model.bert:BERT(vocab_size=30522)",
        ("int64[2,64]@1..30522", "int64[2,64]@0..3"),
    ),
    Network(
        "U-Net (unet-pytorch 0.4.3)",
        partial(package, "unet-pytorch==0.4.3", "unet_pytorch/model.py"),
        "model:UNet(3, 2)",
        ("float32[1,3,128,128]",),
    ),
    Network(
        "LSTM language model (tests/projects)",
        language_model,
        "stateless:LanguageModel('LSTM', 10000, 650, 650, 2)",
        ("int64[35,8]@0..10000",),
    ),
    Network(
        "DCGAN generator, 64×64 (torchgan 0.1.0)",
        partial(package, "torchgan==0.1.0", "torchgan/models", only=("dcgan.py", "model.py")),
        "models.dcgan:DCGANGenerator(out_size=64)",
        ("float32[16,100]",),
    ),
)


def pair(network: Network, folder: Path) -> tuple[Any, Any]:
    """The torch module, and the cell of the converted project."""
    import torch

    from mindferry.convert import convert_project
    from mindferry.testing import modules_of
    from mindferry.verify.named import build, shake

    theirs, ours = folder / "theirs", folder / "ours"
    theirs.mkdir(parents=True)
    network.write(theirs)
    left = [str(finding) for finding in convert_project(theirs, ours).findings if finding.severity == "error"]
    if left:
        raise SystemExit(f"{network.title} did not convert: {left[0]}")
    torch.manual_seed(0)
    with modules_of(theirs):
        module = build(network.model)
    with modules_of(ours):
        cell = build(network.model)
    shake(module, 0)
    return module, cell


def row(network: Network, folder: Path) -> str:
    from mindferry.verify.live import compare

    module, cell = pair(network, folder)
    found = compare(module, cell, list(network.inputs), in_full=True)

    def worst(kinds: tuple[str, ...], error: str, reference: str) -> str:
        rows = [d for d in found.differences if d.kind in kinds and not math.isnan(getattr(d, error))]
        top = max(rows, key=lambda d: float(getattr(d, error)))
        return f"{getattr(top, error):.1e} | {getattr(top, reference):.1e}"

    parameters = sum(parameter.numel() for parameter in module.parameters())
    cells = [
        worst(("network",), "max_rel", "reference_error"),
        worst(("output", "input"), "own_error", "own_reference_error"),
        worst(("gradient", "input gradient", "parameter"), "own_error", "own_reference_error"),
    ]
    verdict = "same" if found.passed else f"different: {found.first_divergence}"
    return f"| {network.title} | {parameters:,} | {len(found.differences)} | {' | '.join(cells)} | {verdict} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", nargs="*", default=[])
    options = parser.parse_args()
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    old = {line.split("|")[1].strip(): line for line in rest.partition(END)[0].splitlines() if line.count("|") > 3}
    print(HEAD)
    for network in NETWORKS:
        if options.only and not any(network.title.startswith(name) for name in options.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            old[network.title] = row(network, Path(folder))
        print(old[network.title], flush=True)
        if options.write:
            lines = [old[each.title] for each in NETWORKS if each.title in old]
            PAGE.write_text(
                f"{before}{BEGIN}\n" + "\n".join([HEAD, *lines]) + f"\n{END}{rest.partition(END)[2]}", "utf-8"
            )


if __name__ == "__main__":
    main()
