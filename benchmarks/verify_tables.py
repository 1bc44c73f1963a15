"""The table in docs/how-to/verify.md: six networks, what was compared, and how far it was off.

    python benchmarks/verify_tables.py            prints it
    python benchmarks/verify_tables.py --write    writes it into the page
"""

from __future__ import annotations

import math
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "how-to" / "verify.md"
BEGIN, END = "<!-- table: python benchmarks/verify_tables.py --write -->", "<!-- end of table -->"
HEAD = """\
| network | parameters | values | output: MindSpore | torch | worst module: MindSpore | torch | worst gradient: MindSpore | torch | verdict |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def resnet50(folder: Path) -> tuple[Any, Any, str]:
    """The bundled example and its conversion."""
    import torch
    from tests.verify.twins import load_module

    from mindferry.convert import convert_project
    from mindferry.verify.named import shake

    example = ROOT / "examples" / "resnet50_cifar10"
    convert_project(example, folder / "converted")
    torch.manual_seed(0)
    module = load_module(example / "model.py").resnet50()
    shake(module, 0)
    sys.path.insert(0, str(folder / "converted"))  # for its helper module
    return module, load_module(folder / "converted" / "model.py").resnet50(), "float32[4,3,64,64]"


def row(name: str, module: Any, cell: Any, inputs: Any) -> str:
    from mindferry.verify.live import compare

    found = compare(module, cell, inputs, in_full=True)

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
    return f"| {name} | {parameters:,} | {len(found.differences)} | {' | '.join(cells)} | {verdict} |"


def main() -> None:
    sys.path.insert(0, str(ROOT))
    from tests.verify.twins import TWINS

    titles = {"vit": "ViT", "bert": "BERT", "unet": "U-Net", "lstm": "LSTM and GRU", "gan": "GAN generator"}
    lines = [HEAD]
    with tempfile.TemporaryDirectory() as folder:
        lines.append(row("ResNet-50 (the example)", *resnet50(Path(folder))))
        for twin in TWINS:
            if twin.name in titles:
                module, cell = twin.load(Path(folder) / twin.name)
                lines.append(row(titles[twin.name], module, cell, twin.inputs))
    table = "\n".join(lines)
    print(table)
    if "--write" in sys.argv:
        before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n{table}\n{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main()
