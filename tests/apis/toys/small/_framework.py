"""What reading needs to know of it. Everything that is not said here is as in torch."""

from __future__ import annotations

from dataclasses import replace

from mindferry.apis import framework
from mindferry.read.framework import Framework
from mindferry.read.types import TENSOR, UNKNOWN, Type
from mindferry.read.uses import read_uses


def describe() -> Framework:
    return replace(
        framework(),
        name="small",
        roots=("small",),
        homes=("small.",),
        tensor="small.Array",
        tensor_classes=frozenset({"small.Array"}),
        annotations=frozenset({"small.Array"}),
        functions=("small",),
        answering=(),
        uses=read_uses([("backward", "small.Array.differentiate")]),
        canonical=lambda name: name,
        call_result=_call_result,
    )


def _call_result(qual: str, arguments: int) -> Type:
    return TENSOR if qual.startswith("small.") else UNKNOWN
