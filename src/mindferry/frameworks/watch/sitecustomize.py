"""Imported by Python itself in a watched process: starts the watch, then makes room for the user's own sitecustomize."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
_settings = os.environ.get("MINDFERRY_WATCH", "")
if _settings:
    importlib.import_module("mindferry_watch").start(_settings)
sys.path[:] = [each for each in sys.path if os.path.abspath(each or ".") != _here]
_own = sys.modules.pop("sitecustomize", None)
with contextlib.suppress(ImportError):
    importlib.import_module("sitecustomize")
if _own is not None:
    sys.modules.setdefault("sitecustomize", _own)
