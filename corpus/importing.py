"""Imports files of a project one by one, in this process, and prints what happened to each: `python -P importing.py FRAMEWORK ROOT < names`.

Run as a script of its own by imports.py: a module may crash or hang, and then the next run goes on behind it.
"""

from __future__ import annotations

import importlib
import importlib.abc
import io
import json
import os
import sys
import traceback
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

TORCH = ("torch", "torchvision", "torchaudio", "torchtext")


class _NoTorch(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in TORCH:
            raise ModuleNotFoundError(f"No module named {name!r} (blocked: the conversion must not need it)", name=name)


def main() -> None:
    framework, root = sys.argv[1], Path(sys.argv[2])
    if framework == "mindspore":
        sys.meta_path.insert(0, _NoTorch())
        import mindspore

        del mindspore
    else:
        from conformance.zoo_models import declare_missing_operators

        declare_missing_operators()
    known = set(sys.modules)
    for line in sys.stdin:
        relative = Path(line.strip())
        folder, name = _home(root, relative)
        print(json.dumps({"file": str(relative), "began": True}), flush=True)
        error, place = _import(root, folder, name)
        print(json.dumps({"file": str(relative), "error": error, "place": place}), flush=True)
        if folder != root:  # `model.py` of another folder is another module
            for each in set(sys.modules) - known:
                if str(root) in (getattr(sys.modules[each], "__file__", None) or ""):
                    del sys.modules[each]


def _home(root: Path, relative: Path) -> tuple[Path, str]:
    """(folder that goes onto the path, dotted name there) of a file."""
    folder, parts = (root / relative).parent, [relative.stem]
    while (folder / "__init__.py").exists() and folder != root:
        parts.insert(0, folder.name)
        folder = folder.parent
    if parts[-1] == "__init__" and len(parts) > 1:
        parts.pop()
    return folder, ".".join(parts)


def _import(root: Path, folder: Path, name: str) -> tuple[str, str]:
    sys.path[:0] = [str(folder), str(root)]
    noise = io.StringIO()
    argv, sys.argv = sys.argv, [name]
    try:
        with redirect_stdout(noise), redirect_stderr(noise):
            importlib.import_module(name)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        frames = [each for each in traceback.extract_tb(error.__traceback__) if each.filename.startswith(str(root))]
        place = f"{os.path.relpath(frames[-1].filename, root)}:{frames[-1].lineno}" if frames else ""
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}", place
    finally:
        sys.argv = argv
        del sys.path[:2]
    return "", ""


main()
