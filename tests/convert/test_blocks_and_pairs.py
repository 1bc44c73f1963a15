"""Blocks that lose all of their statements, and pairs of tensors, which are plain tuples."""

from __future__ import annotations

import pytest

from mindferry import convert_source

HEAD = "import torch\nfrom torch import nn\n\nclass Net(nn.Module):\n    pass\n\na, b = Net(), Net()\n"


def converted(code: str) -> str:
    conversion = convert_source(HEAD + code)
    assert [each for each in conversion.findings if each.severity == "error"] == []
    return conversion.main


@pytest.mark.parametrize(
    "before, after",
    [
        ("if cuda:\n    a.cuda()\n    b.cuda()\nprint(1)\n", "if cuda:\n    pass\nprint(1)\n"),
        ("if cuda:\n    a.cuda()\n    b.cuda()\nelse:\n    print(1)\n", "if cuda:\n    pass\nelse:\n    print(1)\n"),
        ("if cuda: a.cuda(); b.cuda()\n", "if cuda: pass\n"),
        ("if cuda:\n    a.cuda()  # first\n    b.cuda()\n", "if cuda:\n    # first\n    pass\n"),
        (
            "def seed():\n    torch.backends.cudnn.benchmark = True\n    torch.backends.cudnn.enabled = True\n",
            "def seed():\n    pass\n",
        ),
        ("if cuda:\n    a.cuda()\n    print(1)\n", "if cuda:\n    print(1)\n"),
    ],
)
def test_a_block_whose_statements_all_go_keeps_a_pass(before: str, after: str) -> None:
    assert converted(before).endswith(after)


@pytest.mark.parametrize(
    "before, after",
    [
        ("x.max(1).indices", "ms_compat.max_of(x, 1)[1]"),
        ("torch.topk(x, 3).values", "ms_compat.topk(x, 3)[0]"),
        ("x.sort(0).indices.view(-1)", "ms_compat.sort_by(x, 0)[1].view(-1)"),
        ("box.indices", "ms_compat.named_part(box, 'indices', 1)"),
        ("box[0].topk(3).indices", "ms_compat.named_part(ms_compat.any_topk(box[0], 3), 'indices', 1)"),
    ],
)
def test_parts_of_a_pair_are_taken_by_number(before: str, after: str) -> None:
    assert f"    return {after}\n" in converted(f"def f(x: torch.Tensor, box):\n    return {before}\n")
