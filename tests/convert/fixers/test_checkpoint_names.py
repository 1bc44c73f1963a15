"""Checkpoint names end in .ckpt, also in f-strings whose values are formatted."""

from __future__ import annotations

import pytest

from mindferry import convert_source

HEAD = "import torch\n\n\ndef save(net, step, name):\n    torch.save(net.state_dict(), "


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ('"a.pth"', '"a.ckpt"'),
        ("'a.pth.tar'", "'a.ckpt'"),
        ('f"model{(step + 1):06d}.pt"', 'f"model{(plain_number(step + 1)):06d}.ckpt"'),
        ('f"{name}_{step:.3f}" ".pth"', 'f"{name}_{plain_number(step):.3f}" ".ckpt"'),
        ('f"{name}.pt/{step}.pt"', 'f"{name}.pt/{step}.ckpt"'),
        ('"{}_{:03d}.pth".format(name, step)', '"{}_{:03d}.ckpt".format(name, plain_number(step))'),
        ('"https://host/a.pth"', '"https://host/a.pth"'),
    ],
)
def test_only_the_ending_of_a_name_is_written_anew(name: str, expected: str) -> None:
    found = convert_source(f"{HEAD}{name})\n")
    assert f", {expected})" in found.code
    assert {each.code for each in found.findings} <= {"MF401"}
