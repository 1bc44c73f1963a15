"""torch's module_db through conversion: `python -m conformance.module_db [--only nn.Conv2d…] [--samples N]`.

Every module in training and in evaluation, with torch's weights: outputs, gradients of inputs and of parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from mindferry.apis.checks import differential as both
from mindferry.apis.checks.cases import Mismatch, flatten
from mindferry.convert import convert_source

from .drive import Group, main
from .op_db import reason_of
from .samples import Writer


@dataclass(slots=True)
class ModuleSample:
    source: str
    made_from: list[Any]  # tensors that the constructor takes
    inputs: list[Any]
    training: bool

    @property
    def title(self) -> str:
        mode = "train" if self.training else "eval"
        return f"{self.source.partition('return ')[2].partition(chr(10))[0]} ({mode})"


def names(payload: Any, link: Any) -> list[str]:
    """In the worker: every entry."""
    return list(_entries())


def _entries() -> dict[str, Any]:
    from torch.testing._internal.common_modules import module_db

    return {str(entry.name): entry for entry in module_db}


def check_all(payload: Any, link: Any) -> dict[str, Any]:
    """In the worker: the samples of one module from `start` on."""
    import torch

    torch.set_num_threads(1)
    runner = both.Runner(link.scratch)
    for index, sample in enumerate(_samples(_entries()[payload["name"]])):
        if index < payload["start"]:
            continue
        if payload["samples"] is not None and index >= payload["samples"]:
            break
        link.report({"index": index, "source": sample.title, "reason": "running"})
        link.report({"index": index, "source": sample.title, "reason": reason_of(_check, runner, sample)})
    return {}


def _samples(entry: Any) -> Iterator[ModuleSample]:
    import torch

    for training in (True, False):
        torch.manual_seed(5)
        for each in entry.module_inputs_func(
            entry, device="cpu", dtype=torch.float32, requires_grad=True, training=training
        ):
            if each.forward_input is None:
                continue
            builder, caller = Writer("c"), Writer("t")
            made = _arguments(builder, each.constructor_input)
            given = _arguments(caller, each.forward_input)
            source = (
                f"import torch\n\n\ndef build({_parameters(builder)}):\n    return torch.{entry.name}({made})\n\n\n"
                f"def call({', '.join(filter(None, [f'net: torch.{entry.name}', _parameters(caller)]))}):\n    return net({given})\n"
            )
            made_from = [each.float() if each.is_floating_point() else each for each in builder.tensors]
            yield ModuleSample(source, made_from, caller.tensors, training)


def _arguments(writer: Writer, given: Any) -> str:
    return ", ".join(
        [*map(writer.write, given.args), *(f"{name}={writer.write(value)}" for name, value in given.kwargs.items())]
    )


def _parameters(writer: Writer) -> str:
    return ", ".join(f"{writer.prefix}{index}: torch.Tensor" for index in range(len(writer.tensors)))


def _check(runner: both.Runner, sample: ModuleSample) -> None:
    from mindferry.weights import load_torch_weights

    conversion = convert_source(sample.source)
    errors = [each.message for each in conversion.findings if each.severity == "error"]
    if errors:
        raise Mismatch(f"not converted: {errors[0]}")
    theirs, ours = runner.load_pair(sample.source, conversion.code)
    import torch

    torch.manual_seed(1)
    net = theirs.build(*sample.made_from).train(sample.training)
    leaves = [both.leaf(tensor) for tensor in sample.inputs]
    theirs.call(net, *[leaf.clone() for leaf in leaves])  # a lazy module makes its parameters at the first call
    state = {name: value.detach().clone() for name, value in net.state_dict().items()}
    cell = ours.build(*[both.to_mindspore(tensor) for tensor in sample.made_from])
    cell.set_train(sample.training)
    inputs = [both.to_mindspore(tensor) for tensor in sample.inputs]
    if state:
        load_torch_weights(cell, state)
    torch.manual_seed(2)
    before = torch.get_rng_state()
    outputs = theirs.call(net, *[leaf.clone() for leaf in leaves])
    is_random = not torch.equal(before, torch.get_rng_state())
    _compare(sample, ours, cell, net, leaves, outputs, inputs, is_random)


def _compare(
    sample: ModuleSample,
    ours: Any,
    cell: Any,
    net: Any,
    leaves: list[Any],
    outputs: Any,
    inputs: list[Any],
    is_random: bool,
) -> None:
    import mindspore as ms
    import torch

    reference = [both.to_numpy(each) for each in flatten(outputs)]
    values = [both.to_numpy(each) for each in flatten(ours.call(cell, *inputs))]
    both.compare_forms(reference, values)
    if is_random:
        return
    both.compare_values(reference, values, "output")
    total = both.total_of(outputs)
    wanted = [index for index, leaf in enumerate(leaves) if leaf.requires_grad]
    parameters = [each for each in net.parameters() if each.requires_grad]
    subjects = [*(leaves[index] for index in wanted), *parameters]
    if total is None or not total.requires_grad or not subjects:
        return
    found = torch.autograd.grad(total, subjects, allow_unused=True)
    expected = [torch.zeros_like(each) if g is None else g for g, each in zip(found, subjects, strict=True)]
    is_weighted = [getattr(each, "requires_grad", False) for each in flatten(outputs)]

    def weighted(*given: Any) -> Any:
        result = 0
        for output, is_used in zip(flatten(ours.call(cell, *given)), is_weighted, strict=True):
            if is_used:
                result = result + both.inner(output, both.weight_for(tuple(output.shape), torch.float32))
        return result

    weights = list(cell.trainable_params()) if parameters else []
    gradients = flatten(ms.grad(weighted, tuple(wanted) or None, weights or None)(*inputs))
    arrays = [both.to_numpy(each) for each in gradients]
    if len(arrays) != len(expected):
        raise Mismatch(f"{len(expected)} gradients in torch, {len(arrays)} in MindSpore")
    shaped = [
        array.reshape(tuple(like.shape)) if array.size == like.numel() else array
        for array, like in zip(arrays, expected, strict=True)
    ]
    both.compare_values([both.to_numpy(each) for each in expected], shaped, "gradient")


GROUP = Group("module_db", "modules", "conformance.module_db")

if __name__ == "__main__":
    main(GROUP)
