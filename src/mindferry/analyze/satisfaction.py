"""API satisfaction: every torch API of a file, its counterpart, what differs for these calls, and what to do where there is none."""

from __future__ import annotations

import ast

from ..apis import Rule, Table
from ..apis._lookup import rule_of
from ..artifacts import ApiUse
from ..read.framework import Framework
from ..read.uses import Use
from .scan import FileScan
from .versions import MEASURED, fewer_arguments, lacking

# Converted by a fixer, since they are more than a call: what they become.
BY_FIXERS = {
    Use.BACKWARD: "mindspore.value_and_grad",
    Use.BACKWARD_FUNCTION: "mindspore.value_and_grad",
    Use.DERIVATIVE: "mindspore.grad",
    Use.REQUIRES_GRADIENT: "mindspore.Parameter, or Parameter.requires_grad",
    Use.STEP: "optimizer(grads)",
    Use.ZERO_GRADIENT: "nothing: gradients are return values",
    Use.NO_GRADIENT: "nothing: only what value_and_grad is given is differentiated",
    Use.AUTOCAST: "nothing: runs in float32",
}


def api_uses(scan: FileScan, rules: Table, target: str, version: str) -> list[ApiUse]:
    nodes: dict[str, list[ast.expr]] = {}
    for api, node in scan.apis:
        nodes.setdefault(api, []).append(node)
    calls = {call.node.func: call.node for call in scan.calls}
    uses = []
    for api, found in sorted(nodes.items()):
        entry = rule_of(api, rules) or rules.attribute(api)
        fixed = _made_by_fixers(api, scan.framework)
        if entry is None and not fixed and (rules.is_module(api) or scan.framework.is_of_network(api)):
            continue  # a package; a child such as `self.blocks.norm`, which the rules don't know as a method
        lines = tuple(sorted(node.lineno for node in found))
        if fixed:
            uses.append(ApiUse(api, scan.path, lines, fixed, "native"))
            continue
        uses.append(
            _use(api, scan.path, lines, entry, [calls[node] for node in found if node in calls], target, version)
        )
    return uses


def _made_by_fixers(api: str, framework: Framework) -> str:
    if api == framework.of_network("__init__"):
        return "mindspore.nn.Cell.__init__"
    use = framework.uses.of(api, BY_FIXERS)
    return BY_FIXERS[use] if use is not None else ""


def _use(
    api: str, path: str, lines: tuple[int, ...], entry: Rule | None, calls: list[ast.Call], target: str, version: str
) -> ApiUse:
    if entry is None:
        advice = f"convert it by hand, or add a rule: `mindferry rules new {api}`"
        return ApiUse(api, path, lines, "", "unknown", strategy="wrapper", advice=advice)
    if entry.missing:
        advice = entry.advice or f"follow the strategy: {entry.strategy}"
        return ApiUse(api, path, lines, entry.to, "missing", entry.missing, entry.strategy, advice, entry.platforms)
    if target not in entry.platforms:
        why = f"{entry.to or 'its counterpart'} runs on {' and '.join(entry.platforms)} only"
        return ApiUse(
            api,
            path,
            lines,
            entry.to,
            "missing",
            why,
            "wrapper",
            f"write it with operators that {target} has",
            entry.platforms,
        )
    if name := lacking(entry, version):
        advice = f"MindSpore {MEASURED} has it; or write it with operators that {version} has"
        return ApiUse(
            api,
            path,
            lines,
            entry.to,
            "missing",
            f"{name} is not in MindSpore {version}",
            "wrapper",
            advice,
            entry.platforms,
        )
    notes = "; ".join(filter(None, [_differs(entry, calls), fewer_arguments(entry, version)]))
    return ApiUse(api, path, lines, entry.to.replace("{x}", "x"), entry.kind, notes, "", entry.advice, entry.platforms)


def _differs(entry: Rule, calls: list[ast.Call]) -> str:
    """What these calls have to say otherwise in MindSpore; an argument that only goes away is no difference."""
    if entry.kind == "helper":
        return entry.differs
    name, given = entry.api.rpartition(".")[2], [_given(entry, call) for call in calls]
    reasons = []
    is_name = entry.to.removeprefix(".").replace(".", "").isidentifier()  # not a pattern such as `len({x})`
    if is_name and entry.to.rpartition(".")[2] != name.removesuffix("@"):
        reasons.append(f"called {entry.to.rpartition('.')[2]}")
    if entry.rename:
        reasons.append("; ".join(f"{old} is {new}" for old, new in entry.rename.items() if old != new))
    own = [each for each in entry.defaults if each not in entry.args and each not in entry.rename.values()]
    left_out = [each for each in entry.defaults if each in entry.args and not all(each in names for names in given)]
    if own or left_out:
        reasons.append(f"{', '.join([*own, *left_out])} must be given")
    is_only_defaults = bool(entry.defaults) and not reasons
    if entry.differs and entry.function is not None and not is_only_defaults:
        reasons.append(entry.differs)
    return "; ".join(dict.fromkeys(each for each in reasons if each))


def _given(entry: Rule, call: ast.Call) -> set[str]:
    if any(isinstance(each, ast.Starred) for each in call.args):
        return set()
    return {*entry.args[: len(call.args)], *(keyword.arg for keyword in call.keywords if keyword.arg)}
