"""MindSpore's own optimizers and schedules by default: where they compute what torch's do and the project asks no more of them.

They keep their rates as tensors, have no state to save and know no parameter without a gradient. The texts tell most projects
that need more; what is converted tells the rest, and then the files with optimizers are converted once more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..layout import Layout
from ..read.source import is_script
from .code_words import Text, says
from .one_file import Written
from .prefer_native import natives
from .settings import Settings

OPTIMIZER = re.compile(rb"\boptim\b")
LOOP = re.compile(rb"^(?:for|while)\b", re.MULTILINE)  # outside of all functions; see has_training_loop
# More than MindSpore's optimizers have, or parameters and steps that their kernels don't take.
NEEDS_HELPERS = re.compile(
    rb"param_groups|add_param_group|get_last_lr|get_lr\b|last_epoch|\bclosure\b|(?<!autograd)\.grad\b"
    rb"|(?:opt\w*|sched\w*|lr_\w+)\.(?:load_)?state_dict|(?:\b|_)(?:opt\w*|\w*solver\w*)\.state\b"
    rb"|\b(?:LBFGS|SparseAdam|Adafactor|Muon|RAdam|ASGD|SWALR|\w*CyclicLR|\w*CycleLR|ReduceLROnPlateau|SequentialLR|ChainedScheduler"
    rb"|LambdaLR|MultiplicativeLR|LinearLR|PolynomialLR|CosineAnnealing\w+|GradScaler|Optimizer|_?LRScheduler)\b"
    rb"|\b(?:float64|double|half|float16|bfloat16|set_default_dtype|complex|complex64|complex128|cfloat|cdouble|view_as_complex|1j)\b"
    rb"|\b(?:lightning|pytorch_lightning|accelerate|ignite|apex|deepspeed|horovod)\b"
)


def may_have_exact_optimizers(layout: Layout, settings: Settings) -> bool:
    """Notebooks are not read as a whole, and libraries that come along bring what they need of torch's."""
    has_notebooks = any(file.path.suffix == ".ipynb" for file in layout.files)
    return not (has_notebooks or settings.packages or settings.is_restricted) and settings.style == "functional"


def needs_helpers(texts: Iterable[Text]) -> bool:
    """Whether the project's text shows that MindSpore's optimizers won't do, or has none, or is a library of whose users nothing is known."""
    has_any = may_train = False
    for text, parsed in texts:
        if says(NEEDS_HELPERS, (text, parsed)):
            return True
        has_any = has_any or OPTIMIZER.search(text) is not None
        may_train = may_train or is_script(text) or LOOP.search(text) is not None
    return not (has_any and may_train)


def has_optimizers(written: Written) -> bool:
    """Whether a file makes an optimizer or a schedule."""
    return any(each.rule in natives() for each in written.record.rewrites)
