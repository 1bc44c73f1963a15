"""A value in parentheses keeps them where the statement around it is written anew."""

from __future__ import annotations

import pytest

from mindferry import convert_source

HEAD = "import torch\nimport torch.nn as nn\n\n\n"


@pytest.mark.parametrize(
    ("code", "written"),
    [
        (
            "def put(y, mask):\n    y = torch.zeros(3)\n    found = torch.where(mask)[0]\n    y[found] = (torch.ones(2) + 1)\n",
            "y = ms_compat.put_found(y, found, (ops.ones((2,)) + 1))",
        ),
        (
            "def patch(cls, f):\n    cls.forward = (\n        f\n    )\n",
            "setattr(cls, ms_compat.forward_name(cls), (\n        f\n    ))",
        ),
        (
            "def tie(m):\n    m.head.weight = (m.embed.weight)\n",
            "ms_compat.set_layer_parameter(m.head, 'weight', (ms_compat.layer_parameter(m.embed, 'weight')))",
        ),
    ],
)
def test_the_statement_is_converted_and_compiles(code: str, written: str) -> None:
    result = convert_source(HEAD + code)
    assert not [each for each in result.findings if each.code == "MF901"]
    assert written in result.main
