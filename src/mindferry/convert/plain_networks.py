"""Networks that MindSpore's own methods serve as they are: no layer calls its parameters otherwise, nothing holds buffers, nothing is frozen."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..layout import Layout
from ..read.source import is_script
from .code_words import Text, says
from .own_optimizers import LOOP
from .settings import Settings

# Layers with other names, other shapes or states of their own; networks that come from elsewhere; names that are put together.
OTHER_ENTRIES = re.compile(
    rb"Norm|_norm\b|Embedding|PReLU|Transformer|1d\b|\bLazy|\b(?:load_)?state_dict_?(?:pre_hook|post_hook|hook)|buffer|Buffer"
    rb"|parametriz|swa_utils|AveragedModel|_state_dict_from|fsdp|FullyShardedDataParallel|ScriptModule|\bjit\b|\bhub\b"
    rb"|\b(?:torchvision|timm|transformers|torchaudio|torchtext|torch_geometric|peft|diffusers|sentence_transformers"
    rb"|lightning|pytorch_lightning|accelerate|ignite|apex|deepspeed|horovod|torchmetrics|quantization)\b"
)
OWN_STATES = re.compile(rb"\bdef\s+(?:load_)?state_dict\b")
FROZEN = re.compile(rb"requires_grad|[fF]reez|detach_\b|from_pretrained|inference_mode")
STATES, TRAINED = "states", "trained"  # the second column of native_methods.tsv


def native_methods(layout: Layout, settings: Settings, texts: Iterable[Text]) -> tuple[str, ...]:
    """Which of a network's methods are MindSpore's own: those about its state, and about the parameters that it trains."""
    has_notebooks = any(file.path.suffix == ".ipynb" for file in layout.files)
    if has_notebooks or settings.packages or settings.is_restricted:
        return ()
    has_other = has_frozen = runs = False
    for text, parsed in texts:
        has_other = has_other or OWN_STATES.search(text) is not None or says(OTHER_ENTRIES, (text, parsed))
        has_frozen = has_frozen or says(FROZEN, (text, parsed))
        runs = runs or is_script(text) or LOOP.search(text) is not None
    if not runs:  # a library, of whose users nothing is known
        return ()
    return tuple(kind for kind, is_other in ((STATES, has_other), (TRAINED, has_frozen)) if not is_other)
