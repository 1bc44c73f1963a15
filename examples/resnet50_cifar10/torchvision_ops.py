"""Lets torchvision import where its compiled operators cannot be loaded.

Some torchvision wheels carry operators built for another torch or for CUDA libraries that are not
there. Importing torchvision then fails on `torchvision::nms`, although datasets and transforms need
no operator at all. Only in that case, the two operators that the import asks for are declared here,
without an implementation: calling one still raises.
"""

import sys

import torch

try:
    import torchvision  # noqa: F401
except RuntimeError as error:
    if "torchvision::" not in str(error):
        raise
    # Python forgets the package whose import failed but keeps the submodules that had loaded.
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        del sys.modules[name]
    # The library object must stay alive: its declarations go away with it.
    library = torch.library.Library("torchvision", "FRAGMENT")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
