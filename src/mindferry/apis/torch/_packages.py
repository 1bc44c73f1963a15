"""Packages that themselves need torch, and what MindSpore users take instead."""

from __future__ import annotations

import functools
import tomllib
from importlib.resources import files


@functools.cache
def packages() -> dict[str, str]:
    """Import name -> what exists instead."""
    found: dict[str, str] = tomllib.loads((files("mindferry.apis.torch") / "packages.toml").read_text("utf-8"))
    return found
