"""Questions for what is installed (`is_torch_available()`): answered as they are in the converted world, by reading who asks."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import cached_property

from .sources import Module, Sources

GATE = re.compile(
    r"_?(?:is|has)_\w*(?:available|loadable|greater|less|older|newer|installed|at_least|exists)\w*|HAS_\w+|_\w+_available"
)
ASKS = re.compile(r"_?is_package_available|find_spec|_?is_available|import_module|is_library_available")
OF_TORCH = re.compile(r"is_torch_(?:sdpa_)?available|is_pytorch_available|_torch_available")
OF_VISION = re.compile(  # its transforms, which is what libraries want of it, are served by the table
    r"is_torchvision_(?:v2_)?available|is_torchvision_greater\w*|_torchvision_available"
)
NEVER = re.compile(  # torch's own compilers and devices
    r"is_torch_\w+_available|is_grouped_mm_available|is_torchdynamo\w*|is_torch_fx\w*|is_torchao\w*|is_flash_attn\w*|is_kernels_\w+|is_cuda_\w+|is_triton_\w+|is_rocm_\w+"
)
GREATER = re.compile(r"is_torch_(?:version_)?(?:greater|at_least|newer)\w*")
LESS = re.compile(r"is_torch_(?:version_)?(?:less|older)\w*")
SERVED_IN_PART = frozenset({"accelerate", "pytorch_lightning", "lightning"})  # enough for a project, not for a library
LONGEST = 8  # gates that ask other gates


class Gates:
    """Which packages there are: torch, as far as the converted code is concerned; those brought along; others as they are."""

    def __init__(self, brought: frozenset[str], needs_torch: Callable[[str], bool], has_vision: bool = False) -> None:
        self.brought, self._needs_torch = brought, needs_torch
        self._has_vision = has_vision  # whether torchvision is installed where the project comes from
        self.sources: Sources | None = None
        self._known: dict[tuple[str, str], bool | None] = {}

    def is_there(self, package: str) -> bool | None:
        if package == "torch" or package in self.brought:
            return True
        return False if package in SERVED_IN_PART or self._needs_torch(package) else None

    def condition(self, module: Module, test: ast.expr, depth: int = 0) -> bool | None:
        match test:
            case ast.Constant(value=bool(value)):
                return value
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                answer = self.condition(module, inner, depth)
                return None if answer is None else not answer
            case ast.BoolOp(op=op, values=values):
                answers = [self.condition(module, each, depth) for each in values]
                decisive = isinstance(op, ast.Or)
                if decisive in answers:
                    return decisive
                return None if None in answers else not decisive
            case ast.Call(func=ast.Name(id=name)) | ast.Name(id=name):
                return self.gate(module, name, depth + 1) if GATE.fullmatch(name) else None
        return None

    def gate(self, module: Module, name: str, depth: int = 0) -> bool | None:
        """What a gate of this name answers, None where only running it can tell."""
        if OF_TORCH.fullmatch(name) or GREATER.fullmatch(name):
            return True
        if OF_VISION.fullmatch(name):
            return self._has_vision
        if NEVER.fullmatch(name) or LESS.fullmatch(name):
            return False
        key = (module.name, name)
        if key not in self._known:
            self._known[key] = None
            self._known[key] = self._read(module, name, depth) if depth < LONGEST else None
        return self._known[key]

    def _read(self, module: Module, name: str, depth: int) -> bool | None:
        for statement in module.bound.get(name, []):
            if isinstance(statement, ast.ImportFrom) and self.sources is not None:
                home = self.sources.module(module.resolve(statement))
                origin = next((each.name for each in statement.names if (each.asname or each.name) == name), name)
                return self.gate(home, origin, depth + 1) if home is not None else None
            if isinstance(statement, ast.Try):
                return self._of_try(statement, name)
            found = self._of_body(module, statement, name, depth)
            if found is not None:
                return found
        named = re.fullmatch(r"_?is_(\w+)_available|HAS_(\w+)", name)
        if named is None or name not in module.bound:
            return None
        return self.is_there((named.group(1) or named.group(2)).lower())

    def _of_try(self, statement: ast.Try, name: str) -> bool | None:
        """`try: import xformers; HAS_XFORMERS = True`, `except ImportError: HAS_XFORMERS = False`."""
        answers = []
        for each in statement.body:
            if isinstance(each, ast.Import):
                answers += [self.is_there(alias.name.partition(".")[0]) for alias in each.names]
            elif isinstance(each, ast.ImportFrom) and not each.level:
                answers.append(self.is_there((each.module or "").partition(".")[0]))
        return False if False in answers else None

    def _of_body(self, module: Module, statement: ast.stmt, name: str, depth: int) -> bool | None:
        """All packages that it asks for have to be there; a condition that it adds may still say no."""
        answers: list[bool | None] = []
        for node in ast.walk(statement):
            if not isinstance(node, ast.Call):
                continue
            asked = getattr(node.func, "attr", getattr(node.func, "id", ""))
            first = node.args[0] if node.args else None
            if ASKS.fullmatch(asked) and isinstance(first, ast.Constant) and isinstance(first.value, str):
                answers.append(self.is_there(first.value.partition(".")[0]))
            elif GATE.fullmatch(asked) and asked != name and isinstance(node.func, ast.Name):
                answers.append(self.gate(module, asked, depth + 1))
        returned = [each.value for each in ast.walk(statement) if isinstance(each, ast.Return)]
        if not answers and len(returned) == 1 and isinstance(returned[0], ast.Name):  # return _torch_available
            return self.gate(module, returned[0].id, depth + 1)
        if False in answers:
            return False
        return True if answers and all(answers) else None

    @cached_property
    def world(self) -> frozenset[str]:
        return self.brought | {"torch"}
