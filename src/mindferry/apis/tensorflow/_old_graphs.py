"""TensorFlow 1: names that only its graphs and sessions have."""

from __future__ import annotations

NAMES = frozenset(
    "placeholder Session InteractiveSession get_variable variable_scope global_variables_initializer "
    "initialize_all_variables placeholder_with_default ConfigProto app flags contrib layers reset_default_graph "
    "get_default_graph get_default_session trainable_variables global_variables".split()
)
OPTIMIZERS = "Optimizer"  # tf.train.AdamOptimizer
ADVICE = (
    "bring the file to TensorFlow 2 first, with `tf_upgrade_v2` and by hand where it says so "
    "(https://www.tensorflow.org/guide/migrate): sessions become functions, placeholders their arguments; then convert again"
)


def is_of_graphs(qual: str) -> bool:
    """Whether a name is one that TensorFlow 2 has under compat.v1 only."""
    parts = qual.split(".")
    if parts[0] != "tensorflow":
        return False
    inner = parts[3:] if parts[1:3] == ["compat", "v1"] else parts[1:]
    if not inner:
        return False
    return inner[0] in NAMES or (inner[0] == "train" and len(inner) > 1 and inner[1].endswith(OPTIMIZERS))
