"""What no table of APIs shows: sparse tensors, C++ and CUDA operators, autograd functions, hooks, in-place tricks, processes, packages."""

from __future__ import annotations

import ast
import re

from ..apis.torch._packages import packages
from ..artifacts import Place
from ..layout import FRAMEWORKS, ProjectFile
from ..read.framework import Role
from ..read.uses import Use
from .scan import CallSite, FileScan, argument, line_of

SPARSE = (
    "go dense and accumulate gradients if memory runs short; MindSpore's COOTensor and CSRTensor have few operators"
)
CUSTOM = "an equivalent of existing operators first; else mindspore.ops.Custom with a kernel for the target, or one that calls torch's ATen kernel"
FUNCTION = "a Cell with a `bprop` method"
HOOKS = "Cell.register_forward_hook and register_backward_hook take other arguments, and act in PyNative mode only"
PROCESSES = "start one process a device with msrun; data workers are num_parallel_workers"
IN_PLACE = "the value is assigned back by the conversion; check where another name shares the memory (a view)"
NAMED_AFTER_TORCH = "copy the parts that are used into the project and convert them"
HOOK_CALLS = {
    "register_forward_hook",
    "register_forward_pre_hook",
    "register_backward_hook",
    "register_full_backward_hook",
    "register_hook",
    "register_module_forward_hook",
    "register_state_dict_pre_hook",
    "_register_load_state_dict_pre_hook",
    "register_load_state_dict_post_hook",
    "register_full_backward_pre_hook",
    "_register_state_dict_hook",
    "register_comm_hook",
    "register_step_post_hook",
    "register_step_pre_hook",
}
TO_SPARSE = re.compile(r"\.to_(torch_)?sparse\w*")  # of something that is not known to be a tensor
SPARSE_METHODS = {
    "to_sparse",
    "to_sparse_coo",
    "to_sparse_csr",
    "coalesce",
    "sparse_resize_",
    "to_dense",
    "sparse_mask",
}
NATIVE_SOURCES = {".cu": "CUDA source", ".cuh": "CUDA header", ".cpp": "C++ source", ".cc": "C++ source"}
NOT_TRICKS = ("requires_grad_", "share_memory_", "detach_", "rename_")


def special_code(scan: FileScan) -> list[Place]:
    places = [place for call in scan.calls for place in _from_call(call, scan)]
    for node in scan.reading.source.nodes:
        if isinstance(node, ast.ClassDef):
            qual = scan.reading.owners.get(node, "")
            is_function = scan.reading.symbols.role(qual) is Role.GRADIENT
            if is_function and "Function" in scan.reading.symbols.torch_base(qual):
                places.append(Place("autograd function", node.name, scan.path, node.lineno, FUNCTION))
        elif isinstance(node, ast.Assign | ast.AugAssign):
            places += _from_assignment(node, scan)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            places += _from_import(node, scan)
    unique = {(each.topic, each.what, each.line): each for each in places}
    return sorted(unique.values(), key=lambda each: (each.topic, each.line))


def native_sources(project: list[ProjectFile]) -> list[Place]:
    """C++ and CUDA files, which no conversion of Python reaches."""
    return [
        Place("C++ or CUDA operator", f"{NATIVE_SOURCES[file.path.suffix]} {file.relative}", file.relative, 1, CUSTOM)
        for file in project
        if file.path.suffix in NATIVE_SOURCES
    ]


