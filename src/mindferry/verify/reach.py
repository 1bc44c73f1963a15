"""Which lines of the model's own code ran, and which branches never did; those inside of a line (`a if c else b`) too."""

from __future__ import annotations

import ast
import contextlib
import linecache
import os
import sys
import sysconfig
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, FrameType, TracebackType
from typing import Any

from .literals import Literal, implied_by, literals_of, looked_up, walked
from .lookups import bounds_of, errors_of, lookups, stores_in_modules

LIBRARIES = (
    "site-packages",
    "dist-packages",
    "/mindferry/",
    "ms_compat.py",
    "/ms_compat/",
    "ms_keras.py",
    "/ms_keras/",
    "<",
)
# What a condition may ask without depending on the network's inputs.
STEADY_CALLS = {"is_scripting", "is_tracing", "is_exporting", "is_autocast_enabled", "hasattr", "isinstance", "len"}
STEADY_CALLS |= {"is_grad_enabled", "is_available", "getattr", "bool", "int", "version", "is_compiling", "enumerate"}
STEADY_CALLS |= {"range", "zip", "reversed", "children", "items", "values", "keys", "modules"}
STEADY_ATTRIBUTES = {"is_cuda", "device", "is_mps", "is_quantized"}
CONDITIONAL = ast.If | ast.While | ast.IfExp | ast.Assert
Place = tuple[int, int, int, int]  # line and column where an expression begins and where it ends
VERSIONS = {
    "ImportError",
    "ModuleNotFoundError",
    "AttributeError",
    "NotImplementedError",
}  # what an older library raises
MESSAGES = {"print", "warn", "warning", "info", "debug", "error", "warn_once"}


@dataclass(frozen=True, slots=True)
class Unreached:
    file: str
    line: int
    function: str  # Block.forward
    text: str  # the condition's line


def _is_installed(folder: str) -> bool:
    """Whether packages were installed there, wherever it is: `pip install --target libs`."""
    return bool(folder) and os.path.isdir(folder) and any(name.endswith(".dist-info") for name in os.listdir(folder))


