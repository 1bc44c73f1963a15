"""Whether a file draws from Python's or numpy's global random numbers, which MindSpore would seed and draw from too."""

from __future__ import annotations

import re

# A seed alone draws nothing; a generator of its own is nobody else's. scikit-learn and pandas draw from numpy's.
_DRAW = re.compile(
    rb"\b(?:np|numpy)\.random\.(?!seed\b|RandomState\b|default_rng\b|Generator\b|SeedSequence\b|[gs]et_state\b)\w"
    rb"|(?<![\w.])random\.(?!seed\b|Random\b|[gs]etstate\b|SystemRandom\b)\w+\s*\("
    rb"|\bfrom\s+random\s+import\b|\bfrom\s+numpy\.random\s+import\b|\bnumpy\.random\s+as\b"
    rb"|\bimport\s+random\s+as\b|\bsklearn\b|\bimport\s+pandas\b"
)


def draws_host_numbers(text: bytes) -> bool:
    """By text: a wrong yes costs a helper, no more."""
    return any(word in text for word in (b"random", b"sklearn", b"pandas")) and _DRAW.search(text) is not None
