"""Packages that themselves need torch, and what MindSpore users take instead."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from importlib.resources import files

from ...read.installed import is_installed, why_needed

TORCH = frozenset({"torch", "torchvision", "torchaudio", "torchtext", "pytorch", "pytorch-lightning", "lightning"})
SERVED = frozenset(
    {"einops", "accelerate", "safetensors", "tensorboardX", "torch", "torchvision", "mindspore", "pytorch_lightning"}
) | {"lightning", "torchmetrics"}
ADVICE = "copy what is used of it into the project and convert that, or write it by hand"


@dataclass(frozen=True, slots=True)
class Need:
    why: str
    advice: str
    is_guess: bool = False


@functools.cache
def packages() -> dict[str, str]:
    """Import name -> what exists instead."""
    found: dict[str, str] = tomllib.loads((files("mindferry.apis.torch") / "packages.toml").read_text("utf-8"))
    return found


@functools.cache
def need_of_torch(name: str) -> Need | None:
    """Whether the package of this import name needs torch, and what to do instead; None where it needs none."""
    if name in packages():
        return Need("needs torch itself", packages()[name])
    if name in SERVED:
        return None
    if why := why_needed(TORCH, name):
        return Need(f"needs torch itself ({why})", ADVICE)
    if looks_like_torch_package(name) and not is_installed(name):
        return Need("is not installed here, but by its name it needs torch", ADVICE, is_guess=True)
    return None


def looks_like_torch_package(name: str) -> bool:
    """Guess from the name alone, for what is not installed here: torch_einops_utils, pytorch_wavelets."""
    return any(part.startswith(("torch", "pytorch")) for part in name.lower().split("_"))
