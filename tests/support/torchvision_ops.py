"""Import this before torchvision in a test: it runs the example's shim for wheels whose operators do not load."""

import importlib.util
from pathlib import Path

SHIM = Path(__file__).parents[2] / "examples" / "resnet50_cifar10" / "torchvision_ops.py"

spec = importlib.util.spec_from_file_location("torchvision_ops", SHIM)
assert spec is not None and spec.loader is not None
# Held here, because the operators that it declares go away with it.
shim = importlib.util.module_from_spec(spec)
spec.loader.exec_module(shim)
