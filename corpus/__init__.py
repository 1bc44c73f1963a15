"""Public projects, converted and run: the yardstick of `make corpus`. Nothing of theirs is kept here but names and versions."""

import os
from pathlib import Path

# Workers are processes of their own and start elsewhere: they find this folder's modules as we do.
_HERE = str(Path(__file__).resolve().parents[1])
if _HERE not in os.environ.get("PYTHONPATH", "").split(os.pathsep):
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_HERE, os.environ.get("PYTHONPATH", "")]))
