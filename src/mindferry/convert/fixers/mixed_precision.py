"""`with autocast(): out = net(x)` for Ascend: the network that is called there is cast by amp.auto_mixed_precision.

MindSpore casts networks, not blocks. On a CPU, which torch's own autocast for CUDA leaves alone too, the helper does nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from ...read.framework import Role
from ...read.networks import is_named_like_network
from ...read.uses import Use
from ..facts import Facts
from ..plan import Change, InsertAfter, InsertBefore, Texts


def plan(facts: Facts) -> Iterator[Change]:
    if facts.settings.target != "ascend" or not facts.source.mentions("autocast"):
        return
    done: set[ast.expr] = set()
    for block in facts.source.of(ast.With):
        for cast in casts_of(facts, block):
            for callee in networks_called(facts, block):
                if callee not in done:
                    done.add(callee)
                    yield InsertBefore(facts.source.start(callee), _opening)
                    yield InsertAfter(facts.source.end(callee), partial(_closing, options_of(facts, cast)))


def _opening(texts: Texts) -> str:
    return f"{texts.name('compat.mixed_precision')}("


def _closing(options: Options, texts: Texts) -> str:
    return f"{options.text(texts)})"


@dataclass(frozen=True, slots=True)
class Options:
    """What an autocast is told: a type that may be known only when it runs, and whether it casts at all."""

    is_bfloat16: bool
    kind: ast.expr | None
    enabled: ast.expr | None

    def text(self, texts: Texts) -> str:
        """As arguments of mixed_precision that follow the network."""
        kind = texts.name("mindspore.bfloat16") if self.is_bfloat16 else texts.of(self.kind) if self.kind else ""
        is_asked = self.enabled is not None and not isinstance(self.enabled, ast.Constant)
        enabled = f", enabled={texts.of(self.enabled)}" if is_asked and self.enabled is not None else ""
        return (f", {kind}" if kind else "") + enabled


def options_of(facts: Facts, call: ast.Call) -> Options:
    api = facts.api(call.func)
    is_old = ".cuda.amp" in api or ".cpu.amp" in api  # their first argument is `enabled`
    names = ("enabled", "dtype") if is_old else ("device_type", "dtype", "enabled")
    given: dict[str, ast.expr] = dict(zip(names, call.args, strict=False))
    given |= {each.arg: each.value for each in call.keywords if each.arg}
    kind, device = given.get("dtype"), given.get("device_type")
    enabled = given.get("enabled")
    if enabled is not None and _asks_for_device(facts, enabled):
        enabled = None  # there is one: the helper does nothing on a CPU
    text = facts.source.text(kind) if kind is not None else ""
    is_on_cpu = ".cpu.amp" in api or (isinstance(device, ast.Constant) and device.value == "cpu")
    if kind is not None and not isinstance(kind, ast.Constant) and not _asks_for_device(facts, kind):
        return Options(False, kind, enabled)  # a variable
    if text.rpartition(".")[2] in ("float32", "float64", "float", "double"):
        enabled = ast.Constant(False)
    return Options("bfloat16" in text or (is_on_cpu and not text), None, enabled)


def _asks_for_device(facts: Facts, node: ast.expr) -> bool:
    """Whether the framework itself is asked, or what there is to compute on; what is asked there is not converted."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name | ast.Attribute):
            word = each.id if isinstance(each, ast.Name) else each.attr
            kind = facts.reading.type(each)
            is_framework = kind.kind == "ref" and facts.framework.is_own(facts.reading.symbols.origin(kind.qual))
            if "device" in word.lower() or "cuda" in word.lower() or is_framework:
                return True
    return False


def casts_of(facts: Facts, block: ast.With) -> list[ast.Call]:
    """The autocast of a block, unless it is switched off."""
    calls = [item.context_expr for item in block.items if isinstance(item.context_expr, ast.Call)]
    return [call for call in calls if facts.is_use(Use.AUTOCAST, call.func) and not _is_off(facts, call)]


def _is_off(facts: Facts, call: ast.Call) -> bool:
    enabled = options_of(facts, call).enabled
    return isinstance(enabled, ast.Constant) and not enabled.value


def networks_called(facts: Facts, block: ast.With) -> list[ast.expr]:
    """Networks, held in variables or attributes, that are called in the block; a loss is computed in float32 by torch too."""
    found: list[ast.expr] = []
    for node in (part for statement in block.body for part in ast.walk(statement)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            kind = facts.reading.type(node.func)
            symbols = facts.reading.symbols
            is_known = kind.kind == "instance" and symbols.is_module(kind.qual)
            is_guessed = kind.kind == "unknown" and is_named_like_network(node.func)  # anything else is refused there
            if is_guessed or (is_known and symbols.role(kind.qual) is not Role.LOSS):
                found.append(node.func)
    return found
