"""Every rule's own calls on inputs that its cases don't have: `python -m conformance.sweep [--only torch.cat…]`. Not part of CI.

float64, integers, booleans, nothing at all, numbers without a dimension and views: torch's answer beside the conversion's.
What torch refuses is passed over, and what MindSpore refuses is loud; only another answer, or a crash, is wrong.
"""

from __future__ import annotations

from typing import Any

from mindferry.apis import Case, Rule, table
from mindferry.apis.checks.cases import source_of
from mindferry.apis.checks.differential import Runner, compare_forms, compare_values, to_numpy
from mindferry.apis.checks.inputs import case_inputs, make_input

from .drive import Group, main
from .op_db import reason_of

VARIANTS = ("float64", "int64", "int32", "bool", "empty", "scalar", "view")


def names(payload: Any, link: Any) -> list[str]:
    """In the worker: every rule with a call that runs on tensors."""
    return sorted(rule.title for rule in table() if _calls(rule))


def check_all(payload: Any, link: Any) -> dict[str, Any]:
    """In the worker: the calls of one rule, each on every kind of input. A crash is pinned to its call."""
    import mindspore as ms
    import torch

    torch.set_num_threads(1)
    ms.runtime.launch_blocking()
    runner = Runner(link.scratch)
    calls = [(case, variant) for case in _calls(table().titled(payload["name"])) for variant in VARIANTS]
    for index, (case, variant) in enumerate(calls):
        if index < payload["start"]:
            continue
        text = f"[{variant}] {case.before}"
        link.report({"index": index, "source": text, "reason": "running"})
        link.report({"index": index, "source": text, "reason": _outcome(runner, case, variant)})
    return {}


def _calls(rule: Rule) -> list[Case]:
    if rule.missing:
        return []
    return [each for each in rule.cases if each.runs and not each.random and case_inputs(each.shapes, each.inputs)]


def _outcome(runner: Runner, case: Case, variant: str) -> str:
    """'' unless both frameworks answer, and differ."""
    import mindspore as ms
    import torch

    specs = case_inputs(case.shapes, case.inputs)
    arrays = [_varied(make_input(spec, seed), variant, first=seed == 0) for seed, spec in enumerate(specs)]
    try:
        theirs, ours = runner._modules(source_of(case.before, len(specs)))
        expected = theirs.case(*[torch.from_numpy(each.copy()) for each in arrays])
        if isinstance(expected, torch.nn.Module):
            return ""
    except Exception:
        return ""
    try:
        actual = ours.case(*[ms.Tensor(each) for each in arrays])
        found = [to_numpy(each) for each in _flat(actual)]
    except Exception:
        return ""
    reference = [to_numpy(each) for each in _flat(expected)]
    return reason_of(_compare, reference, found)


def _compare(reference: list[Any], found: list[Any]) -> None:
    compare_forms(reference, found)
    compare_values(reference, found, "output")


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for each in value for leaf in _flat(each)] if isinstance(value, tuple | list) else [value]


def _varied(array: Any, variant: str, first: bool) -> Any:
    import numpy as np

    if variant in ("float64", "int64", "int32", "bool"):
        if array.dtype != np.float32:
            return array
        return (array * 3).astype(variant) if variant.startswith("int") else array.astype(variant)
    if variant == "empty":
        return array[:0] if array.ndim else array
    if variant == "scalar":
        return array.reshape(-1)[0].reshape(()) if first and array.size else array
    return array[::-1].T.copy().T if array.ndim > 1 else array[::-1].copy()


GROUP = Group("sweep", "rules", "conformance.sweep")

if __name__ == "__main__":
    main(GROUP)
