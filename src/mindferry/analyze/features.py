"""Features of MindSpore that this project would use, each with the line that suggests it."""

from __future__ import annotations

import ast
import re

from ..artifacts import Place
from .scan import FileScan, line_of

# the call that suggests it -> the feature, how to use it
CALLS: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(pattern), feature, advice)
    for pattern, feature, advice in (
        (
            r"(torch\.Tensor|.*[aA]ccelerator)?\.backward",
            "graph mode",
            "decorate the training step with ms.jit: the whole step becomes one graph",
        ),
        (
            r"torch\.(cuda\.)?(amp\.)?(autocast|GradScaler)|torch\.autocast|apex\.amp\..*|torch\.amp\..*|torch\.(Tensor|nn\.Module)\.half|torch\.cuda\.amp\..*|(.*[aA]ccelerator)?\.autocast|.*get_autocast",
            "mixed precision",
            "ms.amp.auto_mixed_precision(net, 'O2'), and a loss scaler from ms.amp",
        ),
        (
            r"torchvision\.transforms\.(v2\.)?(AutoAugment|RandAugment|TrivialAugmentWide|AugMix)",
            "automatic augmentation",
            "mindspore.dataset.vision.AutoAugment, RandAugment or TrivialAugmentWide",
        ),
        (
            r"torch\.nn\.parallel\..*|torch\.nn\.DataParallel|torch\.distributed\..*|torch\.nn\.SyncBatchNorm.*",
            "parallel modes",
            "msrun with data parallel mode; semi-automatic parallel for models that don't fit",
        ),
        (
            r"torch\.utils\.tensorboard\..*|tensorboardX\..*|wandb\.(init|log)|tensorboard\..*|\.add_(scalars?|histogram|images?)",
            "summary",
            "mindspore.SummaryRecord, or the callback SummaryCollector",
        ),
        (
            r"torch\.profiler\..*|torch\.autograd\.profiler\..*|torch\.cuda\.nvtx\..*",
            "profiler",
            "mindspore.profiler, or `mindferry tune`",
        ),
        (
            r"torch\.(ao\.)?quantization\..*|torch\.quantize_per_.*|bitsandbytes\..*",
            "quantization",
            "MindSpore Golden Stick: quantization-aware training and post-training quantization",
        ),
        (r"torch\.utils\.checkpoint\..*", "recomputation", "cell.recompute()"),
        (
            r"torch\.onnx\..*|torch\.jit\.(script|trace|save)",
            "export",
            "ms.export(net, x, file_name='net', file_format='MINDIR'), or `mindferry export`",
        ),
        (r"torch\.compile", "graph mode", "decorate the function with ms.jit"),
        (r"torch\.nn\.utils\.prune\..*", "pruning", "MindSpore Golden Stick"),
        (
            r"torch\.utils\.data\.DataLoader",
            "data pipeline",
            "num_parallel_workers on the slow operation, and dataset sinking on Ascend",
        ),
        (
            r"torch\.nn\.functional\.scaled_dot_product_attention|torch\.nn\.MultiheadAttention",
            "fused attention",
            "ops.flash_attention_score on Ascend",
        ),
    )
)
ACCUMULATION = re.compile(
    r"accum(ulat\w*)?_?(steps?|iters?|grad\w*|freq|every)|grad\w*_accum\w*|accumulation", re.IGNORECASE
)


def features(scan: FileScan) -> list[Place]:
    """The first line in this file for each feature."""
    found: dict[str, Place] = {}
    for call in sorted(scan.calls, key=lambda each: line_of(each.node)):
        if not call.name or scan.reading.symbols.is_local(call.name):
            continue
        for pattern, feature, advice in CALLS:
            if feature not in found and pattern.fullmatch(call.name):
                found[feature] = Place(feature, scan.text(call.node)[:100], scan.path, line_of(call.node), advice)
    for node in scan.reading.source.nodes:
        if (
            isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Div | ast.Mod)
            and ACCUMULATION.search(scan.text(node.right))
        ):
            advice = "sum the gradients that value_and_grad returns, and call the optimizer every n-th step"
            found.setdefault(
                "gradient accumulation",
                Place("gradient accumulation", scan.text(node)[:100], scan.path, node.lineno, advice),
            )
            break
    return list(found.values())


def first_of_each(places: list[Place]) -> list[Place]:
    """One line a feature over the whole project."""
    return list({place.topic: place for place in reversed(places)}.values())[::-1]
