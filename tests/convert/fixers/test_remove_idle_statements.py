"""What is left without effect goes: blocks of which nothing remains, devices that nobody reads, copies that only moved tensors."""

from __future__ import annotations

import pytest

from mindferry import convert_source

HEADER = "import torch\nfrom torch import nn\n\n"


def body(code: str) -> str:
    """The converted code without its imports."""
    lines = convert_source(HEADER + code).main.splitlines()
    return "\n".join(line for line in lines if not line.startswith(("import ", "from ")))


@pytest.mark.parametrize(
    "block",
    [
        "if next(flags):\n        x = x.cuda()",
        "if use_cuda:\n        x = x.cuda()\n    else:\n        x = x + 1",
        "if x is None:\n        x = 1\n    elif use_cuda:\n        x = x.cuda()",
    ],
)
def test_a_block_that_says_asks_or_does_more_stays(block: str) -> None:
    code = body(f"def run(x, use_cuda, flags):\n    {block}\n    return x\n")
    assert block.partition("\n")[0] in code and "pass" in code


def test_a_device_that_is_printed_or_handed_on_stays() -> None:
    code = body("""device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print("on", device)


class Settings:
    device = "cuda" if torch.cuda.is_available() else "cpu"


def main(train):
    where = torch.device("cuda")
    train(nn.Linear(2, 2), where)
""")
    assert (
        "device = ms_compat.Device()" in code
        and "where = " in code
        and "    device = 'cuda' if" in code.replace('"', "'")
    )


def test_a_copy_that_moved_tensors_is_written_as_a_copy() -> None:
    code = body("""def step(batch, rows, other, device):
    batch = {k: v.to(device) for k, v in batch.items()}
    rows = tuple(t.cuda() for t in rows)
    other = [t.to(device) for t in other]
    kept = {k: v.to(device) for k, v in batch.items() if k}
    return batch, rows, other, kept
""")
    assert "batch = dict(batch)" in code and "rows = tuple(rows)" in code and "other = list(other)" in code
    assert "kept = {k: v for k, v in batch.items() if k}" in code
    own = body("def step(list, rows):\n    rows = [t.cuda() for t in rows]\n    return list, rows\n")
    assert "rows = [t for t in rows]" in own  # `list` is something else here


def test_imports_under_each_other_become_one_block_without_what_nobody_uses() -> None:
    code = convert_source(
        "import os\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom torch import optim\n\n"
        "device = torch.device('cuda')\n"
        "net = nn.Sequential(nn.Linear(2, 2)).to(device)\nprint(os.sep, F.relu(net(torch.ones(1, 2))))\n"
    ).main
    assert code.startswith("import os\nfrom mindspore import nn, ops\n\nnet = ")
