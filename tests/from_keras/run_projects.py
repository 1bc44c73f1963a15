"""Runs the train.py of several folders in one process, and prints what each of them printed."""

import contextlib
import io
import json
import runpy
import sys
import traceback
from pathlib import Path

for folder in map(Path, sys.argv[1:]):
    printed, error = io.StringIO(), ""
    before, sys.path = list(sys.path), [str(folder), *sys.path]
    known = set(sys.modules)
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(folder / "train.py"), run_name="__main__")
    except BaseException:
        error = traceback.format_exc()
    sys.path = before
    for name in set(sys.modules) - known:  # the next folder has files of the same names
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(folder)):
            del sys.modules[name]
    print(json.dumps({"project": folder.name, "printed": printed.getvalue(), "error": error}), flush=True)
