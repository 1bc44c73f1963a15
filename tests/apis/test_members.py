"""What torch's methods take: a call that a method would take must not be taken for something else's."""

from __future__ import annotations

import ast

import pytest
import torch

from mindferry import convert_source
from mindferry.apis.torch._members import member

NAMES = sorted(each for each in dir(torch.Tensor) if not each.startswith("_"))


def test_every_overload_that_torch_declares_fits_its_method() -> None:
    tried, refused = 0, []
    for name in NAMES:
        overloads = getattr(torch.ops.aten, name, None)
        for each in overloads.overloads() if hasattr(overloads, "overloads") else ():
            receiver, *rest = getattr(overloads, each)._schema.arguments or [None]
            if receiver is None or str(receiver.type) != "Tensor" or any(argument.is_out for argument in rest):
                continue
            tried += 1
            by_place = ["1" for argument in rest if not argument.kwarg_only]
            by_name = [argument.name for argument in rest if argument.kwarg_only]
            for text in (
                f"x.{name}({', '.join([*by_place, *(f'{key}={key}' for key in by_name)])})",
                f"x.{name}({', '.join(f'{argument.name}=1' for argument in rest if argument.name not in ('from', 'self'))})",
            ):
                known, call = member("Tensor", name), ast.parse(text, mode="eval").body
                assert isinstance(call, ast.Call)
                if known is not None and known.is_method and not known.fits(call):
                    refused.append(text)
    assert tried > 400
    assert refused == []


@pytest.mark.parametrize(
    "call",
    [
        "nonzero(as_tuple=True)",
        "argsort(dim=1, stable=True)",
        "narrow(dim=0, start=1, length=2)",
        "logit(1e-6)",
        "take_along_dim(b)",
        "rot90()",
    ],
)
def test_a_method_of_something_unknown_is_asked_at_run_time(call: str) -> None:
    conversion = convert_source(f"import torch\n\ndef f(a, b):\n    return torch.abs(a.value.{call})\n")
    assert f"any_{call.partition('(')[0]}(a.value" in conversion.code.splitlines()[-1]


def test_what_is_numpys_own_call_is_left() -> None:
    code = convert_source("import torch\n\ndef f(a):\n    return torch.tensor(a.image.transpose(2, 0, 1))\n").code
    assert "a.image.transpose(2, 0, 1)" in code