class Reach:
    """While it is entered, notes the lines that run in the model's own files, and in the functions of `also`."""

    def __init__(self, also: Iterable[CodeType] = ()) -> None:
        self.lines: dict[CodeType, set[int]] = {}
        self.called: set[CodeType] = set()  # beside these
        self._steps: dict[CodeType, set[int]] = {}  # instructions, where a line holds a choice
        self._trees: dict[str, ast.Module | None] = {}
        self._choices: dict[str, list[int]] = {}  # lines of a file that hold one
        self._also = set(also)
        self._libraries = (sysconfig.get_paths()["stdlib"], *filter(_is_installed, sys.path))
        self._watched: dict[
            int, tuple[CodeType, bool]
        ] = {}  # by identity: a code object's hash is computed anew each time
        self._before: list[Any] = []
        self._names: dict[CodeType, dict[str, Any]] = {}  # globals of what ran

    def __enter__(self) -> Reach:
        self._before.append(sys.gettrace())
        sys.settrace(self._enter)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        sys.settrace(self._before.pop())

    def noting(self, function: Callable[[Any], Any], apart: Reach) -> Callable[[Any], Any]:
        """The function; what it calls counts as called, and no branch of it is missing: an optimizer is made so."""

        def noted(given: Any) -> Any:
            with apart:
                made = function(given)
            self.called |= apart.lines.keys()
            return made

        return noted

    def pause(self) -> None:
        """Inside of a library and of our own hooks, where nothing is noted and every call would cost."""
        if self._before:
            sys.settrace(None)

    def resume(self) -> None:
        if self._before:
            sys.settrace(self._enter)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        self.pause()
        try:
            yield
        finally:
            self.resume()

    @contextlib.contextmanager
    def resumed(self) -> Iterator[None]:
        self.resume()
        try:
            yield
        finally:
            self.pause()

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        known = self._watched.get(id(code))
        if known is None:
            is_lookup = getattr(frame.f_globals.get("__getattr__"), "__code__", None) is code  # of a lazy package
            is_own = self.is_own(code.co_filename) and not is_lookup
            known = self._watched[id(code)] = code, code in self._also or is_own
        if not known[1]:
            return None
        ran = self.lines.get(code)
        if ran is None:
            ran = self.lines[code] = set()
            self._names[code] = frame.f_globals
            if self._has_choice(code):
                self._steps[code] = set()
        steps = self._steps.get(code)
        frame.f_trace_opcodes = steps is not None

        def step(frame: FrameType, event: str, argument: Any) -> Any:
            if event == "opcode" and steps is not None:
                steps.add(frame.f_lasti)
            else:
                ran.add(frame.f_lineno)
            return step

        return step

    def _tree(self, file: str) -> ast.Module | None:
        if file not in self._trees:
            self._trees[file] = _parse(file)
        return self._trees[file]

    def _has_choice(self, code: CodeType) -> bool:
        if not hasattr(code, "co_positions"):  # the stand-alone recorder under Python 3.10
            return False
        file = code.co_filename
        if file not in self._choices:
            tree = self._tree(file)
            self._choices[file] = [each.lineno for each in choices(tree)] if tree is not None else []
        lines = [line for _, _, line in code.co_lines() if line is not None]
        return any(min(lines) <= line <= max(lines) for line in self._choices[file])

    def _places(self, file: str) -> set[Place]:
        """What was evaluated of the lines that hold choices."""
        found = set()
        for code, steps in self._steps.items():
            if code.co_filename == file:
                places = list(code.co_positions())
                found |= {places[step // 2] for step in steps}
        return {(a, c, b, d) for a, b, c, d in found if None not in (a, b, c, d)}  # type: ignore[misc]

    def is_own(self, file: str) -> bool:
        is_ours = file == __file__  # the stand-alone recorder is one file
        return not (is_ours or file.startswith(self._libraries) or any(part in file for part in LIBRARIES))

    def _nodes(self) -> list[tuple[CodeType, ast.Module, ast.FunctionDef]]:
        """The functions that ran, constructors left out."""
        functions: dict[str, dict[tuple[str, int], ast.FunctionDef]] = {}
        found = []
        for code in self.lines:
            tree = self._tree(code.co_filename)
            if tree is None:
                continue
            if code.co_filename not in functions:
                functions[code.co_filename] = _functions(tree)
            node = functions[code.co_filename].get((code.co_name, code.co_firstlineno))
            if node is not None and node.name != "__init__":
                found.append((code, tree, node))
        return found

    def unreached(self) -> list[Unreached]:
        """Branches that never ran in functions that did, but those that no input could reach in this network."""
        found = []
        states: dict[str, set[str]] = {}
        places: dict[str, set[Place]] = {}
        for code, tree, node in self._nodes():
            file, name = code.co_filename, getattr(code, "co_qualname", code.co_name)
            if file not in states:
                states[file], places[file] = _states(tree), self._places(file)
            view = _View(node, self.lines[code], states[file])
            for line in view.gaps(node.body):
                found.append(Unreached(file, line, name, linecache.getline(file, line).strip()))
            for side in view.gaps_in_lines(node, places[file]):
                found.append(Unreached(file, side.lineno, name, ast.unparse(side)))
            for line, table in lookups(tree, node):
                found.append(Unreached(file, line, name, f"the other entries of {table}"))
        return sorted(set(found), key=lambda each: (each.file, each.line))

    def stores_in_modules(self) -> list[tuple[int, str]]:
        """(line, text) of each place that writes into another module: nobody looks there for what is kept."""
        return [found for code, _, node in self._nodes() for found in stores_in_modules(node, self._names[code])]

    def made(self) -> set[type]:
        """Classes of the network's own of which it makes objects while it runs."""
        found = set()
        for code, names in self._names.items():
            owner = getattr(code, "co_qualname", "").rpartition(".")[0] if code.co_name == "__init__" else ""
            if isinstance(names.get(owner), type):
                found.add(names[owner])
        return found

    def raised(self) -> dict[str, int] | None:
        """Kinds of errors -> in how many places the code that ran may raise them. None where a library's code ran too."""
        if not all(self.is_own(code.co_filename) for code in self.lines):
            return None
        return dict(Counter(kind for _, _, node in self._nodes() for kind in errors_of(node)))

    def literals(self) -> tuple[dict[Literal, int], set[Literal]] | None:
        """The numbers that the code which ran holds, and all that are in its files or left to defaults of what it calls.

        None where a library's code ran too: of that, only the forward methods are watched.
        """
        nodes = self._nodes()
        if not all(self.is_own(code.co_filename) for code in self.lines):
            return None
        files = [(tree, tree) for tree in {id(tree): tree for _, tree, _ in nodes}.values()]
        pairs = [(node, self._names[code]) for code, _, node in nodes]
        found = looked_up(pairs) | literals_of((tree, node) for _, tree, node in nodes)
        return found, {*literals_of(files), *implied_by(pairs), *found}

    def bounds(self) -> list[int] | None:
        """How many comparisons of the code that ran leave the border out, how many take it in, and how many limits there are; see lookups.py."""
        if not all(self.is_own(code.co_filename) for code in self.lines):
            return None
        return [sum(each) for each in zip(*(bounds_of(node) for _, _, node in self._nodes()), strict=True)]


def _parse(file: str) -> ast.Module | None:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return None


@lru_cache(maxsize=64)
def _functions(tree: ast.Module) -> dict[tuple[str, int], ast.FunctionDef]:
    """By name and first line, decorators included, as a code object has them."""
    return {
        (node.name, min([node.lineno, *(each.lineno for each in node.decorator_list)])): node
        for node in walked(tree)
        if isinstance(node, ast.FunctionDef)
    }


@lru_cache(maxsize=64)
def _states(tree: ast.Module) -> set[str]:
    """Attributes that are assigned outside `__init__`: a condition on one is not a matter of how the network was made.

    Nor is it where the constructor alone gives it a number, always the same: whoever asks for that expects a loop to change it.
    """
    found = _waiting(tree)
    left: list[tuple[ast.AST, bool]] = [(tree, False)]
    while left:
        node, counts = left.pop()
        if isinstance(node, ast.FunctionDef):
            counts = counts or node.name != "__init__"
        elif counts and isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            place = node.value if isinstance(node, ast.Subscript) else node  # self.seen[0] += 1
            found |= {place.attr} if isinstance(place, ast.Attribute) else set()
        left += [(child, counts) for child in ast.iter_child_nodes(node)]
    return found


def _waiting(tree: ast.Module) -> set[str]:
    """`self.epoch = 0`, and no other value of that name in the file."""
    values: dict[str, list[ast.expr]] = {}
    for node in walked(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Attribute):
                    values.setdefault(target.attr, []).append(node.value)
    return {name for name, given in values.items() if len(given) == 1 and _is_number(given[0])}


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


class _View:
    """One function, and which of its lines ran."""

    def __init__(self, function: ast.FunctionDef, ran: set[int], states: set[str]) -> None:
        self.ran, self.states = ran, {*states, "training"}
        self.steady = {"self", "cls", "torch", "nn", "F", "ms", "ops", "math", "np", "True", "False", "None"}
        self._learn(function)

    def _learn(self, function: ast.FunctionDef) -> None:
        """Local names that stand for something of the network itself."""
        stores: dict[str, list[ast.expr | None]] = {}
        for node in walked(function):
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                stores.setdefault(node.targets[0].id, []).append(node.value)
            elif isinstance(node, ast.For | ast.comprehension):
                for target in walked(node.target):
                    if isinstance(target, ast.Name):
                        stores.setdefault(target.id, []).append(node.iter)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                stores.setdefault(node.id, [])
        arguments = {each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
        for _ in range(3):
            for name, values in stores.items():
                if name not in arguments and values and all(v is not None and self.is_steady(v) for v in values):
                    self.steady.add(name)

    def is_steady(self, node: ast.expr) -> bool:
        """Whether it is the same whatever the network is called with."""
        if isinstance(node, ast.Constant):
            return True
        if isinstance(node, ast.Name):
            return node.id in self.steady or (node.id[:1].isupper() and len(node.id) > 1)
        if isinstance(node, ast.Attribute):
            if node.attr in STEADY_ATTRIBUTES:
                return True
            return node.attr not in self.states and self.is_steady(node.value)
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            return name in STEADY_CALLS and all(map(self.is_steady, [*node.args, *self._receiver(node)]))
        children = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]
        is_plain = isinstance(
            node, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.BinOp | ast.Tuple | ast.List | ast.Subscript | ast.Slice
        )
        return is_plain and all(map(self.is_steady, children))

    def _receiver(self, node: ast.Call) -> list[ast.expr]:
        return [node.func.value] if isinstance(node.func, ast.Attribute) else []

    def gaps(self, body: list[ast.stmt]) -> Iterator[int]:
        """The first line of each block that never ran, the outermost of nested ones."""
        steady_exit = False  # an early return that depends on the network alone
        for statement in body:
            if not self._ran(statement):
                if not (steady_exit or _says_nothing([statement])):
                    yield statement.lineno
                return
            for test, block in _blocks(statement):
                if any(map(self._ran, block)):
                    yield from self.gaps(block)
                    steady_exit = steady_exit or (self.is_steady(test) and _leaves(block))
                elif not (self.is_steady(test) or _says_nothing(block)):
                    yield block[0].lineno

    def gaps_in_lines(self, function: ast.FunctionDef, places: set[Place]) -> Iterator[ast.expr]:
        """Sides of a choice that were never evaluated, while the choice was made."""
        for node in choices(function):
            for test, side in _sides(node):
                if not self.is_steady(test) and _was_evaluated(test, places) and not _was_evaluated(side, places):
                    yield side

    def _ran(self, statement: ast.stmt) -> bool:
        if isinstance(statement, ast.Pass | ast.Global | ast.Nonlocal | ast.FunctionDef | ast.ClassDef):
            return True
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            return True
        if isinstance(statement, ast.AnnAssign) and statement.value is None:
            return True
        return any(line in self.ran for line in range(statement.lineno, (statement.end_lineno or 0) + 1))


def choices(tree: ast.AST) -> list[ast.expr]:
    """Expressions of which a part may not be evaluated. Of `a or b` only where that computes something, not in a condition."""
    conditions = {id(each) for node in walked(tree) if isinstance(node, CONDITIONAL) for each in walked(node.test)}
    return [
        node
        for node in walked(tree)
        if isinstance(node, ast.IfExp | ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp)
        or (isinstance(node, ast.BoolOp) and id(node) not in conditions and _computes(node.values[-1]))
    ]


def _computes(node: ast.expr) -> bool:
    return any(isinstance(each, ast.BinOp | ast.Call | ast.Compare) for each in walked(node))


def _sides(node: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """(what it depends on, what may not be evaluated)."""
    if isinstance(node, ast.IfExp):
        return [(node.test, node.body), (node.test, node.orelse)]
    if isinstance(node, ast.BoolOp):
        return [(node.values[0], node.values[-1])]
    if isinstance(node, ast.DictComp):
        return [(node.generators[0].iter, node.value)]
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        return [(node.generators[0].iter, node.elt)]
    return []


def _was_evaluated(node: ast.expr, places: set[Place]) -> bool:
    start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
    return any(start <= place[:2] and place[2:] <= end for place in places)


def _blocks(statement: ast.stmt) -> Iterator[tuple[ast.expr, list[ast.stmt]]]:
    if isinstance(statement, ast.If | ast.While):
        yield statement.test, statement.body
        if statement.orelse:
            yield statement.test, statement.orelse
    elif isinstance(statement, ast.For):
        yield statement.iter, statement.body
    elif isinstance(statement, ast.With | ast.Try):
        yield ast.Constant(True), statement.body
        for handler in statement.handlers if isinstance(statement, ast.Try) else ():
            named = {each.id for each in walked(handler.type) if isinstance(each, ast.Name)} if handler.type else set()
            yield ast.Constant(True) if named and named <= VERSIONS else ast.Name("the inputs"), handler.body
    elif isinstance(statement, ast.Match):
        for case in statement.cases:
            yield statement.subject, case.body


def _leaves(block: list[ast.stmt]) -> bool:
    return isinstance(block[-1], ast.Return | ast.Raise | ast.Continue | ast.Break)


def _says_nothing(block: list[ast.stmt]) -> bool:
    """Errors, warnings and messages: nothing is computed there."""
    return all(
        isinstance(each, ast.Raise | ast.Assert | ast.Pass)
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Call) and _is_message(each.value))
        for each in block
    )


def _is_message(call: ast.Call) -> bool:
    return ast.unparse(call.func).rpartition(".")[2] in MESSAGES
