"""torch's op_db as source text: each sample input of an operator becomes a small function that calls it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

# op_db wraps some operators in a lambda that moves arguments; {0}, {1}, … are the sample's arguments, {rest} the others.
FORMS = {
    "where": "torch.where({1}, {0}, {rest})",
    "nn.functional.embedding": "torch.nn.functional.embedding({1}, {0}, {rest})",
    "nn.functional.embedding_bag": "torch.nn.functional.embedding_bag({1}, {0}, {rest})",
    "polygamma": "torch.polygamma({1}, {0})",
    "special.polygamma": "torch.special.polygamma({1}, {0})",
    "linalg.pinv.singular": "torch.linalg.pinv({0} @ {1}.mT)",
    "linalg.lstsq.grad_oriented": "torch.linalg.lstsq({0}, {1}, {rest})[0]",
    "normal.in_place": "{0}.normal_({rest})",
    "cauchy": "{0}.cauchy_({rest})",
    "exponential": "{0}.exponential_({rest})",
    "geometric": "{0}.geometric_({rest})",
    "log_normal": "{0}.log_normal_({rest})",
    "uniform": "{0}.uniform_({rest})",
    "resize_": "{0}.clone().resize_({rest})",
    "resize_as_": "{0}.clone().resize_as_({rest})",
    "zero_": "{0}.clone().zero_()",
    "__getitem__": "{0}[{1}]",
    "__radd__": "{1} + {0}",
    "__rsub__": "{1} - {0}",
    "__rmul__": "{1} * {0}",
    "__rdiv__": "{1} / {0}",
    "__rmod__": "{1} % {0}",
    "__rpow__": "{1} ** {0}",
    "__rmatmul__": "{1} @ {0}",
    "_segment_reduce": "torch.segment_reduce({0}, {rest})",
    "svd_lowrank": "torch.svd_lowrank({0} @ {1}.mT, {rest})",
    "pca_lowrank": "torch.pca_lowrank({0} @ {1}.mT, {rest})",
    "einsum": "torch.einsum({1}, {0})",
    "slice": "torch.ops.aten.slice({0}, {rest})",
    "sparse.sampled_addmm": "torch.sparse.sampled_addmm({0}, {rest}).to_dense()",
}
UNINITIALISED = (
    "empty",
    "empty_like",
    "new_empty",
    "empty_strided",
    "new_empty_strided",
    "empty_permuted",
    "resize_",
    "resize_as_",
)


@dataclass(slots=True)
class Sample:
    source: str
    tensors: list[Any]
    finish: Callable[[Any], Any]  # what torch's own tests compare: SVD's signs are free, for instance
    autograd: bool


@dataclass(slots=True)
class Writer:
    """Writes arguments as source text; tensors become parameters called t0, t1, …"""

    prefix: str = "t"
    tensors: list[Any] = field(default_factory=list)

    def write(self, value: Any) -> str:
        """The value as source text; a tensor becomes a parameter."""
        import torch

        if isinstance(value, torch.Tensor):
            is_rows = value.layout is torch.sparse_csr  # written as what makes it; only strided tensors are parameters
            dense = value.detach().to_dense().requires_grad_(value.requires_grad) if is_rows else value
            self.tensors.append(dense)
            return f"{self.prefix}{len(self.tensors) - 1}{'.to_sparse_csr()' if is_rows else ''}"
        if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
            return str(value)
        if isinstance(value, torch.device):
            return f"torch.device({str(value)!r})"
        if isinstance(value, list):
            return f"[{', '.join(self.write(each) for each in value)}]"
        if isinstance(value, tuple):
            return f"({', '.join(self.write(each) for each in value)}{',' if len(value) == 1 else ''})"
        if isinstance(value, slice):
            return f"slice({', '.join(self.write(each) for each in (value.start, value.stop, value.step))})"
        return self._literal(value)

    def _literal(self, value: Any) -> str:
        import torch

        if value is None or value is ... or isinstance(value, bool | str):
            return "..." if value is ... else repr(value)
        if isinstance(value, float) and not math.isfinite(value):
            return f"float('{value}')"
        if isinstance(value, int | float | complex):
            return repr(value)
        if type(value).__module__ == "numpy":
            return repr(value.item())
        if isinstance(value, torch.nn.LinearCrossEntropyOptions):
            return f"torch.nn.{value!r}"
        if isinstance(value, torch.nn.TransformerEncoderLayer):
            return _encoder_layer(value)
        if isinstance(value, torch.nn.Module) and not list(value.parameters()):
            return f"torch.nn.{type(value).__name__}()"
        name = getattr(value, "__name__", "")
        if callable(value) and getattr(torch.nn.functional, name, None) is value:
            return f"torch.nn.functional.{name}"
        raise ValueError(f"{type(value).__name__} cannot be written as a literal")


def _encoder_layer(layer: Any) -> str:
    """The call that makes such a layer."""
    sizes = f"{layer.linear1.in_features}, {layer.self_attn.num_heads}, {layer.linear1.out_features}, {layer.dropout.p}"
    flags = {
        "batch_first": layer.self_attn.batch_first,
        "norm_first": layer.norm_first,
        "bias": layer.linear1.bias is not None,
        "layer_norm_eps": layer.norm1.eps,
    }
    name = getattr(layer.activation, "__name__", type(layer.activation).__name__.lower())
    keywords = ", ".join(f"{key}={value!r}" for key, value in flags.items())
    return f"torch.nn.TransformerEncoderLayer({sizes}, activation={name!r}, {keywords})"


def _product_and_values(parts: Any) -> Any:
    """A factorization as what it stands for: the signs of its vectors are free, and drawn at random."""
    left, values, right = parts
    return (left * values.unsqueeze(-2)) @ right.mH, values


FINISHES = {"svd_lowrank": _product_and_values, "pca_lowrank": _product_and_values}


def entries() -> dict[str, Any]:
    """The float32 entries by name; variants carry theirs after a dot."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    # The jiterator's entries compile CUDA code: on a CPU torch itself has nothing to compare with.
    found = [
        entry
        for entry in op_db
        if torch.float32 in entry.supported_dtypes("cpu") and not entry.name.startswith("jiterator")
    ]
    return {full_name(entry): entry for entry in found}


