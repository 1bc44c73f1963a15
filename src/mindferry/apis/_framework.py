"""The frameworks that projects are converted from, by name."""

from __future__ import annotations

from ..read.framework import Framework
from .torch._framework import torch


def framework(name: str = "torch") -> Framework:
    return {"torch": torch}[name]()
