"""`self.phase = phase`, `self.cells = nn.ModuleList()`: what a network calls its own, and nn.Cell has for something else."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ... import findings
from ...read.walk import walk_again as walk
from ..facts import Facts
from ..plan import Change, InsertBefore, Texts

# Members of nn.Cell's that torch's Module doesn't have, and that nothing needs while a network runs step by step.
HIDDEN = frozenset(
    """arguments_key bprop_debug cast_inputs cell_init_args cell_type check_names cls_name compile_and_run compile_phase compiled
    create_time enable_backward_hook exist_names exist_objs generate_scope get_flags get_inputs get_mixed_precision_type get_scope
    get_sub_cell global_cells grad_ops_label init_parameters_data is_top_cell jit_config_dict offload param_prefix
    parameter_layout_dict parameters_broadcast_dict parameters_dict phase phase_cache pipeline_segment pipeline_stage recompute
    set_boost set_broadcast_flag set_grad set_inputs set_jit_config shard to_float total_instance_count untrainable_params
    update_cell_prefix update_cell_type""".split()
)
# Those that MindSpore calls, and that the conversion calls too.
NEEDED = frozenset(
    ("set_train", "trainable_params", "get_parameters", "parameters_and_names", "name_cells", "cells_and_names")
)
CELLS = "cells"
ALL = HIDDEN | NEEDED | {CELLS}
REGISTERING = ("register_buffer", "register_parameter", "register_module", "add_module")


def plan(facts: Facts) -> Iterator[Change]:
    if ALL.isdisjoint(facts.source.names):
        return
    for node, qual in facts.reading.owners.items():
        if isinstance(node, ast.ClassDef) and facts.reading.symbols.is_module(qual):
            methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
            own = _set_names(node) | methods.keys() & {CELLS}
            if names := sorted(own & (HIDDEN | {CELLS}) - (methods.keys() - {CELLS})):
                yield from _decorate(facts, node, names)
            for name in sorted((own | methods.keys()) & NEEDED):
                yield _refuse(facts, methods.get(name, node), name)


def _set_names(node: ast.ClassDef) -> set[str]:
    """Names that its methods set: `self.phase = …`, `self.register_buffer("phase", …)`, `setattr(self, "phase", …)`."""
    found: set[str] = set()
    for each in walk(node):
        match each:
            case ast.Attribute(attr=name, value=ast.Name(id="self"), ctx=ast.Store()):
                found.add(name)
            case ast.Call(
                func=ast.Attribute(attr=method, value=ast.Name(id="self")), args=[ast.Constant(value=str(name)), *_]
            ) if method in REGISTERING:
                found.add(name)
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id="self"), ast.Constant(value=str(name)), _]):
                found.add(name)
    return found


def _decorate(facts: Facts, node: ast.ClassDef, names: list[str]) -> Iterator[Change]:
    source, before = facts.source, f"class {node.name}"

    def decorator(texts: Texts) -> str:
        return f"@{texts.name('compat.with_own_names')}({', '.join(map(repr, names))})"

    indent = f"{source.newline()}{source.indent(node)}"
    yield InsertBefore(node, lambda texts: decorator(texts) + indent)
    yield facts.record(node, facts.framework.network, before, lambda texts: f"{decorator(texts)} {before}")


def _refuse(facts: Facts, node: ast.AST, name: str) -> Change:
    said = f"{name} is a member of this network's own, and of every cell in MindSpore, which calls it"
    return facts.found(node, findings.MF101, said, f"rename it, as own_{name}, and convert again", "error", name)
