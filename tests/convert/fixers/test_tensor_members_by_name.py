"""`getattr(x, name)` of a tensor: the name of a device goes, any other that can't be told is a finding."""

from __future__ import annotations

import pytest

from mindferry import convert_source

HEAD = "import torch\n\n\ndef back(n: int, name: str):\n    x = torch.arange(n)\n"


@pytest.mark.parametrize("name", ["('cpu', 'cuda')[x.is_cuda]", "'cuda' if torch.cuda.is_available() else 'cpu'"])
def test_a_device_chosen_by_name_moves_nothing(name: str) -> None:
    conversion = convert_source(f"{HEAD}    return getattr(x + 1, {name})().long()\n")
    assert not [each for each in conversion.findings if each.severity == "error"]
    assert "getattr" not in conversion.code and "(x + 1).long()" in conversion.code


def test_any_other_member_that_is_chosen_by_name_is_said() -> None:
    conversion = convert_source(f"{HEAD}    return getattr(x, name)()\n")
    assert [(each.code, each.line) for each in conversion.findings if each.severity == "error"] == [("MF102", 6)]


def test_what_is_no_tensor_keeps_its_members() -> None:
    text = "import torch\n\n\ndef part(config, name: str):\n    return getattr(config, name)()\n"
    assert "getattr(config, name)()" in convert_source(text).code