def _from_call(call: CallSite, scan: FileScan) -> list[Place]:
    name, last, node = call.name, call.last, call.node
    here = (scan.path, line_of(node))
    is_sparse = last in SPARSE_METHODS and scan.framework.is_of_tensor(name)
    if scan.uses.has(Use.SPARSE, name) or is_sparse or TO_SPARSE.fullmatch(name):
        return [Place("sparse tensor", scan.text(node.func), *here, SPARSE)]
    if scan.uses.has(Use.EMBEDDING, name) and _is_true(argument(node, 6, "sparse")):
        return [Place("sparse tensor", "sparse=True", *here, SPARSE)]
    if scan.uses.of(name, (Use.COMPILED_OPERATOR, Use.OWN_OPERATOR)) is Use.COMPILED_OPERATOR:
        return [Place("C++ or CUDA operator", scan.text(node.func), *here, CUSTOM)]
    if last in HOOK_CALLS and not scan.reading.symbols.is_local(name):
        return [Place("hook", scan.text(node.func), *here, HOOKS)]
    if scan.uses.has(Use.PROCESS, name) and last in (
        "spawn",
        "Process",
        "Pool",
        "start_processes",
        "Queue",
    ):
        return [Place("multiprocessing", scan.text(node.func), *here, PROCESSES)]
    is_told = scan.framework.is_of_tensor(name) or (
        name == f".{last}" and last in scan.reading.symbols.framework.members.in_place
    )  # nothing but a tensor has them
    is_method = is_told and scan.framework.is_in_place(scan.framework.of_tensor(last)) and last not in NOT_TRICKS
    is_function = scan.framework.has(name) and argument(node, -1, "out") is not None
    if is_method or is_function or (scan.uses.has(Use.MANY_AT_ONCE, name) and last.endswith("_")):
        return [Place("in-place", scan.text(node.func), *here, IN_PLACE)]
    return []


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def _from_assignment(node: ast.Assign | ast.AugAssign, scan: FileScan) -> list[Place]:
    """`x[i] = y`, `x[i] += y` and `x.data = y` on tensors, and `x -= y` on parameters, outside of the graph."""
    found = []
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        is_item = isinstance(target, ast.Subscript) and (
            scan.is_tensor(target.value) or _takes_tensor(target, node.value, scan)
        )
        is_data = isinstance(target, ast.Attribute) and target.attr == "data" and _is_parameter(target.value, scan)
        is_update = isinstance(target, ast.Name) and isinstance(node, ast.AugAssign) and scan.is_tensor(target)
        is_update = is_update and (_is_without_gradient(node, scan) or _is_callers(target, node, scan))
        is_element = (
            isinstance(target, ast.Subscript)
            and isinstance(node, ast.AugAssign)
            and scan.reading.type(target).is_tensor
        )
        if is_item or is_data or is_update or is_element:
            found.append(Place("in-place", scan.text(target), scan.path, node.lineno, IN_PLACE))
    return found


def _takes_tensor(target: ast.Subscript, value: ast.expr, scan: FileScan) -> bool:
    """`image[:, a:b] = tensor`: a part of something that is no list."""
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else []
    has_slice = any(isinstance(each, ast.Slice) for each in parts)
    return has_slice and scan.reading.type(target.value).kind == "unknown" and scan.reading.type(value).is_tensor


def _is_parameter(node: ast.expr, scan: FileScan) -> bool:
    return scan.is_tensor(node) or scan.text(node).rpartition(".")[2] in (
        "p",
        "param",
        "parameter",
        "weight",
        "bias",
        "input",
        "output",
        "tensor",
        "x",
    )


def _is_without_gradient(node: ast.AST, scan: FileScan) -> bool:
    """Inside `with torch.no_grad():`."""
    parent = scan.reading.source.parents.get(node)
    while parent is not None and not isinstance(parent, ast.FunctionDef):
        if isinstance(parent, ast.With) and any("no_grad" in scan.text(item.context_expr) for item in parent.items):
            return True
        parent = scan.reading.source.parents.get(parent)
    return False


def _is_callers(target: ast.expr, node: ast.AST, scan: FileScan) -> bool:
    """`x -= y` on a parameter that was not set anew before: it changes what the caller holds."""
    function = scan.functions.get(scan.homes[node])
    if not isinstance(function, ast.FunctionDef) or not isinstance(target, ast.Name):
        return False
    is_parameter = any(each.arg == target.id for each in function.args.args)
    names = (
        each
        for each in ast.walk(function)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store) and each is not target
    )
    return is_parameter and not any(each.id == target.id and each.lineno <= line_of(node) for each in names)


def _from_import(node: ast.Import | ast.ImportFrom, scan: FileScan) -> list[Place]:
    if isinstance(node, ast.ImportFrom) and node.level:
        return []
    modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    heads = [module.partition(".")[0] for module in modules]
    found = [
        Place("package that needs torch", head, scan.path, node.lineno, advice)
        for head in heads
        if not scan.is_own(head) and (advice := instead(head))
    ]
    if "triton" in heads:
        found.append(Place("C++ or CUDA operator", "triton", scan.path, node.lineno, CUSTOM))
    return found


def instead(package: str) -> str:
    """What exists instead of a package that needs torch; '' for any other. A package that nobody listed tells by its name."""
    return packages().get(package) or (
        NAMED_AFTER_TORCH if "torch" in package.lower() and package not in FRAMEWORKS else ""
    )
