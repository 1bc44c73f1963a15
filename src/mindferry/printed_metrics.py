"""Metrics that a script prints: their names, and the last value of each."""

from __future__ import annotations

import re

METRIC = re.compile(
    r"(?i)(?<![\w/])((?:top-?[15]\W{0,2})?(?:val(?:id(?:ation)?)?|test|eval|best)?[ _-]?"
    r"(?:acc(?:uracy)?(?:@[15])?|top-?[15]|m?ap(?:50)?|f1(?:[ _-]score)?|auc|m?iou|dice|bleu|rouge|psnr|ssim|perplexity|ppl|"
    r"recall|precision|mae|rmse|fid|wer|cer))\s*(?:\([^)]*\))?\s*[:=]?\s*(-?\d+(?:\.\d+)?(?:e-?\d+)?\s?%?)(?![\w/])"
)


def last_metrics(printed: str) -> dict[str, str]:
    """What the reference printed last under the name of each metric: `test accuracy: 91.3%` -> {"test accuracy": "91.3%"}."""
    return {" ".join(name.lower().split()): value.replace(" ", "") for name, value in METRIC.findall(printed)}