def full_name(entry: Any) -> str:
    return f"{entry.name}.{entry.variant_test_name}" if entry.variant_test_name else str(entry.name)


def samples(entry: Any) -> Iterator[Sample]:
    import torch

    torch.manual_seed(3)
    for each in entry.sample_inputs("cpu", torch.float32, requires_grad=entry.supports_autograd):
        writer = Writer()
        arguments = [writer.write(value) for value in (each.input, *each.args)]
        keywords = [f"{name}={writer.write(value)}" for name, value in each.kwargs.items()]
        call = _call(entry, arguments, keywords)
        parameters = ", ".join(f"t{index}: torch.Tensor" for index in range(len(writer.tensors)))
        source = f"import torch\n\n\ndef case({parameters}):\n    return {call}\n"
        finish = FINISHES.get(entry.name, each.output_process_fn_grad)
        yield Sample(source, writer.tensors, finish, entry.supports_autograd)


def _pool_backward(tensor: str, given: dict[str, str]) -> str:
    """What the entry's own function does: pool, then take the gradient of a sum."""
    kernel = given["kernel_size"]
    stride = kernel if given["stride"] == "None" else given["stride"]
    sizes = ", ".join((kernel, stride, given["padding"], given["dilation"], given["ceil_mode"]))
    pooled = f"torch.nn.functional.max_pool2d_with_indices({tensor}, {sizes})"
    gradient = "torch.ops.aten.max_pool2d_with_indices_backward"
    return f"{gradient}(torch.ones_like({pooled}[0]), {tensor}, {sizes}, {pooled}[1])"


def _call(entry: Any, arguments: list[str], keywords: list[str]) -> str:
    import torch

    if entry.name == "max_pool2d_with_indices_backward":
        return _pool_backward(arguments[0], dict(each.split("=", 1) for each in keywords))
    form = FORMS.get(full_name(entry)) or FORMS.get(entry.name)
    if form is not None:
        used = sum(f"{{{index}}}" in form for index in range(3))
        rest = ", ".join([*arguments[used:], *keywords])
        return form.format(*arguments, rest=rest).replace(", )", ")")
    name, home = entry.name, torch
    if name.startswith("torch."):
        return f"{name}({', '.join([*arguments, *keywords])})"
    for part in name.split("."):
        home = getattr(home, part, None)
    if callable(home):
        return f"torch.{name}({', '.join([*arguments, *keywords])})"
    if hasattr(torch.Tensor, name):
        if not callable(getattr(torch.Tensor, name)):
            return f"{arguments[0]}.{name}"
        return f"{arguments[0]}.{name}({', '.join([*arguments[1:], *keywords])})"
    return f"torch.ops.aten.{name}({', '.join([*arguments, *keywords])})"
