"""On the path of a converted script: torch can't be imported, as on a machine without it."""

import sys

for _name in ("torch", "torchvision", "torchaudio"):
    sys.modules[_name] = None  # type: ignore[assignment]
